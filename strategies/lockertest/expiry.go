package lockertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

func expiring(e strategies.Entry) []Check {
	first := Check{"the key has a TTL from its first command", ttlFromTheFirst}
	if !e.Expires {
		first = Check{"weakness: the first command leaves a key without a TTL", noTTLAfterTheFirst}
	}
	return []Check{
		first,
		{"an expired lock is free and its release reports Expired, or the missing TTL shows", expiry},
		{"Until is at most the first request + TTL", untilCountsFromTheRequest},
		{"the server keeps the key until Until", serverKeeps},
		{"a TTL is sent in whole milliseconds, at least one", wholeMilliseconds},
	}
}

// afterTheFirst is what a client leaves that dies after its first command: TTLs by server.
func (r *rig) afterTheFirst(ctx context.Context) ([]time.Duration, error) {
	for _, p := range r.spies {
		p.trouble(func(_ context.Context, c command) error {
			if c.nth > 1 {
				return errCut
			}
			return nil
		}, nil)
	}
	q := r.request(long)
	l, err := r.Acquire(ctx, q)
	if err != nil {
		l = strategies.Lease{Request: q}
	}
	if err := r.drain(ctx); err != nil {
		return nil, err
	}
	var ttls []time.Duration
	for _, s := range r.servers {
		exists, ttl, err := s.Look(ctx, l.Key)
		if err != nil || !exists {
			return nil, errors.Join(err, errors.New("no key after the first command"))
		}
		ttls = append(ttls, ttl)
	}
	return ttls, r.deleteKey(ctx, l.Key)
}

func ttlFromTheFirst(ctx context.Context, r *rig) error {
	ttls, err := r.afterTheFirst(ctx)
	for _, ttl := range ttls {
		if ttl <= 0 || ttl > long {
			return fmt.Errorf("TTL after the first command: %v, want up to %v", ttl, long)
		}
	}
	return err
}

func noTTLAfterTheFirst(ctx context.Context, r *rig) error {
	ttls, err := r.afterTheFirst(ctx)
	for _, ttl := range ttls {
		if ttl >= 0 {
			return fmt.Errorf("TTL after the first command: %v, want none", ttl)
		}
	}
	return err
}

func expiry(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, short)
	if err != nil {
		return err
	}
	for r.clock.Now() <= l.Until {
		if err := r.clock.Sleep(ctx, l.Until-r.clock.Now()+time.Millisecond); err != nil {
			return err
		}
	}
	if immortal, err := r.immortal(ctx, l.Key); immortal || err != nil {
		return errors.Join(err, r.deadLock(ctx, l))
	}
	if err := r.gone(ctx, l.Key); err != nil {
		return err
	}
	if err := r.release(ctx, l, strategies.Expired); err != nil {
		return err
	}
	next, err := r.grant(ctx, long)
	return errors.Join(err, r.release(ctx, next, strategies.Released))
}

func (r *rig) immortal(ctx context.Context, key string) (bool, error) {
	exists, ttl, err := r.servers[0].Look(ctx, key)
	return exists && ttl < 0, err
}

// deadLock is the weakness of a strategy without a TTL: the lock outlives its lease.
func (r *rig) deadLock(ctx context.Context, l strategies.Lease) error {
	if r.entry.Expires {
		return errors.New("the key has no TTL")
	}
	if _, err := r.Acquire(ctx, r.request(short)); !errors.Is(err, strategies.ErrHeld) {
		return fmt.Errorf("without a TTL the lock is held for ever, but an attempt answered %v", err)
	}
	return r.release(ctx, l, strategies.Released)
}

// untilCountsFromTheRequest makes replies late, so that a lease that counts from the reply is found out.
func untilCountsFromTheRequest(ctx context.Context, r *rig) error {
	for _, p := range r.spies {
		p.trouble(nil, func(ctx context.Context, _ command) error { return r.clock.Sleep(ctx, 5*time.Millisecond) })
	}
	q := r.request(long)
	l, err := r.Acquire(ctx, q)
	if err != nil {
		return err
	}
	first := l.Until
	for _, p := range r.spies { // a quorum may have granted before the last node was even asked
		for _, c := range p.commands() {
			first = min(first, c.at)
		}
	}
	if l.Until > first+q.TTL || l.Until <= first {
		return fmt.Errorf("the lease ends %v after the first request, want at most %v", l.Until-first, q.TTL)
	}
	return r.release(ctx, l, strategies.Released)
}

func serverKeeps(ctx context.Context, r *rig) error {
	l, err := r.grant(ctx, long)
	if err != nil {
		return err
	}
	return errors.Join(r.keptUntil(ctx, l), r.release(ctx, l, strategies.Released))
}

// keptUntil wants every server to keep the key as long as the holder believes. A millisecond is the server's unit.
func (r *rig) keptUntil(ctx context.Context, l strategies.Lease) error {
	for _, s := range r.servers {
		remains := l.Until - r.clock.Now()
		exists, ttl, err := s.Look(ctx, l.Key)
		if err != nil {
			return err
		}
		if !exists || ttl >= 0 && ttl+2*time.Millisecond < l.Until-r.clock.Now() {
			return fmt.Errorf("a server keeps the key for %v, its holder believes in %v", ttl, remains)
		}
	}
	return nil
}

func wholeMilliseconds(ctx context.Context, r *rig) error {
	for _, ttl := range []time.Duration{long + 700*time.Microsecond, long - 300*time.Microsecond} {
		l, err := r.grant(ctx, ttl)
		if err != nil {
			return err
		}
		for _, s := range r.servers {
			if _, got, err := s.Look(ctx, l.Key); err != nil || got > ttl {
				return errors.Join(err, fmt.Errorf("a TTL of %v became %v", ttl, got))
			}
		}
		if err := errors.Join(r.keptUntil(ctx, l), r.release(ctx, l, strategies.Released)); err != nil {
			return err
		}
	}
	return r.leastTTL(ctx)
}

// leastTTL: a TTL below a millisecond must not be refused by the server, which takes no 0. A quorum may find its
// validity over.
func (r *rig) leastTTL(ctx context.Context) error {
	q := r.request(200 * time.Microsecond)
	l, err := r.Acquire(ctx, q)
	if refused := (*strategies.ServerError)(nil); errors.As(err, &refused) || errors.Is(err, strategies.ErrHeld) {
		return fmt.Errorf("a TTL of %v: %w", q.TTL, err)
	}
	if err != nil {
		l = strategies.Lease{Request: q}
	}
	_, err = r.Release(ctx, l)
	return err
}
