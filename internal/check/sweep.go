// Package check says whether a lock excluded. Sweep reads sessions as they end and finds every overlap of two
// holders, Counter is a resource that shows what an overlap costs, Judge turns the findings into a verdict. It does
// not know strategies or servers: what happened comes as results.Op.
package check

import (
	"slices"
	"sort"
	"time"

	"github.com/lockbench/lockbench/results"
)

// DefaultKeep is the number of sessions that a Sweep retains at most: about 60 MB.
const DefaultKeep = 200_000

// Options of a Sweep.
type Options struct {
	Fenced bool // the strategy issues fencing tokens: a grant without one counts as token 0
	Keep   int  // most sessions retained; 0: DefaultKeep. Beyond it the history counts as truncated
}

// Findings of a Sweep over one trial.
type Findings struct {
	Grants  int64
	MetHeld int64 // sessions that met a held lock: a try was refused, or they asked while another held and waited

	Violations    int64 // grants made while another holder was inside its lease; disordered tokens included
	FenceDisorder int64 // grants whose fencing token is not above those of earlier grants of the key
	Overruns      int64 // holds that went on beyond their lease and met another holder
	RefusedStale  int64 // of the overruns: those whose write the resource refused
	MisDeletes    int64 // leases that another session's release removed
	StaleWrites   int64 // writes with an old token that the resource accepted
	LostUpdates   int64 // writes that overwrote another holder's

	Evidence  []results.Op // the two sessions that prove the worst finding, in the order of their grants
	Why       string       // the same in words; "" where nothing was found
	Truncated bool         // the history outgrew Options.Keep: what was forgotten may hide an overlap
}

// Sweep is the streaming form of the exact check of a lock history: a history of grants and releases is linearizable
// as an owner-aware mutex if and only if the certain parts of its holds are pairwise disjoint. The certain part of a
// hold runs from the return of the granting attempt to the call of the release: each grant is taken as late and each
// release as early as the history allows, so an overlap is proof. An acquire whose outcome is unknown is never certain.
//
// Each session is compared, as it is added, with those retained whose times meet its own; Settle says which of them
// can be forgotten. Findings depend neither on the order of Add nor on the frontiers. A Sweep is not safe for
// concurrent use. All times must come from one clock.
type Sweep struct {
	o        Options
	frontier time.Duration
	keys     map[string]*history
	kept     int // sessions retained
	limit    int // number of retained sessions at which the next clean-up is due
	rank     rank
	at       time.Duration
	f        Findings
}

// history is what is retained of one key.
type history struct {
	holds  []hold // in order of Asked
	tokens *tokens
}

// hold is a granted session as the sweep sees it.
type hold struct {
	op    results.Op
	end   time.Duration // of the certain part
	last  time.Duration // its last event
	reach time.Duration // latest last of the holds up to this one, so that a search for neighbours can stop
	// what was found of it, so that a session counts once however many others it meets
	violated, overran, robbed, waited bool
}

// cleanUp is the least number of retained sessions at which a clean-up is worth its walk over the keys.
const cleanUp = 1024

// NewSweep is a Sweep that has seen nothing.
func NewSweep(o Options) *Sweep {
	if o.Keep <= 0 {
		o.Keep = DefaultKeep
	}
	return &Sweep{o: o, keys: map[string]*history{}, limit: min(cleanUp, o.Keep), frontier: -1 << 62}
}

// Add takes a session that has ended.
func (s *Sweep) Add(op results.Op) {
	if op.Held {
		s.f.MetHeld++
	}
	if op.Outcome != results.Acquired {
		return
	}
	s.f.Grants++
	s.written(op)
	h := s.key(op.Key)
	if op.Fence != 0 || s.o.Fenced {
		s.fence(h, op)
	}
	s.compare(h, h.insert(newHold(op)))
	if s.kept++; s.kept >= s.limit {
		s.forget()
	}
}

// Settle promises that every session added from now on made its granting call at frontier or later: frontier is the
// start of the oldest session still open. It costs nothing; memory is freed as sessions are added.
func (s *Sweep) Settle(frontier time.Duration) { s.frontier = max(s.frontier, frontier) }

// Finish returns what was found in all sessions added.
func (s *Sweep) Finish() Findings { return s.f }

func (s *Sweep) key(name string) *history {
	h := s.keys[name]
	if h == nil {
		h = &history{}
		s.keys[name] = h
	}
	return h
}

// newHold computes the ends of a hold. A holder that died, or never left, has its lease until Until and no longer:
// the server's promise stands until then, while nobody works on.
func newHold(op results.Op) hold {
	h := hold{op: op, end: op.Left}
	if op.Crashed || op.Left < op.Decided {
		h.end = max(op.Decided, op.Until)
	}
	h.last = max(h.end, op.Released)
	return h
}

// insert puts x in its place and returns the place. Sessions come almost in order, so it is near the end.
func (h *history) insert(x hold) int {
	i := sort.Search(len(h.holds), func(i int) bool { return h.holds[i].op.Asked > x.op.Asked })
	h.holds = slices.Insert(h.holds, i, x)
	h.measure(i)
	return i
}

// measure renews reach from place i on.
func (h *history) measure(i int) {
	for ; i < len(h.holds); i++ {
		h.holds[i].reach = h.holds[i].last
		if i > 0 {
			h.holds[i].reach = max(h.holds[i].last, h.holds[i-1].reach)
		}
	}
}

// compare confronts the hold at place i with all others whose time from asking to the last event meets its own.
func (s *Sweep) compare(h *history, i int) {
	x := &h.holds[i]
	after := sort.Search(len(h.holds), func(j int) bool { return h.holds[j].op.Asked > x.last })
	for j := after - 1; j >= 0 && h.holds[j].reach >= x.op.Asked; j-- {
		if y := &h.holds[j]; j != i && y.last >= x.op.Asked {
			s.pair(x, y)
		}
	}
}

// forget drops sessions that can meet none to come, and the oldest ones where that does not help.
func (s *Sweep) forget() {
	s.drop(s.frontier)
	if s.kept >= s.o.Keep {
		s.f.Truncated = true
		s.drop(s.middle())
	}
	s.limit = min(max(2*s.kept, cleanUp), s.o.Keep)
}

// drop forgets the holds whose last event lies before t. A hold that ends at t stays: a tie is decided in its favour.
func (s *Sweep) drop(t time.Duration) {
	s.kept = 0
	for name, h := range s.keys {
		h.holds = slices.DeleteFunc(h.holds, func(x hold) bool { return x.last < t })
		h.measure(0)
		if h.tokens != nil {
			h.tokens.drop(t)
		}
		s.kept += len(h.holds)
		if len(h.holds) == 0 && h.tokens == nil {
			delete(s.keys, name)
		}
	}
}

// middle is a time before which about half of the retained sessions ended.
func (s *Sweep) middle() time.Duration {
	var ends []time.Duration
	for _, h := range s.keys {
		for _, x := range h.holds {
			ends = append(ends, x.last)
		}
	}
	slices.Sort(ends)
	return ends[len(ends)/2] + 1
}
