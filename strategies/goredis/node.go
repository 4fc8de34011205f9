// Package goredis is strategies.Node on go-redis: one server behind a pool of connections. It retries nothing, honours
// contexts, counts what it sends, and keeps a server that is not ours safe behind a Guard.
package goredis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockbench/lockbench/strategies"
)

// Options of a Node. Zero values are usable but for Address.
type Options struct {
	Address        string // host:port
	Username       string
	Password       func() string // called at each connection, so that no copy lingers; nil: none
	TLS            *tls.Config   // nil: plain
	PoolSize       int           // connections; 0: 10
	ConnectTimeout time.Duration // 0: 2 s
	Timeout        time.Duration // of one command whose context has no earlier deadline; 0: 3 s
	MaxRetries     int           // of the library; 0: none. More is a sabotage: a repeated SET NX sees its own key.
	Guard          *Guard        // nil: every command is allowed
}

// BufferSize of a connection in each direction: lock commands are short, and ten thousand sessions share hundreds of
// connections.
const BufferSize = 4 << 10

// Node is one server. It is safe for concurrent use.
type Node struct {
	client atomic.Pointer[redis.Client]       // Cold replaces it
	past   atomic.Pointer[strategies.Traffic] // pool figures of clients that Cold closed
	open   func() *redis.Client
	guard  *Guard
	size   int
	shas   sync.Map // *strategies.Script -> its sha1
	counts sync.Map // command name as given -> *atomic.Int64
	inner  atomic.Int64
	errs   atomic.Int64
	bytes  atomic.Int64
}

var quiet sync.Once

