package lockertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

const (
	long  = 30 * time.Second       // a TTL that does not end during a check
	short = 100 * time.Millisecond // one that does
)

func exclusion() []Check {
	return []Check{
		{"many contenders hold one at a time", oneAtATime},
		{"a held lock answers ErrHeld and changes nothing", heldIsDefinite},
		{"one Locker serves fifty goroutines", sharedLocker},
	}
}

func oneAtATime(ctx context.Context, r *rig) error {
	const contenders, rounds = 12, 4
	var c census
	err := r.sideBySide(contenders, func(i int) error {
		rnd := rand.New(rand.NewPCG(uint64(i), 1))
		for range rounds {
			l, err := r.persist(ctx, rnd)
			if err != nil {
				return err
			}
			c.enter(l.Key, 1)
			err = r.clock.Sleep(ctx, time.Millisecond)
			c.enter(l.Key, -1)
			if found, failed := r.Release(ctx, l); found != strategies.Released {
				return errors.Join(err, failed, fmt.Errorf("the holder's release reported %s", found))
			}
		}
		return nil
	})
	if err == nil && c.most != 1 {
		err = fmt.Errorf("%d held the lock at the same time", c.most)
	}
	return err
}

// persist attempts until it holds.
func (r *rig) persist(ctx context.Context, rnd *rand.Rand) (strategies.Lease, error) {
	for {
		q := r.request(long)
		l, err := r.Acquire(ctx, q)
		if err == nil || ctx.Err() != nil {
			return l, err
		}
		if !errors.Is(err, strategies.ErrHeld) && r.entry.Compares {
			if _, err := r.Release(ctx, strategies.Lease{Request: q}); err != nil {
				return l, err
			}
		}
		if err := r.clock.Sleep(ctx, time.Duration(rnd.IntN(5000))*time.Microsecond); err != nil {
			return l, err
		}
	}
}

func heldIsDefinite(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	other := r.request(long)
	if _, err := r.Acquire(ctx, other); !errors.Is(err, strategies.ErrHeld) {
		return fmt.Errorf("a held lock answered %v, want ErrHeld", err)
	}
	if err := r.drain(ctx); err != nil {
		return err
	}
	return r.release(ctx, l, strategies.Released)
}

func sharedLocker(ctx context.Context, r *rig) error {
	return r.sideBySide(50, func(i int) error {
		q := r.request(long)
		q.Key = fmt.Sprintf("%s:%d", r.key, i)
		for range 3 {
			l, err := r.grantKey(ctx, q)
			if err != nil {
				return err
			}
			if found, err := r.Release(ctx, l); found != strategies.Released {
				return fmt.Errorf("release reported %s: %w", found, err)
			}
		}
		return nil
	})
}

func releasing(e strategies.Entry) []Check {
	checks := []Check{
		{"a release frees the lock", releaseFrees},
		{"a second release reports Expired", releaseTwice},
	}
	if e.Compares {
		checks = append(checks,
			Check{"a late release leaves the next holder's lock", lateRelease},
			Check{"the release of a lease never granted is harmless", neverGranted})
	}
	if e.Needs == strategies.NeedsNothing {
		return checks
	}
	if e.Compares {
		return append(checks, Check{"a stolen lock is reported Stolen and left alone", stolenIsLeft})
	}
	return append(checks, Check{"weakness: a release deletes somebody else's lock", stolenIsDeleted})
}

func releaseFrees(ctx context.Context, r *rig) error {
	for range 2 { // the second time it is free again
		l, err := r.grant(ctx, long)
		if err != nil {
			return err
		}
		if err := errors.Join(r.wantKeys(ctx, l.Key, len(r.servers)), r.release(ctx, l, strategies.Released)); err != nil {
			return err
		}
		if err := r.wantKeys(ctx, l.Key, 0); err != nil {
			return err
		}
	}
	return nil
}

func releaseTwice(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	return errors.Join(r.release(ctx, l, strategies.Released), r.release(ctx, l, strategies.Expired))
}

// lateRelease lets the same Locker grant to both, so that owner tokens are its own.
func lateRelease(ctx context.Context, r *rig) error {
	first, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	if err := r.lose(ctx, first); err != nil {
		return err
	}
	second, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	return errors.Join(r.release(ctx, first, strategies.Stolen), r.release(ctx, second, strategies.Released))
}

// lose ends a lease behind its holder's back.
func (r *rig) lose(ctx context.Context, l strategies.Lease) error {
	if len(r.servers) == 0 {
		return r.release(ctx, l, strategies.Released)
	}
	return r.deleteKey(ctx, l.Key)
}

func neverGranted(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	never := l
	never.Owner = r.request(long).Owner
	if err := r.release(ctx, never, strategies.Stolen); err != nil {
		return err
	}
	return errors.Join(r.release(ctx, l, strategies.Released), r.release(ctx, never, strategies.Expired))
}

func stolenIsLeft(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	return errors.Join(r.steal(ctx, l.Key), r.release(ctx, l, strategies.Stolen), r.wantKeys(ctx, l.Key, len(r.servers)))
}

func stolenIsDeleted(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	return errors.Join(r.steal(ctx, l.Key), r.release(ctx, l, strategies.Released), r.wantKeys(ctx, l.Key, 0))
}

func renewing(e strategies.Entry) []Check {
	checks := []Check{
		{"a renewal moves the end", renewalMovesTheEnd},
		{"a renewal of a lost lease answers ErrLost and creates nothing", renewalOfLost},
	}
	if e.Needs == strategies.NeedsNothing {
		return checks
	}
	if e.Compares {
		return append(checks, Check{"a renewal of a stolen lock answers ErrLost and extends nothing", renewalOfStolen})
	}
	return append(checks, Check{"weakness: a renewal does not notice that the lock was stolen", renewalBlind})
}

func renewalMovesTheEnd(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	if err := r.clock.Sleep(ctx, 5*time.Millisecond); err != nil {
		return err
	}
	renewed, err := r.Renew(ctx, l)
	if err != nil {
		return err
	}
	if renewed.Until <= l.Until {
		return fmt.Errorf("the end moved from %v to %v", l.Until, renewed.Until)
	}
	return errors.Join(r.keptUntil(ctx, renewed), r.release(ctx, renewed, strategies.Released))
}

func renewalOfLost(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	if err := r.lose(ctx, l); err != nil {
		return err
	}
	if _, err := r.Renew(ctx, l); !errors.Is(err, strategies.ErrLost) {
		return fmt.Errorf("the renewal of a lost lease answered %v, want ErrLost", err)
	}
	return r.wantKeys(ctx, l.Key, 0)
}

func renewalOfStolen(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, 10*time.Minute)
	if err != nil {
		return err
	}
	if err := r.steal(ctx, l.Key); err != nil {
		return err
	}
	if _, err := r.Renew(ctx, l); !errors.Is(err, strategies.ErrLost) {
		return fmt.Errorf("the renewal of a stolen lock answered %v, want ErrLost", err)
	}
	return r.wantKeys(ctx, l.Key, len(r.servers))
}

func renewalBlind(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	if err := r.steal(ctx, l.Key); err != nil {
		return err
	}
	if _, err := r.Renew(ctx, l); err != nil {
		return fmt.Errorf("the renewal noticed: %w", err)
	}
	return nil
}
