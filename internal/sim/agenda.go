package sim

import (
	"cmp"
	"time"
)

// agenda is what is due, in the order of time, then number. Numbers are given in the order of scheduling.
//
// What is scheduled for the present moment needs no heap: it follows everything that was scheduled for this moment
// before the moment came. An event that no longer stands stays where it is until it is popped, or until half of the
// heap is like it; so the heap needs no index, and holds at most twice what is due.
type agenda struct {
	last    uint64  // number given
	heap    []event // 4-ary: half as deep as a binary one, children in one or two cache lines
	now     queue
	dropped int // events in heap and queue that no longer stand
}

type event struct {
	at     time.Duration
	number uint64
	what   happening
}

// happening is what an event does. An event stands until what it is for has been cancelled or moved.
type happening interface {
	stands(number uint64) bool
	happen()
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.number < o.number
}

// push schedules what for at; present: that is this moment. It returns the event's number.
func (a *agenda) push(at time.Duration, present bool, what happening) uint64 {
	a.last++
	e := event{at, a.last, what}
	if present {
		a.now.push(e)
		return e.number
	}
	a.heap = append(a.heap, e)
	a.up(len(a.heap) - 1)
	return e.number
}

// drop forgets the event with this number and clears the number; it says whether there was one.
func (a *agenda) drop(number *uint64) bool {
	if *number == 0 {
		return false
	}
	*number = 0
	if a.dropped++; a.dropped > 64 && a.dropped > (len(a.heap)+a.now.len())/2 {
		a.compact()
	}
	return true
}

// pop is the next event that stands.
func (a *agenda) pop() (event, bool) {
	for {
		var e event
		switch {
		case a.now.len() > 0 && !(len(a.heap) > 0 && a.heap[0].before(a.now.front())):
			e = a.now.pop()
		case len(a.heap) > 0:
			e = a.popHeap()
		default:
			return event{}, false
		}
		if e.what.stands(e.number) {
			return e, true
		}
		a.dropped--
	}
}

// nothingUntil: no event is at this moment or before.
func (a *agenda) nothingUntil(at time.Duration) bool {
	return a.now.len() == 0 && (len(a.heap) == 0 || a.heap[0].at > at)
}

func (a *agenda) popHeap() event {
	h := a.heap
	top, n := h[0], len(h)-1
	h[0], h[n] = h[n], event{}
	a.heap = h[:n]
	if n > 1 {
		a.down(0)
	}
	return top
}

const arity = 4

func (a *agenda) up(i int) {
	h, e := a.heap, a.heap[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (a *agenda) down(i int) {
	h, e := a.heap, a.heap[i]
	for {
		child := arity*i + 1
		if child >= len(h) {
			break
		}
		for c := child + 1; c < min(arity*i+arity+1, len(h)); c++ {
			if h[c].before(&h[child]) {
				child = c
			}
		}
		if !h[child].before(&e) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}

// compact removes what no longer stands. The order of events is total, so another shape of the heap changes nothing.
func (a *agenda) compact() {
	kept := a.heap[:0]
	for _, e := range a.heap {
		if e.what.stands(e.number) {
			kept = append(kept, e)
		}
	}
	clear(a.heap[len(kept):])
	a.heap = kept
	for i := (len(kept) - 2) / arity; i >= 0 && len(kept) > 1; i-- {
		a.down(i)
	}
	a.now.compact()
	a.dropped = 0
}

// queue is first in, first out, in a ring.
type queue struct {
	ring        []event // its length is a power of two, or zero
	head, count int
}

func (q *queue) len() int      { return q.count }
func (q *queue) front() *event { return &q.ring[q.head] }

func (q *queue) push(e event) {
	if q.count == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.count)&(len(q.ring)-1)] = e
	q.count++
}

func (q *queue) pop() event {
	e := q.ring[q.head]
	q.ring[q.head] = event{}
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.count--
	return e
}

func (q *queue) grow() {
	ring := make([]event, cmp.Or(2*len(q.ring), 64))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

func (q *queue) compact() {
	for range q.count {
		if e := q.pop(); e.what.stands(e.number) {
			q.push(e)
		}
	}
}
