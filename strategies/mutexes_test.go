package strategies

import (
	"context"
	"errors"
	"testing"

	"github.com/lockbench/lockbench/strategies/clock"
)

// handedAndCancelled is a wait whose context ends in the moment between a hand-over and the waiter's waking up.
type handedAndCancelled struct{ clock.Signal }

func (s handedAndCancelled) Wait(ctx context.Context) error {
	if err := s.Signal.Wait(context.Background()); err != nil {
		return err
	}
	return context.Canceled
}

type cancellingClock struct{ jumpClock }

func (c *cancellingClock) NewSignal() clock.Signal {
	return handedAndCancelled{clock.Wall().NewSignal()}
}

func TestAWaiterThatIsCancelledAtTheHandOverHandsItOn(t *testing.T) {
	m := newMutexes(Env{Clock: &cancellingClock{}})
	first, err := m.Acquire(t.Context(), owned(1))
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan error)
	go func() { _, err := m.AcquireWait(t.Context(), owned(2)); left <- err }()
	for queued := false; !queued; {
		m.latch.lock()
		queued = m.held[first.Key].waiters.Len() == 1
		m.latch.unlock()
	}
	if found, _ := m.Release(t.Context(), first); found != Released {
		t.Fatalf("release reported %s", found)
	}
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiter got %v", err)
	}
	if _, err := m.Acquire(t.Context(), owned(3)); err != nil {
		t.Errorf("the mutex was not handed on: %v", err)
	}
}

func TestAFreeMutexLeavesNothingBehind(t *testing.T) {
	m := newMutexes(Env{Clock: &jumpClock{}})
	for i := range 10 {
		l, err := m.AcquireWait(t.Context(), owned(i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Acquire(t.Context(), owned(99)); !errors.Is(err, ErrHeld) {
			t.Errorf("a held mutex answered %v", err)
		}
		if found, _ := m.Release(t.Context(), l); found != Released {
			t.Errorf("release reported %s", found)
		}
	}
	if len(m.held) != 0 {
		t.Errorf("%d entries are left", len(m.held))
	}
}

func TestEveryNewHasMutexesOfItsOwn(t *testing.T) {
	for _, name := range []string{"noop", "local-mutex"} {
		a, b := build(t, name, nil), build(t, name, nil)
		_, first := a.Acquire(t.Context(), owned(1))
		_, second := b.Acquire(t.Context(), owned(2))
		if first != nil || second != nil {
			t.Errorf("%s: %v, %v", name, first, second)
		}
	}
}

func BenchmarkNoop(b *testing.B) {
	m := newMutexes(Env{Clock: clock.Wall()})
	b.RunParallel(func(pb *testing.PB) {
		r := owned(1)
		for pb.Next() {
			l, err := m.AcquireWait(context.Background(), r)
			if err == nil {
				_, _ = m.Release(context.Background(), l)
			}
		}
	})
}
