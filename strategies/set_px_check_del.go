package strategies

import "context"

// newSetPXCheckDel is SET NX PX; to release, GET, compare, DEL. The comparison happens in the client: between GET and
// DEL the lock may expire and be granted to somebody else, whose key DEL then deletes. Renew has the same gap between
// GET and PEXPIRE.
func newSetPXCheckDel(e Env, _ Options) (Locker, error) {
	return newStringKey("set-px-check-del", e, parts{take: takeForTTL, extend: checkThenExpire, drop: checkThenDelete})
}

func checkThenDelete(ctx context.Context, n Node, r Request) (Outcome, error) {
	found, err := holder(ctx, n, r)
	if err != nil || found != Released {
		return found, err
	}
	return deleteAnyway(ctx, n, r)
}

func checkThenExpire(ctx context.Context, n Node, r Request, ttl int64) error {
	found, err := holder(ctx, n, r)
	switch {
	case err != nil:
		return err
	case found != Released:
		return ErrLost
	}
	return pexpireAnyway(ctx, n, r, ttl)
}

// holder is what a release would find: Released if the key is r's.
func holder(ctx context.Context, n Node, r Request) (Outcome, error) {
	reply, err := n.Do(ctx, "GET", r.Key)
	switch {
	case err != nil:
		return Unknown, err
	case reply.Kind == Nil:
		return Expired, nil
	case reply.Kind != Text:
		return Unknown, unexpected("GET", reply)
	case reply.Text != r.Owner:
		return Stolen, nil
	}
	return Released, nil
}
