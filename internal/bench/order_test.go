package bench

import (
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench/results"
)

func all(*results.Op) bool { return true }

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// granted is a session that started, was decided and left at these milliseconds.
func granted(client, started, decided, left int) *results.Op {
	return &results.Op{
		Key: "k", Logical: "k", Client: int32(client), Intended: ms(started), Started: ms(started), Decided: ms(decided),
		Left: ms(left), Released: ms(left), Release: results.Released,
	}
}

func TestHandoffIsTheIdleTimeOfALockSomebodyWants(t *testing.T) {
	o := newOrder(true, results.DefaultRange, all)
	o.add(granted(-1, 0, 0, 10))
	o.add(granted(-1, 5, 14, 20))  // waited at 10: gap of 4
	o.add(granted(-1, 30, 30, 40)) // nobody waited at 20: no gap
	still := granted(-1, 35, 48, 0)
	still.Outcome = results.Timeout
	o.add(still)
	o.add(granted(-1, 46, 47, 50)) // somebody was trying at 40, though not this one: gap of 7
	expired := granted(-1, 49, 60, 70)
	expired.Release = results.Expired
	o.add(expired)
	o.add(granted(-1, 60, 90, 95)) // the holder before did not release it: an expiry, no hand-off
	o.finish()
	if n, largest := o.handoff.Count(), o.handoff.MaxValue(); n != 3 || largest < 9_900 || largest > 10_100 {
		t.Fatalf("%d gaps, largest %d us; want 3 of 4, 7 and 10 ms", n, largest)
	}
}

func TestHandoffDoesNotDependOnWhenItIsLookedFor(t *testing.T) {
	for _, often := range []bool{true, false} {
		o := newOrder(true, results.DefaultRange, all)
		waiting := granted(-1, 9, 35, 0)
		waiting.Outcome = results.Timeout
		frontiers := []int{9, 30, 45} // each is the start of the session that is still open
		for i, op := range []*results.Op{granted(-1, 0, 0, 10), waiting, granted(-1, 30, 30, 40)} {
			o.add(op)
			if often {
				o.settle(ms(frontiers[i]))
			}
		}
		o.finish()
		if n, largest := o.handoff.Count(), o.handoff.MaxValue(); n != 1 || largest < 19_900 {
			t.Errorf("looked for often %v: %d gaps, largest %d us; want one of 20 ms", often, n, largest)
		}
	}
}

func TestKeysThatNobodyWantsAreForgotten(t *testing.T) {
	o := newOrder(true, results.DefaultRange, all)
	for i := range 1000 {
		op := granted(-1, i, i, i+1)
		op.Key = strconv.Itoa(i)
		if i%2 == 0 {
			op.Outcome = results.Timeout
		}
		o.add(op)
		o.settle(ms(i))
	}
	if len(o.keys) > 3 || len(o.active) > 3 {
		t.Errorf("%d keys retained, %d of them active", len(o.keys), len(o.active))
	}
}

func TestAfterARefusalNobodyWaits(t *testing.T) {
	o := newOrder(true, results.DefaultRange, all)
	rejected := granted(-1, 9, 11, 0)
	rejected.Outcome = results.Rejected
	for _, op := range []*results.Op{granted(-1, 0, 0, 10), rejected, granted(-1, 30, 30, 40)} {
		o.add(op)
	}
	o.finish()
	if n := o.handoff.Count(); n != 0 {
		t.Errorf("%d gaps: the lock was free and nobody wanted it", n)
	}
}

func TestOvertakesCountLaterSessionsGrantedFirst(t *testing.T) {
	o := newOrder(true, results.DefaultRange, all)
	for _, op := range []*results.Op{granted(-1, 3, 30, 31), granted(-1, 1, 50, 51), granted(-1, 2, 20, 21), granted(-1, 40, 40, 41)} {
		o.add(op)
	}
	o.finish()
	// The session of 1 ms was passed by those of 2, 3 and 40; that of 3 by nobody after it.
	if n, largest := o.overtakes.Count(), o.overtakes.MaxValue(); n != 4 || largest != 3 {
		t.Fatalf("%d sessions, at most %d overtakes; want 4 and 3", n, largest)
	}
}

func TestStreaksAndReacquiringGoByClient(t *testing.T) {
	o := newOrder(false, results.DefaultRange, all)
	for _, op := range []*results.Op{granted(1, 0, 0, 1), granted(1, 2, 2, 3), granted(1, 4, 4, 5), granted(2, 0, 6, 7), granted(1, 6, 8, 9)} {
		o.add(op)
		o.settle(op.Decided)
	}
	o.finish()
	if n, largest := o.streaks.Count(), o.streaks.MaxValue(); n != 3 || largest != 3 {
		t.Fatalf("%d streaks, longest %d; want 3 and 3", n, largest)
	}
	if n := o.reacquire.Count(); n != 3 {
		t.Fatalf("%d times to re-acquire, want 3", n)
	}
}

func TestOrderRetainsLittle(t *testing.T) {
	o := newOrder(true, results.DefaultRange, all)
	for i := range 10_000 {
		o.add(granted(-1, i, i, i+1))
		o.settle(ms(i))
	}
	k, l := o.key("k"), o.line("k")
	if len(k.waiting) > 2 || len(k.tries) > 3 || len(l.past) > 1100 {
		t.Fatalf("retained %d grants, %d tries, %d past grants", len(k.waiting), len(k.tries), len(l.past))
	}
}
