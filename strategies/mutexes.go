package strategies

import (
	"container/list"
	"context"

	"github.com/lockbench/lockbench/strategies/clock"
)

// mutexes is a table of FIFO mutexes inside this process, one a key. A key that nobody holds has no entry. A lease
// never expires in here: Until is only what the holder asked for.
type mutexes struct {
	clock clock.Clock
	drift float64
	latch latch
	held  map[string]*mutex
}

type mutex struct {
	owner   string
	waiters list.List // of *waiter, the oldest in front
}

type waiter struct {
	owner   string
	turn    clock.Signal
	granted bool // guarded by the table's latch
}

func newMutexes(e Env) *mutexes {
	return &mutexes{clock: e.Clock, drift: e.Drift, held: map[string]*mutex{}}
}

func (m *mutexes) lease(r Request) Lease {
	return Lease{Request: r, Until: Validity(m.clock.Now(), r.TTL, m.drift)}
}

// Acquire takes the mutex if it is free. It does not overtake: a mutex with waiters is never free.
func (m *mutexes) Acquire(ctx context.Context, r Request) (Lease, error) {
	if err := ctx.Err(); err != nil {
		return Lease{}, err
	}
	l := m.lease(r)
	m.latch.lock()
	defer m.latch.unlock()
	if m.held[r.Key] != nil {
		return Lease{}, ErrHeld
	}
	m.held[r.Key] = &mutex{owner: r.Owner}
	return l, nil
}

// AcquireWait queues for the mutex. A waiter whose ctx ends leaves the queue; if the mutex was handed to it in the
// same moment, it hands it on.
func (m *mutexes) AcquireWait(ctx context.Context, r Request) (Lease, error) {
	if err := ctx.Err(); err != nil {
		return Lease{}, err
	}
	w, place := m.enqueue(r)
	if w == nil {
		return m.lease(r), nil
	}
	if err := w.turn.Wait(ctx); err != nil {
		m.leave(r.Key, w, place)
		return Lease{}, err
	}
	return m.lease(r), nil
}

// enqueue takes a free mutex and returns no waiter, or takes a place at the end of the queue.
func (m *mutexes) enqueue(r Request) (*waiter, *list.Element) {
	m.latch.lock()
	defer m.latch.unlock()
	x := m.held[r.Key]
	if x == nil {
		m.held[r.Key] = &mutex{owner: r.Owner}
		return nil, nil
	}
	w := &waiter{owner: r.Owner, turn: m.clock.NewSignal()}
	return w, x.waiters.PushBack(w)
}

func (m *mutexes) leave(key string, w *waiter, place *list.Element) {
	m.latch.lock()
	var next *waiter
	if w.granted {
		next = m.handOver(key)
	} else {
		m.held[key].waiters.Remove(place)
	}
	m.latch.unlock()
	next.wake()
}

// handOver gives the mutex to its oldest waiter, whom the caller wakes after the latch, or frees it.
func (m *mutexes) handOver(key string) *waiter {
	x := m.held[key]
	first := x.waiters.Front()
	if first == nil {
		delete(m.held, key)
		return nil
	}
	w := x.waiters.Remove(first).(*waiter)
	x.owner, w.granted = w.owner, true
	return w
}

func (w *waiter) wake() {
	if w != nil {
		w.turn.Fire()
	}
}

// Renew moves the end of a lease that still holds the mutex.
func (m *mutexes) Renew(ctx context.Context, l Lease) (Lease, error) {
	renewed := m.lease(l.Request)
	m.latch.lock()
	defer m.latch.unlock()
	if x := m.held[l.Key]; x == nil || x.owner != l.Owner {
		return l, ErrLost
	}
	return renewed, nil
}

// Release hands the mutex to the oldest waiter. It needs no server and so it ignores ctx.
func (m *mutexes) Release(_ context.Context, l Lease) (Outcome, error) {
	m.latch.lock()
	x := m.held[l.Key]
	switch {
	case x == nil:
		m.latch.unlock()
		return Expired, nil
	case x.owner != l.Owner:
		m.latch.unlock()
		return Stolen, nil
	}
	next := m.handOver(l.Key)
	m.latch.unlock()
	next.wake()
	return Released, nil
}

var (
	_ Locker  = (*mutexes)(nil)
	_ Blocker = (*mutexes)(nil)
)
