package strategies

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// fakeNode is a server in memory with just the commands of this package. Its keys expire by its clock.
type fakeNode struct {
	clock clock.Clock
	mu    sync.Mutex
	keys  map[string]fakeKey
	sent  [][]any
	// fail, if set, is the fate of a command before it is executed; lose, of its reply.
	fail, lose func(args []any) error
	// answer, if set, replaces all replies.
	answer *Reply
}

type fakeKey struct {
	value string
	end   time.Duration // 0: none
}

var errGone = errors.New("connection lost")

func newFake(c clock.Clock) *fakeNode { return &fakeNode{clock: c, keys: map[string]fakeKey{}} }

func (n *fakeNode) Do(ctx context.Context, args ...any) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent = append(n.sent, args)
	if n.fail != nil {
		if err := n.fail(args); err != nil {
			return Reply{}, err
		}
	}
	r, err := n.execute(args)
	if err == nil && n.lose != nil {
		err = n.lose(args)
	}
	if n.answer != nil {
		r = *n.answer
	}
	return r, err
}

func (n *fakeNode) Eval(ctx context.Context, s *Script, keys []string, args ...any) (Reply, error) {
	return n.Do(ctx, append([]any{s.Name, keys[0]}, args...)...)
}

func (n *fakeNode) get(key string) (fakeKey, bool) {
	k, ok := n.keys[key]
	if ok && k.end > 0 && k.end <= n.clock.Now() {
		delete(n.keys, key)
		return fakeKey{}, false
	}
	return k, ok
}

func number(b bool) (Reply, error) {
	if b {
		return Reply{Kind: Int, Int: 1}, nil
	}
	return Reply{Kind: Int}, nil
}

func (n *fakeNode) execute(args []any) (Reply, error) {
	name := args[0].(string)
	if name == "PING" {
		return Reply{Kind: Text, Text: "PONG"}, nil
	}
	key := args[1].(string)
	k, ok := n.get(key)
	end := func(ms any) time.Duration { return n.clock.Now() + time.Duration(ms.(int64))*time.Millisecond }
	switch name {
	case "SETNX", "SET":
		if ok && name == "SETNX" {
			return number(false)
		}
		if ok {
			return Reply{}, nil
		}
		k = fakeKey{value: args[2].(string)}
		if len(args) > 4 {
			k.end = end(args[5])
		}
		n.keys[key] = k
		if name == "SETNX" {
			return number(true)
		}
		return Reply{Kind: Text, Text: "OK"}, nil
	case "GET":
		if !ok {
			return Reply{}, nil
		}
		return Reply{Kind: Text, Text: k.value}, nil
	case "EXISTS":
		return number(ok)
	case "DEL":
		delete(n.keys, key)
		return number(ok)
	case "DELEX":
		return Reply{}, &ServerError{Code: "ERR", Message: "ERR unknown command 'DELEX'"}
	case "EXPIRE":
		k.end = end(args[2].(int64) * 1000)
	case "PEXPIRE":
		k.end = end(args[2])
	case "renew":
		ok = ok && k.value == args[2]
		k.end = end(args[3])
	case "release":
		switch {
		case !ok:
			return Reply{Kind: Int, Int: -1}, nil
		case k.value == args[2]:
			delete(n.keys, key)
		}
		return number(k.value == args[2])
	}
	if ok {
		n.keys[key] = k
	}
	return number(ok)
}

func (n *fakeNode) has(key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.get(key)
	return ok
}

// jumpClock is a clock on which every wait is over at once and time has passed. It suits code that waits in one place
// at a time. Its timeouts never come.
type jumpClock struct {
	mu  sync.Mutex
	now time.Duration
}

func (c *jumpClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *jumpClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += max(0, d)
	return nil
}

func (c *jumpClock) WithTimeout(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (c *jumpClock) WithCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (c *jumpClock) NewGroup() clock.Group   { return clock.Wall().NewGroup() }
func (c *jumpClock) NewSignal() clock.Signal { return clock.Wall().NewSignal() }
