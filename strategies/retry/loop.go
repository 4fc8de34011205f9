package retry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// ErrGaveUp: the policy allows no further attempt. It is joined with the last attempt's error, so that errors.Is
// answers "gave up?" and "held?" both.
var ErrGaveUp = errors.New("gave up")

// ErrTimeout: the time for acquiring has passed. It is joined with the last attempt's error where there is one.
var ErrTimeout = errors.New("acquire timeout")

// Loop drives a Locker through a Policy. It is a value and safe for concurrent use if its Locker is.
type Loop struct {
	Clock    clock.Clock
	Locker   strategies.Locker
	Policy   Policy
	Mode     Mode
	Timeout  time.Duration // for acquiring, all attempts and waits together
	Compares bool          // Release compares the owner: only then may an attempt of unknown fate be cleaned up
	CleanUp  time.Duration // time limit of that clean-up
	// Observe hears how long each attempt but the last took, whose times are in the Acquisition; nil: nobody does.
	Observe func(time.Duration)
}

// Acquisition is how one acquisition went. Err is nil exactly if Lease is granted.
type Acquisition struct {
	Lease     strategies.Lease
	Attempts  int           // 0 under Block: nobody counts them
	Asked     time.Duration // the last attempt's call
	Decided   time.Duration // the decision, before any clean-up
	Held      bool          // an attempt met a held lock
	Uncertain bool          // the last attempt's fate is unknown
	Err       error
	deadline  time.Duration
	answered  time.Duration // when the last attempt returned
}

// LastAttempt is how long the last attempt took; the rest of the acquisition was waiting. 0 under Block.
func (a Acquisition) LastAttempt() time.Duration {
	if a.Attempts == 0 {
		return 0
	}
	return a.answered - a.Asked
}

// Acquire attempts until the lock is granted, the policy gives up, the timeout passes, ctx ends or an attempt fails
// for another reason than a held lock or a missed quorum. Request.Owner is set anew for every attempt.
//
// After an attempt of unknown fate it releases that attempt's owner once, on a context that the caller's
// cancellation cannot reach: a request that is still under way would otherwise leave a lock that nobody holds. Where
// the release does not compare the owner it would delete a stranger's lock instead; there the key stays until its TTL.
func (l Loop) Acquire(ctx context.Context, r strategies.Request, rnd *rand.Rand) Acquisition {
	// A socket's deadline is the context's and may be noticed before it: the clock decides what was a timeout.
	a := Acquisition{deadline: l.Clock.Now() + l.Timeout}
	within, cancel := l.Clock.WithTimeout(ctx, l.Timeout)
	defer cancel()
	if l.Mode == Block {
		l.block(within, r, rnd, &a)
	} else {
		l.poll(within, r, rnd, &a)
	}
	if a.Uncertain && l.Compares {
		l.cleanUp(ctx, a.Lease)
	}
	return a
}

func (l Loop) block(ctx context.Context, r strategies.Request, rnd *rand.Rand, a *Acquisition) {
	r.Owner = Owner(rnd)
	a.Asked = l.Clock.Now()
	lease, err := l.Locker.(strategies.Blocker).AcquireWait(ctx, r)
	a.Decided, a.Lease = l.Clock.Now(), lease
	if err != nil {
		a.Lease = strategies.Lease{Request: r}
		a.fail(ctx, err)
	}
}

func (l Loop) poll(ctx context.Context, r strategies.Request, rnd *rand.Rand, a *Acquisition) {
	began, prev := l.Clock.Now(), time.Duration(0)
	for {
		r.Owner = Owner(rnd)
		err := l.attempt(ctx, r, a)
		if err == nil {
			return
		}
		if !again(err) {
			a.fail(ctx, err)
			return
		}
		wait, ok := l.Policy(Failed{N: a.Attempts, Prev: prev, Elapsed: a.Decided - began, Rand: rnd})
		if !ok {
			a.Err = errors.Join(ErrGaveUp, err)
			return
		}
		if l.Clock.Sleep(ctx, wait) != nil || ctx.Err() != nil {
			a.Decided = l.Clock.Now()
			a.Err = errors.Join(ended(ctx), err)
			return
		}
		prev = wait
	}
}

func (l Loop) attempt(ctx context.Context, r strategies.Request, a *Acquisition) error {
	if a.Attempts > 0 && l.Observe != nil {
		l.Observe(a.answered - a.Asked)
	}
	a.Asked = l.Clock.Now()
	lease, err := l.Locker.Acquire(ctx, r)
	a.Decided = l.Clock.Now()
	a.answered = a.Decided
	a.Attempts++
	if err != nil {
		lease = strategies.Lease{Request: r}
	}
	a.Lease = lease
	a.Held = a.Held || errors.Is(err, strategies.ErrHeld)
	return err
}

// again tells the failures that are part of contention from those that end an acquisition.
func again(err error) bool {
	var quorum *strategies.QuorumError
	return errors.Is(err, strategies.ErrHeld) || errors.As(err, &quorum)
}

// fail records the error that ended an acquisition.
func (a *Acquisition) fail(ctx context.Context, err error) {
	var refused *strategies.ServerError
	a.Uncertain = !errors.Is(err, strategies.ErrHeld) && !errors.As(err, &refused)
	if ctx.Err() != nil || a.Decided >= a.deadline {
		err = errors.Join(ended(ctx), err)
	}
	a.Err = err
}

// ended is why ctx ended: the caller's cancellation stays itself, its own deadline is ErrTimeout.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return ErrTimeout
}

func (l Loop) cleanUp(ctx context.Context, lease strategies.Lease) {
	ctx, cancel := l.Clock.WithTimeout(context.WithoutCancel(ctx), l.CleanUp)
	defer cancel()
	// The outcome changes nothing: the decision is recorded, and what this leaves behind the audit counts.
	_, _ = l.Locker.Release(ctx, lease)
}

// Owner draws an owner token: 128 random bits as 32 hexadecimal digits.
func Owner(rnd *rand.Rand) string {
	var bits [16]byte
	binary.LittleEndian.PutUint64(bits[:], rnd.Uint64())
	binary.LittleEndian.PutUint64(bits[8:], rnd.Uint64())
	var text [32]byte
	hex.Encode(text[:], bits[:])
	return string(text[:])
}
