package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// instant is a clock on which a sleep costs nothing but its own time. Contexts with a timeout end by that time.
type instant struct {
	clock.Clock
	now time.Duration
}

func newInstant() *instant { return &instant{Clock: clock.Wall()} }

func (c *instant) Now() time.Duration { return c.now }

func (c *instant) Sleep(ctx context.Context, d time.Duration) error {
	if end, ok := ctx.Value(deadline{}).(time.Duration); ok && c.now+d > end {
		c.now = end
		return context.DeadlineExceeded
	}
	c.now += max(d, 0)
	return ctx.Err()
}

type deadline struct{}

func (c *instant) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithValue(ctx, deadline{}, c.now+d))
}

// scripted answers attempts in turn, the last answer for ever.
type scripted struct {
	clock    *instant
	answers  []error
	took     time.Duration // of each attempt
	owners   []string
	released []string
	ctx      error // of the release's context, when it was called
}

func (s *scripted) Acquire(_ context.Context, r strategies.Request) (strategies.Lease, error) {
	s.owners = append(s.owners, r.Owner)
	s.clock.now += s.took
	err := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	if err != nil {
		return strategies.Lease{}, err
	}
	return strategies.Lease{Request: r, Until: s.clock.now + r.TTL}, nil
}

func (s *scripted) Renew(context.Context, strategies.Lease) (strategies.Lease, error) {
	panic("not used")
}

func (s *scripted) Release(ctx context.Context, l strategies.Lease) (strategies.Outcome, error) {
	s.released, s.ctx = append(s.released, l.Owner), ctx.Err()
	return strategies.Released, nil
}

func acquire(ctx context.Context, s *scripted, change func(*Loop)) Acquisition {
	l := Loop{Clock: s.clock, Locker: s, Policy: every(10 * time.Millisecond), Mode: Poll, Timeout: time.Second, Compares: true, CleanUp: time.Second}
	if change != nil {
		change(&l)
	}
	return l.Acquire(ctx, strategies.Request{Key: "k", TTL: time.Second}, rand.New(rand.NewPCG(1, 2)))
}

func every(d time.Duration) Policy { return func(Failed) (time.Duration, bool) { return d, true } }

func TestEveryAttemptHasAnOwnerOfItsOwn(t *testing.T) {
	s := &scripted{clock: newInstant(), answers: []error{strategies.ErrHeld, strategies.ErrHeld, nil}, took: time.Millisecond}
	var heard []time.Duration
	a := acquire(context.Background(), s, func(l *Loop) { l.Observe = func(d time.Duration) { heard = append(heard, d) } })
	if len(heard) != 2 || heard[0] != time.Millisecond || a.LastAttempt() != time.Millisecond {
		t.Fatalf("heard of attempts of %v, the last took %v; want two of 1 ms, and 1 ms", heard, a.LastAttempt())
	}
	if a.Err != nil || a.Attempts != 3 || !a.Held || a.Decided != 23*time.Millisecond || a.Asked != 22*time.Millisecond {
		t.Fatalf("acquisition = %+v", a)
	}
	if len(s.owners[0]) != 32 || s.owners[0] == s.owners[1] || s.owners[1] == s.owners[2] || a.Lease.Owner != s.owners[2] {
		t.Fatalf("owners %v, lease of %s", s.owners, a.Lease.Owner)
	}
	if len(s.released) != 0 {
		t.Fatalf("released %v", s.released)
	}
}

func TestGivingUpTellsWhy(t *testing.T) {
	s := &scripted{clock: newInstant(), answers: []error{strategies.ErrHeld}}
	a := acquire(context.Background(), s, func(l *Loop) { l.Policy = Limit(4, every(time.Millisecond)) })
	if !errors.Is(a.Err, ErrGaveUp) || !errors.Is(a.Err, strategies.ErrHeld) || a.Attempts != 4 || a.Uncertain || len(s.released) != 0 {
		t.Fatalf("acquisition = %+v, released %v", a, s.released)
	}
}

func TestTheTimeoutEndsAWait(t *testing.T) {
	s := &scripted{clock: newInstant(), answers: []error{strategies.ErrHeld}}
	a := acquire(context.Background(), s, func(l *Loop) { l.Timeout = 35 * time.Millisecond })
	if !errors.Is(a.Err, ErrTimeout) || a.Attempts != 4 || a.Decided != 35*time.Millisecond {
		t.Fatalf("acquisition = %+v", a)
	}
}

func TestAnUnknownFateIsCleanedUpOnceAfterTheDecision(t *testing.T) {
	lost := errors.New("connection reset")
	s := &scripted{clock: newInstant(), answers: []error{strategies.ErrHeld, lost}, took: time.Millisecond}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the caller has gone: that must not reach the clean-up
	a := acquire(ctx, s, func(l *Loop) { l.Policy = every(0) })
	if !errors.Is(a.Err, context.Canceled) {
		t.Fatalf("error = %v, want canceled", a.Err)
	}
	s = &scripted{clock: newInstant(), answers: []error{lost}, took: time.Millisecond}
	a = acquire(context.Background(), s, nil)
	if !errors.Is(a.Err, lost) || !a.Uncertain || len(s.released) != 1 || s.released[0] != s.owners[0] || s.ctx != nil {
		t.Fatalf("acquisition = %+v, released %v of %v", a, s.released, s.owners)
	}
	if a.Decided != time.Millisecond {
		t.Fatalf("decided at %v: the clean-up is in it", a.Decided)
	}
}

func TestWithoutComparingNothingIsDeleted(t *testing.T) {
	s := &scripted{clock: newInstant(), answers: []error{errors.New("connection reset")}}
	if a := acquire(context.Background(), s, func(l *Loop) { l.Compares = false }); !a.Uncertain || len(s.released) != 0 {
		t.Fatalf("acquisition = %+v, released %v: it may be a stranger's lock", a, s.released)
	}
}

func TestARefusalIsCertain(t *testing.T) {
	s := &scripted{clock: newInstant(), answers: []error{&strategies.ServerError{Code: "OOM", Message: "OOM"}}}
	if a := acquire(context.Background(), s, nil); a.Uncertain || len(s.released) != 0 || a.Attempts != 1 {
		t.Fatalf("acquisition = %+v, released %v", a, s.released)
	}
}

func TestAMissedQuorumIsTriedAgain(t *testing.T) {
	s := &scripted{clock: newInstant(), answers: []error{&strategies.QuorumError{Granted: 1, Need: 2}, nil}}
	if a := acquire(context.Background(), s, nil); a.Err != nil || a.Attempts != 2 {
		t.Fatalf("acquisition = %+v", a)
	}
}

// blocking waits by its own means.
type blocking struct{ scripted }

func (b *blocking) AcquireWait(_ context.Context, r strategies.Request) (strategies.Lease, error) {
	b.clock.now += b.took
	return strategies.Lease{Request: r}, b.answers[0]
}

func TestBlockingAttemptsAreNotCounted(t *testing.T) {
	b := &blocking{scripted{clock: newInstant(), answers: []error{nil}, took: 7 * time.Millisecond}}
	a := acquire(context.Background(), &b.scripted, func(l *Loop) { l.Locker, l.Mode = b, Block })
	if a.Err != nil || a.Attempts != 0 || a.Decided-a.Asked != 7*time.Millisecond {
		t.Fatalf("acquisition = %+v", a)
	}
}
