package bench

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/results"
)

// order reads sessions as they end and puts the grants of each key into the order in which they happened, for what
// depends on it: hand-off gaps, streaks and overtaking. It retains what the frontier has not passed.
type order struct {
	open   bool // open loop: overtakes; closed loop: streaks and re-acquiring
	counts func(*results.Op) bool
	keys   map[string]*keyOrder  // by the name at the server
	active []*keyOrder           // those with something that the frontier has not passed
	asked  map[string]*lineOrder // by the key that sessions ask for

	handoff   *results.Histogram
	streaks   *results.Histogram
	reacquire *results.Histogram
	overtakes *results.Histogram
	left      map[int32]time.Duration // when each client last gave up a lock
}

// keyOrder is one name at the server.
type keyOrder struct {
	name    string
	active  bool
	waiting []turn // grants beyond the frontier
	tries   []span // sessions that tried, the granted included
	last    turn   // the latest grant within the frontier
	streak  int64  // grants in a row of its client; 0: there was none yet
}

// turn is one grant, as far as the next one of its name depends on it.
type turn struct {
	started, decided, left time.Duration
	client                 int32
	released, counts       bool
}

type span struct{ from, to time.Duration }

func (s span) covers(t time.Duration) bool { return s.from <= t && t < s.to }

// lineOrder is one key's line of sessions.
type lineOrder struct {
	waiting []grant
	past    []grant // in the order of decided
}

type grant struct {
	intended, decided time.Duration
	counts            bool
}

func newOrder(open bool, upTo time.Duration, counts func(*results.Op) bool) *order {
	return &order{
		open: open, counts: counts, keys: map[string]*keyOrder{}, asked: map[string]*lineOrder{},
		handoff: results.NewHistogram(upTo), streaks: results.NewCounts(), reacquire: results.NewHistogram(upTo),
		overtakes: results.NewCounts(), left: map[int32]time.Duration{},
	}
}

// add takes one session that ended.
func (o *order) add(op *results.Op) {
	if op.Outcome == results.Dropped {
		return
	}
	k := o.key(op.Key)
	if !k.active {
		k.active = true
		o.active = append(o.active, k)
	}
	k.tries = append(k.tries, span{op.Started, op.Decided})
	if op.Outcome != results.Acquired {
		return
	}
	k.waiting = append(k.waiting, turn{op.Started, op.Decided, op.Left, op.Client, op.Release == results.Released, o.counts(op)})
	if o.open {
		l := o.line(op.Logical)
		l.waiting = append(l.waiting, grant{op.Intended, op.Decided, o.counts(op)})
		return
	}
	if left, ok := o.left[op.Client]; ok && o.counts(op) {
		o.reacquire.Record(op.Decided - left)
	}
	o.left[op.Client] = op.Left
}

func (o *order) key(name string) *keyOrder {
	k, ok := o.keys[name]
	if !ok {
		k = &keyOrder{name: name}
		o.keys[name] = k
	}
	return k
}

func (o *order) line(name string) *lineOrder {
	l, ok := o.asked[name]
	if !ok {
		l = &lineOrder{}
		o.asked[name] = l
	}
	return l
}

// settle handles all grants decided before the frontier: no session that is still open, or will open, has an event
// before it.
func (o *order) settle(frontier time.Duration) {
	o.active = slices.DeleteFunc(o.active, func(k *keyOrder) bool {
		o.settleKey(k, frontier)
		k.active = !k.idle(frontier)
		if !k.active && o.open && len(k.tries) == 0 { // a closed loop still has its streak
			delete(o.keys, k.name)
		}
		return !k.active
	})
	for name, l := range o.asked {
		o.settleLine(l, frontier)
		if len(l.waiting)+len(l.past) == 0 {
			delete(o.asked, name)
		}
	}
}

// idle: nothing of this name lies beyond the frontier. Tries that remain met the moment at which the last holder left.
func (k *keyOrder) idle(frontier time.Duration) bool {
	return len(k.waiting) == 0 && k.last.left < frontier &&
		!slices.ContainsFunc(k.tries, func(s span) bool { return s.to >= frontier })
}

func (o *order) settleKey(k *keyOrder, frontier time.Duration) {
	slices.SortFunc(k.waiting, func(a, b turn) int { return cmp.Compare(a.decided, b.decided) })
	n := 0
	for ; n < len(k.waiting) && k.waiting[n].decided < frontier; n++ {
		o.follow(k, k.waiting[n])
		k.last = k.waiting[n]
	}
	k.waiting = slices.Delete(k.waiting, 0, n)
	// The holders that come after the last one leave beyond the frontier, so a try that is over matters to that one only.
	k.tries = slices.DeleteFunc(k.tries, func(s span) bool {
		return s.to < frontier && (k.streak == 0 || !s.covers(k.last.left))
	})
}

// follow handles the step from one grant of a name to the next.
func (o *order) follow(k *keyOrder, next turn) {
	last, first := k.last, k.streak == 0
	if gap := next.decided - last.left; !first && last.released && gap >= 0 && next.counts && k.wanted(last.left, next) {
		o.handoff.Record(gap)
	}
	if !first && last.client == next.client {
		k.streak++
		return
	}
	o.endStreak(k)
	k.streak = 1
}

func (o *order) endStreak(k *keyOrder) {
	if !o.open && k.streak > 0 && k.last.counts {
		o.streaks.RecordN(k.streak, 1)
	}
}

// wanted tells whether the lock was wanted from the moment t until the next holder began to try: by that holder
// itself, or by a session that was trying at t and still was then. One that tried at t and was refused wants nothing
// any more; what follows is idle time without demand.
func (k *keyOrder) wanted(t time.Duration, next turn) bool {
	if next.started <= t {
		return true
	}
	return slices.ContainsFunc(k.tries, func(s span) bool { return s.covers(t) && s.to >= next.started })
}

// settleLine counts, for each grant, the later-intended sessions of its key that were granted before it.
func (o *order) settleLine(l *lineOrder, frontier time.Duration) {
	slices.SortFunc(l.waiting, func(a, b grant) int { return cmp.Compare(a.decided, b.decided) })
	n := 0
	for ; n < len(l.waiting) && l.waiting[n].decided < frontier; n++ {
		g := l.waiting[n]
		if g.counts {
			o.overtakes.RecordN(l.overtook(g), 1)
		}
		l.past = append(l.past, g)
	}
	l.waiting = slices.Delete(l.waiting, 0, n)
	// An earlier-intended session that is still open started after the frontier; its intended time lies before that
	// by the generator's own lateness, which voids a trial long before it comes to a second.
	l.past = slices.DeleteFunc(l.past, func(g grant) bool { return g.decided < frontier-time.Second })
}

func (l *lineOrder) overtook(g grant) (n int64) {
	for i := len(l.past) - 1; i >= 0 && l.past[i].decided >= g.intended; i-- {
		if l.past[i].intended > g.intended {
			n++
		}
	}
	return n
}

// finish settles everything and closes the streaks.
func (o *order) finish() {
	o.settle(none)
	for _, k := range o.keys {
		o.endStreak(k)
	}
}
