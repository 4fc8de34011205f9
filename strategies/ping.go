package strategies

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/strategies/clock"
)

// ping excludes nobody. It sends the round trips of a lock without the lock: the floor under every strategy that needs
// one command to acquire and one to release.
type ping struct {
	clock clock.Clock
	node  Node
	drift float64
}

func newPing(e Env, _ Options) (Locker, error) {
	n, err := e.single("ping")
	return &ping{clock: e.Clock, node: n, drift: e.Drift}, err
}

func (p *ping) Acquire(ctx context.Context, r Request) (Lease, error) {
	l := Lease{Request: r, Until: Validity(p.clock.Now(), r.TTL, p.drift)}
	return l, p.send(ctx, "acquire", r.Key)
}

func (p *ping) Renew(ctx context.Context, l Lease) (Lease, error) {
	renewed := Lease{Request: l.Request, Until: Validity(p.clock.Now(), l.TTL, p.drift)}
	if err := p.send(ctx, "renew", l.Key); err != nil {
		return l, err
	}
	return renewed, nil
}

func (p *ping) Release(ctx context.Context, l Lease) (Outcome, error) {
	if err := p.send(ctx, "release", l.Key); err != nil {
		return Unknown, err
	}
	return Released, nil
}

func (p *ping) send(ctx context.Context, verb, key string) error {
	if _, err := p.node.Do(ctx, "PING"); err != nil {
		return fmt.Errorf("%s %q: %w", verb, key, err)
	}
	return nil
}