// Open makes a Node. It connects at the first use, or in Warm.
func Open(o Options) *Node {
	quiet.Do(logging.Disable) // the library writes to stderr; errors come back from commands
	n := &Node{guard: o.Guard, size: orDefault(o.PoolSize, 10)}
	connect, timeout := orDefault(o.ConnectTimeout, 2*time.Second), orDefault(o.Timeout, 3*time.Second)
	retries := -1
	if o.MaxRetries > 0 {
		retries = o.MaxRetries
	}
	n.open = func() *redis.Client {
		return redis.NewClient(&redis.Options{
			Addr:                     o.Address,
			CredentialsProvider:      credentials(o),
			Dialer:                   dialer(connect, o.TLS, &n.bytes),
			DialTimeout:              connect,
			DialerRetries:            1, // a refused connection is an answer; the retry policy under test decides what follows
			ReadTimeout:              timeout,
			WriteTimeout:             timeout,
			ContextTimeoutEnabled:    true, // else socket reads ignore the caller's deadline
			MaxRetries:               retries,
			PoolSize:                 n.size,
			ConnMaxIdleTime:          -1, // a quiet trial must not find its pool closed
			ReadBufferSize:           BufferSize,
			WriteBufferSize:          BufferSize,
			Protocol:                 2,
			DisableIdentity:          true, // CLIENT SETINFO is unknown before Redis 7.2
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
	}
	n.client.Store(n.open())
	n.past.Store(&strategies.Traffic{})
	return n
}

// Cold closes all connections, so that the next commands meet an empty pool, as after a start of the service. No
// command may be under way.
func (n *Node) Cold() error {
	past := n.pool()
	n.past.Store(&past)
	return n.client.Swap(n.open()).Close()
}

// pool is the waiting for connections so far.
func (n *Node) pool() strategies.Traffic {
	s, past := n.client.Load().PoolStats(), n.past.Load()
	return strategies.Traffic{
		PoolWaits: past.PoolWaits + int64(s.WaitCount),
		PoolWait:  past.PoolWait + time.Duration(s.WaitDurationNs),
	}
}

func orDefault[T int | time.Duration](v, d T) T {
	if v > 0 {
		return v
	}
	return d
}

func credentials(o Options) func() (string, string) {
	if o.Password == nil {
		return nil
	}
	return func() (string, string) { return o.Username, o.Password() }
}

// Do sends one command.
func (n *Node) Do(ctx context.Context, args ...any) (strategies.Reply, error) {
	name := commandName(args)
	if err := n.guard.command(name, args); err != nil {
		return strategies.Reply{}, err
	}
	return n.send(ctx, name, args)
}

// Eval runs a script by its digest, and by its text where the server does not know it yet.
func (n *Node) Eval(ctx context.Context, s *strategies.Script, keys []string, args ...any) (strategies.Reply, error) {
	if err := n.guard.keys("evalsha", keys); err != nil {
		return strategies.Reply{}, err
	}
	r, err := n.send(ctx, "evalsha", evalArgs("evalsha", n.sha(s), keys, args))
	var refused *strategies.ServerError
	if errors.As(err, &refused) && refused.Code == "NOSCRIPT" {
		r, err = n.send(ctx, "eval", evalArgs("eval", s.Lua, keys, args))
	}
	if err == nil && s.Inner != nil {
		n.inner.Add(int64(s.Inner(r)))
	}
	return r, err
}

func evalArgs(command string, script any, keys []string, args []any) []any {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, command, script, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	return append(all, args...)
}

// sha is the digest of a script as an argument, so that it is boxed once.
func (n *Node) sha(s *strategies.Script) any {
	if v, ok := n.shas.Load(s); ok {
		return v
	}
	v, _ := n.shas.LoadOrStore(s, redis.NewScript(s.Lua).Hash())
	return v
}

func (n *Node) send(ctx context.Context, name string, args []any) (strategies.Reply, error) {
	n.count(name)
	v, err := n.client.Load().Do(ctx, args...).Result()
	switch {
	case err == nil:
		return reply(v), nil
	case errors.Is(err, redis.Nil):
		return strategies.Reply{}, nil
	}
	n.errs.Add(1)
	return strategies.Reply{}, serverError(err)
}

// serverError tells a refusal, which did nothing, from everything else, which may have done something.
func serverError(err error) error {
	var refused redis.Error
	if !errors.As(err, &refused) {
		return err
	}
	message := refused.Error()
	code, _, _ := strings.Cut(message, " ")
	return &strategies.ServerError{Code: code, Message: message}
}

func reply(v any) strategies.Reply {
	switch v := v.(type) {
	case nil:
		return strategies.Reply{}
	case int64:
		return strategies.Reply{Kind: strategies.Int, Int: v}
	case string:
		return strategies.Reply{Kind: strategies.Text, Text: v}
	case []any:
		list := make([]strategies.Reply, len(v))
		for i, e := range v {
			list[i] = reply(e)
		}
		return strategies.Reply{Kind: strategies.List, List: list}
	default:
		return strategies.Reply{Kind: strategies.Text, Text: fmt.Sprint(v)}
	}
}

func commandName(args []any) string {
	if len(args) == 0 {
		return ""
	}
	switch name := args[0].(type) {
	case string:
		return name
	default:
		return fmt.Sprint(name)
	}
}

func (n *Node) count(name string) {
	c, ok := n.counts.Load(name)
	if !ok {
		c, _ = n.counts.LoadOrStore(name, new(atomic.Int64))
	}
	c.(*atomic.Int64).Add(1)
}

// Traffic is what was sent through this Node so far.
func (n *Node) Traffic() strategies.Traffic {
	t := n.pool()
	t.Commands, t.Inner, t.Errors, t.Bytes = map[string]int64{}, n.inner.Load(), n.errs.Load(), n.bytes.Load()
	n.counts.Range(func(name, c any) bool {
		t.Commands[strings.ToLower(name.(string))] += c.(*atomic.Int64).Load()
		return true
	})
	return t
}

// dials is how many connections Warm opens at the same time.
const dials = 16

// Warm opens conns connections, at most the pool's size, and loads scripts, so that neither is part of a measurement.
func (n *Node) Warm(ctx context.Context, conns int, scripts []*strategies.Script) error {
	for _, s := range scripts {
		if err := n.client.Load().ScriptLoad(ctx, s.Lua).Err(); err != nil {
			return fmt.Errorf("load script %s: %w", s.Name, err)
		}
	}
	return n.openConnections(ctx, min(conns, n.size))
}

// openConnections holds each connection until all are open: one that is given back would be handed out again. It opens
// none after a failure: a server that does not answer would be waited for hundreds of times.
func (n *Node) openConnections(ctx context.Context, want int) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	var failure atomic.Pointer[error]
	conns := make([]*redis.Conn, want)
	for range min(dials, want) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < want && failure.Load() == nil; i = int(next.Add(1)) - 1 {
				conns[i] = n.client.Load().Conn()
				if err := conns[i].Ping(ctx).Err(); err != nil {
					failure.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
	if err := failure.Load(); err != nil {
		return fmt.Errorf("open %d connections to %s: %w", want, n.client.Load().Options().Addr, *err)
	}
	return nil
}

// Close closes all connections.
func (n *Node) Close() error { return n.client.Load().Close() }

var _ strategies.Node = (*Node)(nil)
var _ io.Closer = (*Node)(nil)
