package lockertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// quorum applies to three nodes and more.
func quorum() []Check {
	return []Check{
		{"a minority held by somebody else does not stop it", minorityHeld},
		{"a majority held by somebody else answers ErrHeld and is cleaned up on all nodes", majorityHeld},
		{"one node down does not stop it", oneNodeDown},
		{"a majority down is no quorum, and the rest is cleaned up", majorityDown},
		{"keys whose replies were lost are cleaned up too", lostVotes},
		{"a quorum that answers after the validity time is none", tooLate},
		{"at-quorum does not wait for a slow node, nor does its release overtake the SET there", slowNode},
	}
}

// minority is the most nodes that are no quorum if they fail together: the rest still is one.
func (r *rig) minority() int { return (len(r.spies) - 1) / 2 }

func (r *rig) stealOn(ctx context.Context, servers []Server) error {
	for _, s := range servers {
		if err := s.Set(ctx, r.key, "somebody else", time.Minute); err != nil {
			return err
		}
	}
	return nil
}

func minorityHeld(ctx context.Context, r *rig) error {
	if err := r.stealOn(ctx, r.servers[:r.minority()]); err != nil {
		return err
	}
	l, err := r.grant(ctx, long)
	return errors.Join(err, r.release(ctx, l, strategies.Released), r.wantKeys(ctx, r.key, r.minority()))
}

func majorityHeld(ctx context.Context, r *rig) error {
	held := len(r.servers) - r.minority()
	if err := r.stealOn(ctx, r.servers[:held]); err != nil {
		return err
	}
	if _, err := r.Acquire(ctx, r.request(long)); !errors.Is(err, strategies.ErrHeld) {
		return fmt.Errorf("answered %v, want ErrHeld", err)
	}
	return errors.Join(r.drain(ctx), r.wantKeys(ctx, r.key, held), r.deleteKey(ctx, r.key))
}

func oneNodeDown(ctx context.Context, r *rig) error {
	r.spies[0].trouble(cut, nil)
	l, err := r.Acquire(ctx, r.request(long))
	if err != nil {
		return err
	}
	renewed, err := r.Renew(ctx, l)
	return errors.Join(err, r.release(ctx, renewed, strategies.Released), r.wantKeys(ctx, r.key, 0))
}

func majorityDown(ctx context.Context, r *rig) error {
	for _, p := range r.spies[r.minority():] {
		p.trouble(cut, nil)
	}
	return r.wantNoQuorum(ctx, r.request(long))
}

func lostVotes(ctx context.Context, r *rig) error {
	for _, p := range r.spies {
		p.trouble(nil, cutTake)
	}
	return r.wantNoQuorum(ctx, r.request(long))
}

func tooLate(ctx context.Context, r *rig) error {
	q := r.request(20 * time.Millisecond)
	for _, p := range r.spies {
		p.trouble(nil, func(ctx context.Context, c command) error {
			if !c.takes() {
				return nil
			}
			return r.clock.Sleep(context.WithoutCancel(ctx), 2*q.TTL)
		})
	}
	return r.wantNoQuorum(ctx, q)
}

func (r *rig) wantNoQuorum(ctx context.Context, q strategies.Request) error {
	if _, err := r.Acquire(ctx, q); err == nil || errors.Is(err, strategies.ErrHeld) {
		return fmt.Errorf("answered %v, want a missed quorum that nobody holds", err)
	}
	return errors.Join(r.drain(ctx), r.wantKeys(ctx, r.key, 0))
}

// slowNode holds back the SET to the last node until everything else is done.
func slowNode(ctx context.Context, r *rig) error {
	err := errors.Join(r.with("mode", "at-quorum"), r.with("node_timeout", Limit/2))
	if err != nil {
		return err
	}
	slow, open := r.spies[len(r.spies)-1], r.clock.NewSignal()
	slow.trouble(func(ctx context.Context, c command) error {
		if !c.takes() {
			return nil
		}
		return open.Wait(ctx)
	}, nil)
	began := r.clock.Now()
	l, err := r.Acquire(ctx, r.request(long))
	if err != nil {
		return err
	}
	if found, err := r.Release(ctx, l); found != strategies.Released {
		return fmt.Errorf("release reported %s: %w", found, err)
	}
	if r.clock.Now()-began >= Limit/2 {
		return errors.New("waited for the slow node's timeout")
	}
	if n := slow.count(); n > 1 {
		return fmt.Errorf("%d commands reached the slow node before its SET was answered", n)
	}
	open.Fire()
	return errors.Join(r.drain(ctx), r.wantKeys(ctx, r.key, 0))
}
