package goredis

import (
	"fmt"
	"strings"
)

// Guard stands between lockbench and a server that it did not start: an allow-list of commands, and keys of this run
// only. No flag overrides it. It is why a wrong scenario cannot FLUSH, CONFIG SET or DEL what belongs to others.
type Guard struct {
	Prefix string // every key contains it, as "lockbench:<run>:"; derived names of a protocol wrap it
}

// keyed commands take keys[from] to keys[to] of their arguments; to -1: to the end.
type keyed struct{ from, to int }

var allowed = map[string]*keyed{
	"ping": nil, "time": nil, "info": nil, "hello": nil, "auth": nil, "wait": nil, "dbsize": nil,
	"set": {1, 1}, "setnx": {1, 1}, "get": {1, 1}, "expire": {1, 1}, "pexpire": {1, 1}, "pttl": {1, 1}, "ttl": {1, 1},
	"exists": {1, -1}, "del": {1, -1}, "unlink": {1, -1}, "delex": {1, 1}, "incr": {1, 1}, "hget": {1, 1}, "hset": {1, 1},
	"hexists": {1, 1}, "hincrby": {1, 1}, "publish": {1, 1}, "subscribe": {1, -1},
} // EVAL and EVALSHA pass through Node.Eval, which names their keys

func (g *Guard) command(name string, args []any) error {
	if g == nil {
		return nil
	}
	k, ok := allowed[strings.ToLower(name)]
	if !ok {
		return fmt.Errorf("%s is not among the commands that lockbench sends to an external server", strings.ToUpper(name))
	}
	if k == nil {
		return nil
	}
	to := k.to
	if to < 0 {
		to = len(args) - 1
	}
	for i := k.from; i <= to && i < len(args); i++ {
		if err := g.key(name, fmt.Sprint(args[i])); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guard) keys(name string, keys []string) error {
	if g == nil {
		return nil
	}
	for _, k := range keys {
		if err := g.key(name, k); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guard) key(name, key string) error {
	if strings.Contains(key, g.Prefix) {
		return nil
	}
	return fmt.Errorf("%s %q: on an external server lockbench touches only its own keys %s*", strings.ToUpper(name), key, g.Prefix)
}
