package strategies

import (
	"context"
	"errors"
	"fmt"
)

// newSetnxExpire is SETNX and then EXPIRE, both awaited, and DEL to release. A client that dies between the two, or
// whose EXPIRE is lost, leaves a key without a TTL. EXPIRE is sent only by the attempt that won SETNX: sending it
// always, as a pipeline would, lets every loser refresh the lock of a dead owner (redis-py pull 902, ShedLock 65).
// Wrong on purpose.
//
// Renew extends the key without asking whose it is.
func newSetnxExpire(e Env, _ Options) (Locker, error) {
	return newStringKey("setnx-expire", e, parts{take: takeThenExpire, extend: expireAnyway, drop: deleteAnyway})
}

// takeThenExpire is indefinite once SETNX has won: the lock is taken, and without a TTL. A refusal of EXPIRE must not
// pass as "nothing was done", so its ServerError is shown and hidden from errors.As.
func takeThenExpire(ctx context.Context, n Node, r Request, ttl int64) error {
	if err := takeForEver(ctx, n, r, ttl); err != nil {
		return err
	}
	err := expireAnyway(ctx, n, r, ttl)
	if refused := (*ServerError)(nil); errors.As(err, &refused) {
		return fmt.Errorf("taken without a TTL: %v", err)
	}
	if err != nil {
		return fmt.Errorf("taken, perhaps without a TTL: %w", err)
	}
	return nil
}

// expireAnyway sends EXPIRE where whole seconds can say the TTL, as the recipe has it, and else PEXPIRE.
func expireAnyway(ctx context.Context, n Node, r Request, ttl int64) error {
	command, units := "PEXPIRE", ttl
	if ttl%1000 == 0 {
		command, units = "EXPIRE", ttl/1000
	}
	reply, err := n.Do(ctx, command, r.Key, units)
	return lostIfZero(command, reply, err)
}
