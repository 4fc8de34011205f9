package strategies

import "context"

// newSetPXDel is SET NX PX, and DEL to release. The TTL is there from the first command on; but a holder that stays
// longer than its TTL deletes the lock of whoever came next. Wrong on purpose.
//
// Renew extends the key without asking whose it is.
func newSetPXDel(e Env, _ Options) (Locker, error) {
	return newStringKey("set-px-del", e, parts{take: takeForTTL, extend: pexpireAnyway, drop: deleteAnyway})
}

func takeForTTL(ctx context.Context, n Node, r Request, ttl int64) error {
	reply, err := n.Do(ctx, "SET", r.Key, r.Owner, "NX", "PX", ttl)
	switch {
	case err != nil:
		return err
	case reply.Kind == Nil:
		return ErrHeld
	case reply.Kind != Text || reply.Text != "OK":
		return unexpected("SET", reply)
	}
	return nil
}

func pexpireAnyway(ctx context.Context, n Node, r Request, ttl int64) error {
	reply, err := n.Do(ctx, "PEXPIRE", r.Key, ttl)
	return lostIfZero("PEXPIRE", reply, err)
}
