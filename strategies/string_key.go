package strategies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// parts are a protocol for a lock that is one string key with the owner token as its value. The strategies of this
// family differ in these three steps and in nothing else. ttl is in milliseconds.
type parts struct {
	take   func(ctx context.Context, n Node, r Request, ttl int64) error // nil, ErrHeld or another error
	extend func(ctx context.Context, n Node, r Request, ttl int64) error // nil, ErrLost or another error
	drop   dropFunc                                                      // no error: the outcome is known
}

type dropFunc func(ctx context.Context, n Node, r Request) (Outcome, error)

// stringKey is a Locker over parts and one node. It keeps no state.
type stringKey struct {
	parts
	clock clock.Clock
	node  Node
	drift float64
	unit  time.Duration // what one unit of a TTL on the wire is believed to be: a millisecond
	owner string        // "": the request's
}

func newStringKey(name string, e Env, p parts) (*stringKey, error) {
	n, err := e.single(name)
	if err != nil {
		return nil, err
	}
	k := &stringKey{parts: p, clock: e.Clock, node: n, drift: e.Drift, unit: time.Millisecond}
	k.tamper(e.sabotage)
	return k, nil
}

// single is the one keyspace of a strategy that needs just one.
func (e Env) single(name string) (Node, error) {
	if len(e.Nodes) != 1 {
		return nil, fmt.Errorf("strategy %q needs one keyspace and got %d", name, len(e.Nodes))
	}
	return e.Nodes[0], nil
}

// Acquire returns the zero Lease with ErrHeld, and after any other error a Lease that names what may have been taken.
func (k *stringKey) Acquire(ctx context.Context, r Request) (Lease, error) {
	until := k.until(r.TTL)
	err := k.take(ctx, k.node, k.wire(r), k.units(r.TTL))
	switch {
	case err == nil:
		return Lease{Request: r, Until: until}, nil
	case errors.Is(err, ErrHeld):
		return Lease{}, ErrHeld
	}
	return Lease{Request: r}, fmt.Errorf("acquire %q: %w", r.Key, err)
}

func (k *stringKey) Renew(ctx context.Context, l Lease) (Lease, error) {
	until := k.until(l.TTL)
	if err := k.extend(ctx, k.node, k.wire(l.Request), k.units(l.TTL)); err != nil {
		return l, fmt.Errorf("renew %q: %w", l.Key, err)
	}
	l.Until = until
	return l, nil
}

func (k *stringKey) Release(ctx context.Context, l Lease) (Outcome, error) {
	found, err := k.drop(ctx, k.node, k.wire(l.Request))
	if err != nil {
		return Unknown, fmt.Errorf("release %q: %w", l.Key, err)
	}
	return found, nil
}

// until is the end of a lease whose first request goes out now.
func (k *stringKey) until(ttl time.Duration) time.Duration {
	return Validity(k.clock.Now(), wholeMillis(ttl), k.drift)
}

func (k *stringKey) units(ttl time.Duration) int64 { return max(1, int64(ttl/k.unit)) }

func (k *stringKey) wire(r Request) Request {
	if k.owner != "" {
		r.Owner = k.owner
	}
	return r
}

// wholeMillis is the part of a TTL that a server is asked for: whole milliseconds. A TTL below one is sent as one,
// and its holder counts on no more than it asked for.
func wholeMillis(ttl time.Duration) time.Duration {
	if ttl < time.Millisecond {
		return ttl
	}
	return ttl.Truncate(time.Millisecond)
}

// unexpected is a reply that the command cannot give: nothing is known after it.
func unexpected(command string, r Reply) error {
	return fmt.Errorf("%s answered %+v, which it never should", command, r)
}
