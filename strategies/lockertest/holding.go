package lockertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

func holding(e strategies.Entry) []Check {
	checks := []Check{
		{"Hold keeps the lock beyond its TTL", holdOutlastsTTL},
	}
	if e.Needs == strategies.NeedsNothing {
		return checks
	}
	checks = append(checks,
		Check{"Hold sends no renewal after it returns, nor after the release", holdIsSilentAfter},
		Check{"Hold cancels the work when the key is deleted", holdNotices((*rig).deleteKey)},
		Check{"Hold cancels the work at Until when renewals fail", holdEndsAtUntil})
	if e.Compares {
		checks = append(checks, Check{"Hold cancels the work when the lock is stolen", holdNotices((*rig).steal)})
	}
	return checks
}

func holdOutlastsTTL(ctx context.Context, r *rig) error {
	for {
		l, err := r.grant(ctx, short)
		if err != nil {
			return err
		}
		l, report, err := strategies.Hold(ctx, r.clock, r.Locker, l, short/6, func(ctx context.Context) error {
			return r.besiege(ctx, 3*short)
		})
		if report.Lost && ctx.Err() == nil {
			if err := r.settleLost(ctx, l); err != nil {
				return err
			}
			continue // the machine stood still for longer than the TTL: nothing was shown
		}
		if err == nil && report.Renewals == 0 {
			err = errors.New("no renewal in three times the TTL")
		}
		return errors.Join(err, r.release(ctx, l, strategies.Released))
	}
}

func (r *rig) settleLost(ctx context.Context, l strategies.Lease) error {
	if _, err := r.Release(ctx, l); err != nil {
		return err
	}
	return errors.Join(r.drain(ctx), r.gone(ctx, l.Key))
}

// besiege attempts for a while and wants no grant.
func (r *rig) besiege(ctx context.Context, d time.Duration) error {
	for end := r.clock.Now() + d; r.clock.Now() < end; {
		l, err := r.Acquire(ctx, r.request(short))
		if err == nil && ctx.Err() == nil {
			return errors.Join(errors.New("a second holder beside the first"), r.release(ctx, l, strategies.Released))
		}
		if err := r.clock.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func holdIsSilentAfter(ctx context.Context, r *rig) error {
	const ttl = 90 * time.Millisecond
	rnd, renewals := rand.New(rand.NewPCG(3, 4)), 0
	for i := 0; i < 12 || renewals == 0; i++ {
		l, err := r.grant(ctx, ttl)
		if err != nil {
			return err
		}
		work := time.Duration(rnd.IntN(12000)) * time.Microsecond
		l, report, err := strategies.Hold(ctx, r.clock, r.Locker, l, 2*time.Millisecond, func(ctx context.Context) error {
			return r.clock.Sleep(ctx, work)
		})
		renewals += report.Renewals
		if err != nil && !report.Lost {
			return err
		}
		if err := r.silent(ctx, 6*time.Millisecond); err != nil {
			return fmt.Errorf("after Hold: %w", err)
		}
		if err := r.settleLost(ctx, l); err != nil {
			return err
		}
	}
	if err := r.silent(ctx, 2*ttl); err != nil {
		return fmt.Errorf("after the release: %w", err)
	}
	return nil
}

// holdNotices takes the lock away while the work runs. The work ends when it is cancelled, or when so many commands were
// sent that a renewal must have noticed.
func holdNotices(takeAway func(*rig, context.Context, string) error) func(context.Context, *rig) error {
	return func(ctx context.Context, r *rig) error {
		l, err := r.grant(ctx, long)
		if err != nil {
			return err
		}
		_, report, err := strategies.Hold(ctx, r.clock, r.Locker, l, 5*time.Millisecond, func(ctx context.Context) error {
			if err := takeAway(r, ctx, l.Key); err != nil {
				return err
			}
			for enough := r.sent() + 30*len(r.spies); r.sent() < enough; {
				if err := r.clock.Sleep(ctx, time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		})
		return errors.Join(r.wantLost(report, err), r.deleteKey(ctx, l.Key))
	}
}

func (r *rig) wantLost(report strategies.HoldReport, err error) error {
	if !report.Lost || !errors.Is(err, strategies.ErrLost) {
		return fmt.Errorf("the work was not told: lost %v, error %v", report.Lost, err)
	}
	return nil
}

func holdEndsAtUntil(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, short)
	if err != nil {
		return err
	}
	for _, p := range r.spies {
		p.trouble(cut, nil)
	}
	_, report, err := strategies.Hold(ctx, r.clock, r.Locker, l, short/4, func(ctx context.Context) error {
		return r.clock.Sleep(ctx, long)
	})
	if err := r.wantLost(report, err); err != nil {
		return err
	}
	if report.Renewals > 0 {
		return fmt.Errorf("%d renewals confirmed, but none can have reached a server", report.Renewals)
	}
	return r.deleteKey(ctx, l.Key)
}

func waiting() []Check {
	return []Check{
		{"waiters are served in the order of their arrival", fifo},
		{"a waiter that is cancelled swallows no hand-over", cancelledWaiter},
	}
}

// queue starts waiters one after the other and writes down who is served.
func (r *rig) queue(ctx context.Context, waiters int) (served []int, err error) {
	first, err := r.grant(ctx, long)
	if err != nil {
		return nil, err
	}
	var c census // its lock guards served too
	errs, g := make([]error, waiters), r.clock.NewGroup()
	for i := range waiters {
		g.Go(func() { errs[i] = r.serve(ctx, func() { c.mu.Lock(); served = append(served, i); c.mu.Unlock() }) })
		if err := r.clock.Sleep(ctx, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
	err = r.release(ctx, first, strategies.Released)
	g.Wait()
	return served, errors.Join(append(errs, err)...)
}

func (r *rig) serve(ctx context.Context, served func()) error {
	l, err := r.Locker.(strategies.Blocker).AcquireWait(ctx, r.request(long))
	if err != nil {
		return err
	}
	served()
	return r.release(ctx, l, strategies.Released)
}

func fifo(ctx context.Context, r *rig) error {
	served, err := r.queue(ctx, 6)
	for i, w := range served {
		if w != i {
			return fmt.Errorf("served in the order %v", served)
		}
	}
	return err
}

func cancelledWaiter(ctx context.Context, r *rig) error {
	rnd := rand.New(rand.NewPCG(5, 6))
	var c census
	limits := make([]time.Duration, 200)
	for i := range limits {
		limits[i] = time.Duration(rnd.IntN(3000)) * time.Microsecond
	}
	err := r.sideBySide(len(limits), func(i int) error {
		within, cancel := r.clock.WithTimeout(ctx, limits[i])
		defer cancel()
		l, err := r.Locker.(strategies.Blocker).AcquireWait(within, r.request(long))
		if err != nil {
			return nil // cancelled in the queue, as many are meant to be
		}
		c.enter(l.Key, 1)
		_ = r.clock.Sleep(ctx, 20*time.Microsecond)
		c.enter(l.Key, -1)
		return r.release(ctx, l, strategies.Released)
	})
	if err != nil || c.most > 1 {
		return errors.Join(err, fmt.Errorf("%d held the lock at the same time", c.most))
	}
	l, err := r.grant(ctx, long)
	return errors.Join(err, r.release(ctx, l, strategies.Released))
}
