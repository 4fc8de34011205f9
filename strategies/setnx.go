package strategies

import "context"

// newSetnx is the oldest recipe: SETNX, and DEL to release. The key has no TTL, so a holder that dies leaves the lock
// held for ever; and DEL does not ask whose key it deletes. Wrong on purpose.
//
// There is no TTL to extend: Renew only asks whether somebody holds the key. It never puts a TTL on it.
func newSetnx(e Env, _ Options) (Locker, error) {
	return newStringKey("setnx", e, parts{take: takeForEver, extend: askExists, drop: deleteAnyway})
}

func takeForEver(ctx context.Context, n Node, r Request, _ int64) error {
	reply, err := n.Do(ctx, "SETNX", r.Key, r.Owner)
	switch {
	case err != nil:
		return err
	case reply.Kind != Int:
		return unexpected("SETNX", reply)
	case reply.Int == 0:
		return ErrHeld
	}
	return nil
}

func askExists(ctx context.Context, n Node, r Request, _ int64) error {
	reply, err := n.Do(ctx, "EXISTS", r.Key)
	return lostIfZero("EXISTS", reply, err)
}

// deleteAnyway cannot tell its own key from another's: 1 is reported as Released, whosever lock it was.
func deleteAnyway(ctx context.Context, n Node, r Request) (Outcome, error) {
	reply, err := n.Do(ctx, "DEL", r.Key)
	switch {
	case err != nil:
		return Unknown, err
	case reply.Kind != Int:
		return Unknown, unexpected("DEL", reply)
	case reply.Int == 0:
		return Expired, nil
	}
	return Released, nil
}

func lostIfZero(command string, reply Reply, err error) error {
	switch {
	case err != nil:
		return err
	case reply.Kind != Int:
		return unexpected(command, reply)
	case reply.Int == 0:
		return ErrLost
	}
	return nil
}
