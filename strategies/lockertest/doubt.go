package lockertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

func doubt(e strategies.Entry) []Check {
	checks := []Check{{"a refusal by the server is a ServerError and not ErrHeld", refusalPasses}}
	if e.Compares {
		return append(checks,
			Check{"a lost reply is doubt, and a release by the owner ends it", lostReply},
			Check{"a cancelled acquire leaves no key and no renewal behind", cancelledAcquire})
	}
	return append(checks, Check{"weakness: a lost reply leaves a key that nobody may delete", lostReplyOrphan})
}

func refusalPasses(ctx context.Context, r *rig) error {
	for _, p := range r.spies {
		p.trouble(func(context.Context, command) error {
			return &strategies.ServerError{Code: "READONLY", Message: "READONLY You can't write against a read only replica."}
		}, nil)
	}
	_, err := r.Acquire(ctx, r.request(long))
	if refused := (*strategies.ServerError)(nil); !errors.As(err, &refused) || errors.Is(err, strategies.ErrHeld) {
		return fmt.Errorf("a refused attempt answered %v, want a ServerError", err)
	}
	return nil
}

// loseReplies makes an attempt whose commands are executed and whose replies never come.
func (r *rig) loseReplies(ctx context.Context) (strategies.Request, error) {
	for _, p := range r.spies {
		p.trouble(nil, cutTake)
	}
	q := r.request(long)
	_, err := r.Acquire(ctx, q)
	if refused := (*strategies.ServerError)(nil); err == nil || errors.Is(err, strategies.ErrHeld) || errors.As(err, &refused) {
		return q, fmt.Errorf("an attempt without a reply answered %v, want doubt", err)
	}
	return q, r.drain(ctx)
}

func lostReply(ctx context.Context, r *rig) error {
	q, err := r.loseReplies(ctx)
	if err != nil {
		return err
	}
	if _, err := r.Release(ctx, strategies.Lease{Request: q}); err != nil {
		return err
	}
	for _, p := range r.spies {
		p.trouble(nil, nil)
	}
	l, err := r.grant(ctx, long)
	return errors.Join(err, r.release(ctx, l, strategies.Released))
}

func lostReplyOrphan(ctx context.Context, r *rig) error {
	q, err := r.loseReplies(ctx)
	return errors.Join(err, r.wantKeys(ctx, q.Key, len(r.servers)))
}

// cancelledAcquire cancels at random points before the request, during it and before the reply, and cleans up as the
// retry loop does.
func cancelledAcquire(ctx context.Context, r *rig) error {
	late := func(ctx context.Context, _ command) error { return r.clock.Sleep(ctx, time.Millisecond) }
	for _, p := range r.spies {
		p.trouble(late, late)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	keys := map[string]bool{r.key: true}
	for range 40 {
		key, err := r.cancelOne(ctx, time.Duration(rnd.IntN(4000))*time.Microsecond)
		if err != nil {
			return err
		}
		keys[key] = true
	}
	if err := r.drain(ctx); err != nil {
		return err
	}
	for key := range keys {
		if err := r.wantKeys(ctx, key, 0); err != nil {
			return err
		}
	}
	return r.silent(ctx, 5*time.Millisecond)
}

func (r *rig) cancelOne(ctx context.Context, after time.Duration) (key string, err error) {
	within, cancel := r.clock.WithTimeout(ctx, after)
	defer cancel()
	q := r.request(long)
	l, err := r.Acquire(within, q)
	if err != nil {
		l = strategies.Lease{Request: q}
	}
	_, err = r.Release(ctx, l)
	return l.Key, err
}
