package strategies

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"
)

var (
	//go:embed set_px_lua_release.lua
	releaseLua string
	//go:embed set_px_lua_renew.lua
	renewLua string
)

// The scripts have no `#!lua` line: Redis refuses those at once when it is out of memory, and a lock could not be
// released then.
var (
	releaseIfOwner = &Script{Name: "release", Lua: releaseLua, Inner: twoIfOne}
	renewIfOwner   = &Script{Name: "renew", Lua: renewLua, Inner: twoIfOne}
)

// twoIfOne: GET always, the second command only where the owner matched.
func twoIfOne(r Reply) int {
	if r.Int == 1 {
		return 2
	}
	return 1
}

// newSetPXLua is the standard answer: SET NX PX; compare-and-delete and compare-and-extend in one Lua script each, so
// that nothing can come between. With the option delex, release is DELEX key IFEQ owner instead (Redis 8.4).
// Source: Redis documentation, "Distributed Locks with Redis", correct implementation with a single instance.
func newSetPXLua(e Env, o Options) (Locker, error) {
	p := parts{take: takeForTTL, extend: extendIfOwner, drop: deleteIfOwner}
	if option(o, "delex", false) {
		p.drop = delexIfOwner
	}
	return newStringKey("set-px-lua", e, p)
}

func deleteIfOwner(ctx context.Context, n Node, r Request) (Outcome, error) {
	reply, err := n.Eval(ctx, releaseIfOwner, []string{r.Key}, r.Owner)
	switch {
	case err != nil:
		return Unknown, err
	case reply.Kind == Int && reply.Int == 1:
		return Released, nil
	case reply.Kind == Int && reply.Int == 0:
		return Stolen, nil
	case reply.Kind == Int && reply.Int == -1:
		return Expired, nil
	}
	return Unknown, unexpected("the release script", reply)
}

func extendIfOwner(ctx context.Context, n Node, r Request, ttl int64) error {
	reply, err := n.Eval(ctx, renewIfOwner, []string{r.Key}, r.Owner, ttl)
	return lostIfZero("the renew script", reply, err)
}

// delexIfOwner answers 0 for a stranger's key and for none; only then a second command tells them apart. That second
// answer may be newer than the first; the lock was not ours at either moment.
func delexIfOwner(ctx context.Context, n Node, r Request) (Outcome, error) {
	reply, err := n.Do(ctx, "DELEX", r.Key, "IFEQ", r.Owner)
	if refused := (*ServerError)(nil); errors.As(err, &refused) && refused.Code == "ERR" {
		return Unknown, fmt.Errorf("option delex needs a server with DELEX (Redis 8.4): %w", err)
	}
	switch {
	case err != nil:
		return Unknown, err
	case reply.Kind != Int:
		return Unknown, unexpected("DELEX", reply)
	case reply.Int == 1:
		return Released, nil
	}
	switch err := askExists(ctx, n, r, 0); {
	case errors.Is(err, ErrLost):
		return Expired, nil
	case err != nil:
		return Unknown, err
	}
	return Stolen, nil
}
