package sim

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockbench/lockbench/strategies/clock"
)

// NewGroup starts processes. The first of them runs when its starter waits.
func (w *World) NewGroup() clock.Group { return &group{world: w} }

type group struct {
	world   *World
	running int
	waiters line[process]
}

func (g *group) Go(f func()) {
	g.running++
	g.world.start(f, g)
}

func (g *group) done() {
	if g.running--; g.running == 0 {
		wakeAll(&g.waiters)
	}
}

// Wait may be called by several; all go on when the last process has ended, even if another one is started before they
// get their turn.
func (g *group) Wait() {
	if g.running > 0 {
		g.world.wait(nil, &g.waiters, "a group")
	}
}

// NewSignal is an event that processes can wait for.
func (w *World) NewSignal() clock.Signal { return &signal{world: w, what: "a signal"} }

type signal struct {
	world   *World
	what    string
	fired   bool
	waiters line[process]
}

// Fire may also be called by a callback.
func (s *signal) Fire() {
	s.fired = true
	wakeAll(&s.waiters)
}

func (s *signal) Wait(ctx context.Context) error {
	if s.fired {
		return nil
	}
	c := s.world.scope(ctx)
	if err := c.Err(); err != nil {
		return err
	}
	s.world.wait(c, &s.waiters, s.what)
	if s.fired { // also in the moment in which ctx ended: a hand-over is never lost
		return nil
	}
	return c.Err()
}

// Future is a value that a process can wait for and that another, or a callback, has one day.
type Future[T any] struct {
	done  signal
	value T
}

// NewFuture is a value to come; what names it in the report of a deadlock: "the reply of node 2".
func NewFuture[T any](w *World, what string) *Future[T] {
	return &Future[T]{done: signal{world: w, what: what}}
}

// Resolve sets the value, once; it reports whether it was the first to do so.
func (f *Future[T]) Resolve(v T) bool {
	if f.done.fired {
		return false
	}
	f.value = v
	f.done.Fire()
	return true
}

// Await returns the value, or ctx.Err() if ctx ends before there is one.
func (f *Future[T]) Await(ctx context.Context) (T, error) {
	err := f.done.Wait(ctx)
	return f.value, err
}

// Resolved reports whether there is a value.
func (f *Future[T]) Resolved() bool { return f.done.fired }

// line is first in, first out; anybody can leave it at any place. A seat is in one line at most.
type line[T any] struct{ first, last *seat[T] }

type seat[T any] struct {
	of         *T
	in         *line[T]
	prev, next *seat[T]
}

func (l *line[T]) push(s *seat[T], of *T) {
	*s = seat[T]{of: of, in: l, prev: l.last}
	if l.last != nil {
		l.last.next = s
	} else {
		l.first = s
	}
	l.last = s
}

func (s *seat[T]) leave() {
	if s.in == nil {
		return
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		s.in.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		s.in.last = s.prev
	}
	*s = seat[T]{}
}

// sortBy sorts names by the number of each.
func sortBy(names []string, number map[string]uint64) {
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number[a], number[b]) })
}
