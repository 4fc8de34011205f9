package check

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/results"
)

const ms = time.Millisecond

// session is a granted session of key "k" that held from to to, in milliseconds, with a lease until until; it asked
// one millisecond before and its release took one.
func session(n int64, from, to, until int) results.Op {
	return results.Op{
		N: n, Key: "k", Outcome: results.Acquired, Release: results.Released,
		Asked: time.Duration(from-1) * ms, Decided: time.Duration(from) * ms,
		Left: time.Duration(to) * ms, Released: time.Duration(to+1) * ms, Until: time.Duration(until) * ms,
	}
}

// with is op after change.
func with(op results.Op, change func(*results.Op)) results.Op {
	change(&op)
	return op
}

func sweep(ops ...results.Op) Findings {
	s := NewSweep(Options{})
	for _, op := range ops {
		s.Add(op)
	}
	return s.Finish()
}

// check compares the counts only.
func check(t *testing.T, got, want Findings) {
	t.Helper()
	got.Evidence, got.Why, want.Evidence, want.Why = nil, "", nil, ""
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("findings differ (-want +got):\n%s", d)
	}
}

func TestHoldsThatFollowEachOtherShowNothing(t *testing.T) {
	f := sweep(session(1, 10, 20, 100), session(2, 22, 30, 110))
	check(t, f, Findings{Grants: 2})
	if f.Why != "" || f.Evidence != nil {
		t.Errorf("there is evidence of nothing: %q", f.Why)
	}
}

func TestHoldsOfOtherKeysMayOverlap(t *testing.T) {
	other := with(session(2, 12, 18, 100), func(o *results.Op) { o.Key = "l" })
	check(t, sweep(session(1, 10, 20, 100), other), Findings{Grants: 2})
}

func TestEndsThatTouchAreNoOverlap(t *testing.T) {
	check(t, sweep(session(1, 10, 20, 100), session(2, 20, 30, 100)), Findings{Grants: 2, MetHeld: 1})
}

func TestTwoHoldersInsideTheirLeasesAreAViolation(t *testing.T) {
	f := sweep(session(1, 10, 20, 100), session(2, 15, 30, 100))
	check(t, f, Findings{Grants: 2, Violations: 1})
	if len(f.Evidence) != 2 || f.Evidence[0].N != 1 || f.Evidence[1].N != 2 {
		t.Errorf("evidence is %v, want sessions 1 and 2", f.Evidence)
	}
	if !strings.Contains(f.Why, "sessions 1 and 2 both held it inside their leases") {
		t.Errorf("reason is %q", f.Why)
	}
}

func TestAMomentInsideAnotherHoldIsAViolation(t *testing.T) {
	check(t, sweep(session(1, 10, 20, 100), session(2, 15, 15, 100)), Findings{Grants: 2, Violations: 1})
}

func TestAGrantCountsOnceHoweverManyHoldersItMeets(t *testing.T) {
	f := sweep(session(1, 10, 40, 100), session(2, 20, 40, 100), session(3, 30, 40, 100))
	check(t, f, Findings{Grants: 3, Violations: 2})
}

func TestAHolderBeyondItsLeaseIsAnOverrun(t *testing.T) {
	late := with(session(1, 10, 40, 25), func(o *results.Op) { o.Release = results.Stolen })
	check(t, sweep(late, session(2, 26, 50, 100)), Findings{Grants: 2, Overruns: 1})
}

func TestAHolderBeyondItsLeaseAloneIsNone(t *testing.T) {
	late := with(session(1, 10, 40, 25), func(o *results.Op) { o.Release = results.Expired })
	check(t, sweep(late, session(2, 42, 50, 100)), Findings{Grants: 2})
}

func TestAGrantThatCameAfterItsOwnLeaseIsTheOverrun(t *testing.T) {
	slow := with(session(2, 30, 35, 29), func(o *results.Op) { o.Release, o.Refused = results.Stolen, true })
	check(t, sweep(session(1, 10, 40, 100), slow), Findings{Grants: 2, Overruns: 1, RefusedStale: 1})
}

