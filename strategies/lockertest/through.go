package lockertest

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// Through is a Server that is looked at with commands through a node of its own.
func Through(n strategies.Node) Server { return through{n} }

type through struct{ node strategies.Node }

func (t through) Look(ctx context.Context, key string) (bool, time.Duration, error) {
	r, err := t.node.Do(ctx, "PTTL", key) // -2: no key, -1: no TTL
	return r.Int != -2, time.Duration(r.Int) * time.Millisecond, err
}

func (t through) Delete(ctx context.Context, key string) error {
	_, err := t.node.Do(ctx, "DEL", key)
	return err
}

func (t through) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	_, err := t.node.Do(ctx, "SET", key, value, "PX", ttl.Milliseconds())
	return err
}
