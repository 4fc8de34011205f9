package lockertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// rig is one strategy on its servers, with a spy on every node.
type rig struct {
	strategies.Locker
	entry   strategies.Entry
	setup   Setup
	env     strategies.Env // of the Locker: its nodes are the spies
	clock   clock.Clock
	spies   []*spy
	servers []Server
	key     string
}

// serial makes keys and owner tokens unique in this process.
var serial atomic.Uint64

func newRig(e strategies.Entry, s Setup, check string) (*rig, error) {
	r := &rig{entry: e, setup: s, env: s.Env, clock: s.Env.Clock, servers: s.Servers}
	r.key = fmt.Sprintf("lockbench:lockertest:%s:%d", e.Name, serial.Add(1))
	r.env.Nodes = nil
	for _, n := range s.Env.Nodes {
		p := &spy{Node: n, clock: r.clock}
		r.spies, r.env.Nodes = append(r.spies, p), append(r.env.Nodes, p)
	}
	k, err := e.New(r.env, s.Options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", check, err)
	}
	r.Locker = k
	return r, nil
}

// with builds the strategy anew with one more option.
func (r *rig) with(name string, value any) error {
	o := strategies.Options{name: value}
	for n, v := range r.setup.Options {
		if n != name {
			o[n] = v
		}
	}
	k, err := r.entry.New(r.env, o)
	r.Locker, r.setup.Options = k, o
	return err
}

func (r *rig) request(ttl time.Duration) strategies.Request {
	return strategies.Request{Key: r.key, Owner: fmt.Sprintf("%032x", serial.Add(1)), TTL: ttl}
}

// grant acquires a free lock. A machine that is too slow for the TTL gets more tries; "held" is final.
func (r *rig) grant(ctx context.Context, ttl time.Duration) (strategies.Lease, error) {
	return r.grantKey(ctx, r.request(ttl))
}

func (r *rig) grantKey(ctx context.Context, q strategies.Request) (strategies.Lease, error) {
	for {
		q.Owner = r.request(0).Owner
		l, err := r.Acquire(ctx, q)
		if err == nil {
			return l, r.drain(ctx)
		}
		if errors.Is(err, strategies.ErrHeld) || ctx.Err() != nil {
			return l, fmt.Errorf("a free lock was not granted: %w", err)
		}
		if _, err := r.Release(ctx, strategies.Lease{Request: q}); err != nil {
			return l, err
		}
	}
}

func (r *rig) drain(ctx context.Context) error {
	if d, ok := r.Locker.(strategies.Drainer); ok {
		return d.Drain(ctx)
	}
	return nil
}

// release wants a certain outcome.
func (r *rig) release(ctx context.Context, l strategies.Lease, want strategies.Outcome) error {
	got, err := r.Release(ctx, l)
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if got != want {
		return fmt.Errorf("release reported %s, want %s", got, want)
	}
	return r.drain(ctx)
}

// holders counts the servers on which key exists.
func (r *rig) holders(ctx context.Context, key string) (n int, err error) {
	for _, s := range r.servers {
		exists, _, err := s.Look(ctx, key)
		if err != nil {
			return n, err
		}
		if exists {
			n++
		}
	}
	return n, nil
}

// wantKeys wants key on n of the servers.
func (r *rig) wantKeys(ctx context.Context, key string, n int) error {
	got, err := r.holders(ctx, key)
	if err == nil && got != n {
		err = fmt.Errorf("the key is on %d of %d servers, want %d", got, len(r.servers), n)
	}
	return err
}

// gone waits until key is on no server.
func (r *rig) gone(ctx context.Context, key string) error {
	for {
		n, err := r.holders(ctx, key)
		if n == 0 || err != nil {
			return err
		}
		if err := r.clock.Sleep(ctx, time.Millisecond); err != nil {
			return fmt.Errorf("the key is still on %d servers: %w", n, err)
		}
	}
}

// steal gives the lock to somebody else on all servers.
func (r *rig) steal(ctx context.Context, key string) error {
	for _, s := range r.servers {
		if err := s.Set(ctx, key, "somebody else", time.Minute); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) deleteKey(ctx context.Context, key string) error {
	for _, s := range r.servers {
		if err := s.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// sent counts all commands so far.
func (r *rig) sent() (n int) {
	for _, p := range r.spies {
		n += p.count()
	}
	return n
}

// silent wants no command to be sent for a while.
func (r *rig) silent(ctx context.Context, d time.Duration) error {
	before := r.sent()
	if err := r.clock.Sleep(ctx, d); err != nil {
		return err
	}
	if n := r.sent() - before; n > 0 {
		return fmt.Errorf("%d commands were sent afterwards", n)
	}
	return nil
}

// sideBySide runs f n times at once and joins the errors.
func (r *rig) sideBySide(n int, f func(i int) error) error {
	errs, g := make([]error, n), r.clock.NewGroup()
	for i := range n {
		g.Go(func() { errs[i] = f(i) })
	}
	g.Wait()
	return errors.Join(errs...)
}

// census counts who is inside which lock and remembers if it was ever more than one.
type census struct {
	mu     sync.Mutex
	inside map[string]int
	most   int
}

func (c *census) enter(key string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inside == nil {
		c.inside = map[string]int{}
	}
	c.inside[key] += by
	c.most = max(c.most, c.inside[key])
}