func TestARefusedStaleHolderIsCountedApart(t *testing.T) {
	late := with(session(1, 10, 40, 25), func(o *results.Op) { o.Release, o.Refused = results.Stolen, true })
	f := sweep(late, session(2, 26, 50, 100))
	check(t, f, Findings{Grants: 2, Overruns: 1, RefusedStale: 1})
}

func TestADeadHolderHasItsLeaseUntilItEnds(t *testing.T) {
	dead := with(session(1, 10, 12, 50), func(o *results.Op) { o.Release, o.Released, o.Crashed = results.NotReleased, 0, true })
	check(t, sweep(dead, session(2, 30, 40, 100)), Findings{Grants: 2, Violations: 1})
	check(t, sweep(dead, session(2, 52, 60, 100)), Findings{Grants: 2})
}

func TestAHolderThatNeverLeftHasItsLeaseUntilItEnds(t *testing.T) {
	cut := with(session(1, 10, 0, 50), func(o *results.Op) { o.Left, o.Released, o.Release = 0, 0, results.NotReleased })
	check(t, sweep(cut, session(2, 30, 40, 100)), Findings{Grants: 2, Violations: 1})
}

func TestAnAcquireWithUnknownOutcomeProvesNothing(t *testing.T) {
	lost := with(session(2, 15, 30, 100), func(o *results.Op) { o.Outcome, o.Uncertain = results.Failed, true })
	check(t, sweep(session(1, 10, 20, 100), lost), Findings{Grants: 1})
}

func TestAReleaseInsideAnothersHoldIsAMisDelete(t *testing.T) {
	// A plain DEL after the lease ended: it removed a key, and only the second session's can have been there.
	f := sweep(session(1, 10, 40, 25), session(2, 26, 50, 100))
	check(t, f, Findings{Grants: 2, Overruns: 1, MisDeletes: 1})
	if f.Evidence[0].N != 1 || f.Evidence[1].N != 2 || !strings.Contains(f.Why, "removed the lease of session 2") {
		t.Errorf("reason is %q", f.Why)
	}
}

func TestAReleaseThatMayHaveComeBeforeTheGrantIsNoMisDelete(t *testing.T) {
	check(t, sweep(session(1, 10, 40, 25), session(2, 40, 50, 100)), Findings{Grants: 2, MetHeld: 1})
}

func TestAReleaseThatFindsItsValidLeaseGoneIsAMisDelete(t *testing.T) {
	// The first session's release was sent in time but took effect, or was sent again, after the second's grant.
	slow := with(session(1, 10, 20, 25), func(o *results.Op) { o.Released = 35 * ms })
	robbed := with(session(2, 26, 50, 100), func(o *results.Op) { o.Release = results.Expired })
	check(t, sweep(slow, robbed), Findings{Grants: 2, MisDeletes: 1})
}

func TestAVictimCountsOnceInWhicheverForm(t *testing.T) {
	robbed := with(session(2, 26, 50, 100), func(o *results.Op) { o.Release = results.Expired })
	check(t, sweep(session(1, 10, 40, 25), robbed), Findings{Grants: 2, Overruns: 1, MisDeletes: 1})
}

func TestALeaseThatEndedBeforeItsReleaseReturnedWasNotRemoved(t *testing.T) {
	slow := with(session(1, 10, 20, 25), func(o *results.Op) { o.Released = 35 * ms })
	expired := with(session(2, 26, 50, 50), func(o *results.Op) { o.Release = results.Expired })
	check(t, sweep(slow, expired), Findings{Grants: 2})
}

func TestASessionThatRemovedNothingIsNotTheRobber(t *testing.T) {
	stale := with(session(1, 10, 30, 25), func(o *results.Op) { o.Release = results.Expired })
	gone := with(session(2, 31, 50, 100), func(o *results.Op) { o.Release = results.Expired })
	check(t, sweep(stale, gone), Findings{Grants: 2})
}

