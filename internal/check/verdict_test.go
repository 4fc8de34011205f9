package check

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/results"
)

func TestVerdicts(t *testing.T) {
	good := Findings{Grants: 100, MetHeld: 5}
	found := func(change func(*Findings)) Findings {
		f := good
		f.Why = "key"
		change(&f)
		return f
	}
	for _, c := range []struct {
		name   string
		f      Findings
		a      Aftermath
		want   results.Verdict
		reason string
	}{
		{"enough grants and contention", good, Aftermath{Excludes: "server"}, results.Safe, "100 grants, 5 sessions met a held lock"},
		{"orphans alone", good, Aftermath{OrphanKeys: 2}, results.Safe, "2 orphan keys"},
		{"no promise", found(func(f *Findings) { f.Violations = 9 }), Aftermath{Excludes: "none"}, "", "promises no exclusion"},
		{"violation", found(func(f *Findings) { f.Violations = 2 }), Aftermath{}, results.Broken, "violations 2"},
		{"mis-delete", found(func(f *Findings) { f.MisDeletes = 1 }), Aftermath{}, results.Broken, "mis-deletes 1"},
		{"overrun", found(func(f *Findings) { f.Overruns = 1 }), Aftermath{}, results.Broken, "overruns 1"},
		{"overruns, all refused", found(func(f *Findings) { f.Overruns, f.RefusedStale = 2, 2 }), Aftermath{}, results.Safe, "refused by the resource 2"},
		{"overruns, one not refused", found(func(f *Findings) { f.Overruns, f.RefusedStale = 2, 1 }), Aftermath{}, results.Broken, "overruns 2"},
		{"stale write", found(func(f *Findings) { f.StaleWrites = 1 }), Aftermath{}, results.Broken, "stale writes 1"},
		{"lost update", found(func(f *Findings) { f.LostUpdates = 1 }), Aftermath{}, results.Broken, "lost updates 1"},
		{"broken before deadlock", found(func(f *Findings) { f.Violations = 1 }), Aftermath{ImmortalKeys: 1}, results.Broken, ""},
		{"dead lock key", good, Aftermath{ImmortalKeys: 1}, results.Deadlock, "no TTL"},
		{"silent tail", good, Aftermath{NoGrantTail: true, Outage: time.Second}, results.Deadlock, "tail"},
		{"dead lock key in a short trial", Findings{Grants: 1}, Aftermath{ImmortalKeys: 1}, results.Deadlock, ""},
		{"outage", good, Aftermath{Outage: 2500 * time.Millisecond}, results.Unavailable, "2500 ms"},
		{"few grants", Findings{Grants: 19, MetHeld: 5}, Aftermath{}, results.NotKnown, "19 grants, at least 20"},
		{"no contention", Findings{Grants: 100}, Aftermath{}, results.NotKnown, "no try met a held lock"},
		{"truncated", found(func(f *Findings) { f.Truncated = true }), Aftermath{}, results.NotKnown, "truncated"},
		{"fault not applied", good, Aftermath{Faults: 2, Applied: 1, Undone: 1}, results.NotKnown, "1 of 2 faults applied"},
		{"fault not undone", good, Aftermath{Faults: 2, Applied: 2, Undone: 1}, results.NotKnown, "1 of 2 faults undone"},
		{"all faults over", good, Aftermath{Faults: 2, Applied: 2, Undone: 2}, results.Safe, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, reason := Judge(c.f, c.a)
			if got != c.want || !strings.Contains(reason, c.reason) {
				t.Errorf("got %q because %q, want %q with %q", got, reason, c.want, c.reason)
			}
		})
	}
}
