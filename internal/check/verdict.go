package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/results"
)

// What a trial must have seen before its lock counts as safe.
const (
	MinGrants  = 20
	MinMetHeld = 1
)

// Aftermath is what was seen beside the sessions: by the audit after the drain, in the tail, of the faults.
type Aftermath struct {
	// Excludes is the promise of the strategy's catalogue entry; "none" has no verdict.
	Excludes string
	// OrphanKeys is the number of lock keys that nobody holds any more; they go when their TTL ends.
	OrphanKeys int64
	// ImmortalKeys is the number of those without a TTL.
	ImmortalKeys int64
	// NoGrantTail: no grant in the tail for the TTL plus a margin, while somebody tried.
	NoGrantTail bool
	// Outage is the longest time without a grant during a fault, where it was longer than both the acquire timeout
	// and the TTL and grants came again; else 0.
	Outage time.Duration
	// Faults that the scenario asked for, those applied, and those of them that are over: undone, or without an undo.
	Faults, Applied, Undone int
}

// Judge is the verdict of one trial and its reason. The verdict is "" where the strategy promises no exclusion.
func Judge(f Findings, a Aftermath) (results.Verdict, string) {
	switch {
	case a.Excludes == "none":
		return "", "the strategy promises no exclusion"
	case f.broken():
		return results.Broken, f.Why + f.tally()
	case a.ImmortalKeys > 0:
		return results.Deadlock, fmt.Sprintf("%d lock keys have no TTL and no live owner", a.ImmortalKeys)
	case a.NoGrantTail:
		return results.Deadlock, "no grant in the tail for the TTL and a margin, while somebody tried"
	case a.Outage > 0:
		return results.Unavailable, fmt.Sprintf("no grant for %d ms during a fault, then recovery", a.Outage.Milliseconds())
	}
	if doubts := doubts(f, a); len(doubts) > 0 {
		return results.NotKnown, strings.Join(doubts, "; ")
	}
	reason := fmt.Sprintf("%d grants, %d sessions met a held lock%s", f.Grants, f.MetHeld, f.tally())
	if a.OrphanKeys > 0 {
		reason += fmt.Sprintf("; %d orphan keys wait for their TTL", a.OrphanKeys)
	}
	return results.Safe, reason
}

// broken: somebody else's work was at risk and no resource stopped it.
func (f Findings) broken() bool {
	return f.Violations > 0 || f.MisDeletes > 0 || f.Overruns > f.RefusedStale || f.StaleWrites > 0 || f.LostUpdates > 0
}

// doubts lists why a trial without findings still does not prove that the lock is safe.
func doubts(f Findings, a Aftermath) []string {
	var why []string
	doubt := func(is bool, format string, args ...any) {
		if is {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	doubt(f.Truncated, "the history was truncated")
	doubt(f.Grants < MinGrants, "%d grants, at least %d are needed", f.Grants, MinGrants)
	doubt(f.MetHeld < MinMetHeld, "no try met a held lock")
	doubt(a.Applied < a.Faults, "%d of %d faults applied", a.Applied, a.Faults)
	doubt(a.Undone < a.Applied, "%d of %d faults undone", a.Undone, a.Applied)
	return why
}

// tally lists the classes that were found, as " (violations 2, overruns 1)"; "" without findings.
func (f Findings) tally() string {
	var parts []string
	count := func(name string, n int64) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	count("violations", f.Violations)
	count("of them tokens out of order", f.FenceDisorder)
	count("mis-deletes", f.MisDeletes)
	count("overruns", f.Overruns)
	count("of them refused by the resource", f.RefusedStale)
	count("stale writes", f.StaleWrites)
	count("lost updates", f.LostUpdates)
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