func TestTheResourcesWordIsCounted(t *testing.T) {
	stale := with(session(1, 10, 40, 25), func(o *results.Op) { o.Release, o.Stale, o.LostUpdate = results.Stolen, true, true })
	check(t, sweep(stale, session(2, 26, 50, 100)), Findings{Grants: 2, Overruns: 1, StaleWrites: 1, LostUpdates: 1})
}

func TestALostUpdateBehindARefusedOverrunIsShownWithBothSessions(t *testing.T) {
	late := with(session(1, 10, 40, 25), func(o *results.Op) { o.Release, o.Refused = results.Stolen, true })
	lost := with(session(2, 26, 50, 100), func(o *results.Op) { o.LostUpdate = true })
	f := sweep(late, lost)
	if len(f.Evidence) != 2 || f.Evidence[1].N != 2 || !strings.Contains(f.Why, "session 2 overwrote") {
		t.Errorf("reason is %q with %d sessions", f.Why, len(f.Evidence))
	}
}

func fenced(n int64, from, to int, fence uint64) results.Op {
	return with(session(n, from, to, 1000), func(o *results.Op) { o.Fence = fence })
}

func TestTokensThatGrowInGrantOrderAreFine(t *testing.T) {
	check(t, sweep(fenced(1, 10, 20, 7), fenced(2, 22, 30, 8), fenced(3, 32, 40, 11)), Findings{Grants: 3})
}

func TestATokenBelowAnEarlierOneIsAViolation(t *testing.T) {
	want := Findings{Grants: 2, FenceDisorder: 1, Violations: 1}
	check(t, sweep(fenced(1, 10, 20, 8), fenced(2, 22, 30, 7)), want)
	check(t, sweep(fenced(2, 22, 30, 7), fenced(1, 10, 20, 8)), want)
}

func TestEqualTokensAreAViolationEvenInFlightTogether(t *testing.T) {
	slow := with(fenced(1, 24, 26, 7), func(o *results.Op) { o.Asked = 5 * ms })
	want := Findings{Grants: 2, FenceDisorder: 1, Violations: 1, MetHeld: 0}
	check(t, sweep(slow, fenced(2, 10, 20, 7)), want)
	check(t, sweep(fenced(2, 10, 20, 7), slow), want)
}

func TestTokensOfGrantsInFlightTogetherMayComeInAnyOrder(t *testing.T) {
	slow := with(fenced(1, 24, 26, 6), func(o *results.Op) { o.Asked = 5 * ms })
	check(t, sweep(fenced(2, 10, 20, 7), slow), Findings{Grants: 2})
}

func TestAForgottenTokenStillCounts(t *testing.T) {
	s := NewSweep(Options{})
	s.Add(fenced(1, 10, 20, 8))
	s.Settle(22 * ms)
	s.forget()
	if s.kept != 0 {
		t.Fatalf("%d sessions retained, want none", s.kept)
	}
	s.Add(fenced(2, 24, 30, 7))
	check(t, s.Finish(), Findings{Grants: 2, FenceDisorder: 1, Violations: 1})
}

func TestAFencedStrategyWithoutTokensIsOutOfOrder(t *testing.T) {
	s := NewSweep(Options{Fenced: true})
	s.Add(session(1, 10, 20, 100))
	s.Add(session(2, 22, 30, 100))
	check(t, s.Finish(), Findings{Grants: 2, FenceDisorder: 1, Violations: 1})
}

func TestRefusedTriesAndNativeWaitsMetAHeldLock(t *testing.T) {
	refused := results.Op{N: 3, Outcome: results.Rejected, Held: true}
	waited := with(session(2, 22, 30, 100), func(o *results.Op) { o.Asked = 12 * ms })
	check(t, sweep(session(1, 10, 20, 100), waited, refused), Findings{Grants: 2, MetHeld: 2})
}
