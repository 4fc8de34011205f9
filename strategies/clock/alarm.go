package clock

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// alarm wakes sleepers at precise moments with one timer for all of them.
type alarm struct {
	now   func() time.Duration
	timer precise
	mu    sync.Mutex
	queue sleepers
}

// precise is a one-shot timer: arm sets the moment of the next ring, replacing the one before; ring waits for it.
type precise interface {
	arm(at, now time.Duration)
	ring() error
}

type sleeper struct {
	at    time.Duration
	index int // in the heap; -1: not in it
	woken chan struct{}
}

var spare = sync.Pool{New: func() any { return &sleeper{woken: make(chan struct{}, 1)} }}

func newAlarm(now func() time.Duration) *alarm {
	a := &alarm{now: now, timer: newPrecise()}
	go a.run()
	return a
}

func (a *alarm) wait(ctx context.Context, at time.Duration) error {
	s := spare.Get().(*sleeper)
	s.at = at
	a.add(s)
	select {
	case <-s.woken:
	case <-ctx.Done():
		if a.remove(s) {
			spare.Put(s)
			return ctx.Err()
		}
		<-s.woken // it rang at the same moment
	}
	spare.Put(s)
	return nil
}

func (a *alarm) add(s *sleeper) {
	a.mu.Lock()
	defer a.mu.Unlock()
	heap.Push(&a.queue, s)
	if s.index == 0 {
		a.timer.arm(s.at, a.now())
	}
}

func (a *alarm) remove(s *sleeper) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.index < 0 {
		return false
	}
	heap.Remove(&a.queue, s.index)
	return true
}

func (a *alarm) run() {
	for a.timer.ring() == nil {
		a.wakeDue()
	}
}

func (a *alarm) wakeDue() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for len(a.queue) > 0 && a.queue[0].at <= now {
		heap.Pop(&a.queue).(*sleeper).woken <- struct{}{}
	}
	if len(a.queue) > 0 {
		a.timer.arm(a.queue[0].at, now)
	}
}

type sleepers []*sleeper

func (q sleepers) Len() int           { return len(q) }
func (q sleepers) Less(i, j int) bool { return q[i].at < q[j].at }
func (q sleepers) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *sleepers) Push(x any) {
	s := x.(*sleeper)
	s.index = len(*q)
	*q = append(*q, s)
}
func (q *sleepers) Pop() any {
	old := *q
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	s.index = -1
	return s
}
