// Package strategies holds the lock algorithms: one file and its Lua each, all behind Locker. A strategy makes one
// attempt; it never waits for a held lock and never retries (strategies/retry does). It takes time, randomness and
// concurrency as arguments, so that the same code runs on real servers and in virtual time.
//
// A service may import this package, strategies/retry and strategies/goredis and use the measured lock itself.
package strategies

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// Locker is one lock algorithm bound to its servers. It is safe for concurrent use and keeps no state between
// attempts except what its doc comment names.
type Locker interface {
	// Acquire makes one attempt. ErrHeld: certainly not acquired. A *ServerError: the server refused the command,
	// nothing was done there. Any other error: unknown, the lock may have been taken.
	Acquire(ctx context.Context, r Request) (Lease, error)
	// Renew extends l by its TTL and returns the extended lease. ErrLost: certainly no longer ours.
	Renew(ctx context.Context, l Lease) (Lease, error)
	// Release gives l up. It is safe for a lease that was never granted. The error is nil when the outcome is known.
	Release(ctx context.Context, l Lease) (Outcome, error)
}

// Watcher is implemented by a Locker that can hear when another attempt is worthwhile.
type Watcher interface {
	Watch(ctx context.Context, r Request) (Watch, error)
}

// Watch is one waiter's subscription. Next returns nil when an attempt is worthwhile or after atMost.
type Watch interface {
	Next(ctx context.Context, atMost time.Duration) error
	Close()
}

// Blocker is implemented by a Locker that waits by its own means (the `native` retry).
type Blocker interface {
	AcquireWait(ctx context.Context, r Request) (Lease, error)
}

// Namer is implemented by a Locker whose names at the server differ from the key asked for: it lists all of them.
type Namer interface {
	Names(key string) []string
}

// Drainer is implemented by a Locker that may still have commands under way when a method has returned. Drain waits for
// them: before an audit, before a key is counted an orphan, and before the nodes are closed.
type Drainer interface {
	Drain(ctx context.Context) error
}

// Request names the lock wanted, who wants it and for how long.
type Request struct {
	Key   string        // the lock's name at the server
	Owner string        // owner token: 128 random bits, new for every attempt
	TTL   time.Duration // time after which the server forgets the lock; whole milliseconds, at least 1
}

// Lease is a granted lock: a value without a client in it, to be recorded, compared and handed on.
type Lease struct {
	Request
	// Until is the clock reading at which a careful holder stops: first request sent + TTL - drift. Source: Redis
	// documentation, "Distributed Locks with Redis", safety arguments, MIN_VALIDITY.
	Until time.Duration
	// Fence grows with each grant of the key, or is 0 where the strategy issues none.
	Fence uint64
}

// Outcome tells what a release found at the server.
type Outcome uint8

const (
	Unknown  Outcome = iota // the reply was lost: it may or may not have happened
	Released                // the lock was ours and is free now
	Expired                 // nobody held it: the TTL had passed
	Stolen                  // somebody else held it
)

// String is the lower-case name used in results.
func (o Outcome) String() string {
	return [...]string{"unknown", "released", "expired", "stolen"}[o]
}

var (
	// ErrHeld: the attempt certainly did not acquire, because somebody holds the lock.
	ErrHeld = errors.New("lock is held")
	// ErrLost: the lease certainly is no longer ours.
	ErrLost = errors.New("lock is lost")
)

// ServerError is a refusal by a server (READONLY, OOM, NOAUTH, LOADING, ...): the command was certainly not executed.
type ServerError struct {
	Code    string // first word of the reply, as READONLY
	Message string // the whole reply
}

func (e *ServerError) Error() string { return e.Message }

// QuorumError tells why a quorum was not reached. It is ErrHeld if that is certain and somebody else holds a node.
type QuorumError struct {
	Granted, Need int
	Held          int     // nodes on which somebody else held the lock
	Errs          []error // of the nodes that failed otherwise; nil entries are left out
	Certain       bool    // fewer nodes than needed can have granted, whatever became of the requests
}

func (e *QuorumError) Error() string {
	s := fmt.Sprintf("%d of %d nodes needed granted, %d held", e.Granted, e.Need, e.Held)
	for _, err := range e.Errs {
		s += ", " + err.Error()
	}
	return s
}

// Is makes a certain failure ErrHeld.
func (e *QuorumError) Is(target error) bool { return target == ErrHeld && e.Certain && e.Held > 0 }

// Unwrap makes errors.Is see the nodes' errors. One node's refusal says nothing about the quorum: unless the failure
// is certain, a *ServerError is not seen.
func (e *QuorumError) Unwrap() []error {
	var seen []error
	for _, err := range e.Errs {
		if e.Certain || !refused(err) {
			seen = append(seen, err)
		}
	}
	return seen
}

// Node is one keyspace as the strategies need it: a server, a sentinel set or a cluster. An error of type
// *ServerError means that the command was not executed; any other means that it may have been.
type Node interface {
	Do(ctx context.Context, args ...any) (Reply, error)
	Eval(ctx context.Context, s *Script, keys []string, args ...any) (Reply, error)
}

// Script is a Lua script with a name. Inner counts the commands that a run with this reply executed inside
// the server, for the report; nil counts none.
type Script struct {
	Name, Lua string
	Inner     func(Reply) int
}

// Kind of a reply.
type Kind uint8

const (
	Nil Kind = iota
	Int
	Text // bulk or simple string
	List
)

// Reply is a server's answer. The zero value is nil.
type Reply struct {
	Kind Kind
	Int  int64
	Text string
	List []Reply
}

// Traffic counts what was sent through a Node; all numbers only grow.
type Traffic struct {
	Commands  map[string]int64 // top level, by lower-case name
	Inner     int64            // commands inside scripts, by Script.Inner
	Errors    int64            // transport errors and refusals
	Bytes     int64            // both directions, as on the wire
	PoolWaits int64            // commands that waited for a connection
	PoolWait  time.Duration    // how long in sum
}

// Env is what a strategy is built on.
type Env struct {
	Clock       clock.Clock
	Nodes       []Node            // one for `single`, N for `independent`
	Endpoints   map[string]string // for libraries and backends
	Rand        *rand.Rand        // for choices of the Locker; guarded by the Locker if used concurrently
	Drift       float64           // share of the TTL by which clocks may part, as 0.01
	NodeTimeout time.Duration     // of one command to one node of a quorum; 0: the strategy's default
	sabotage    string            // a deliberate fault; see Sabotaged
}

// Validity is the Until of a lease on one node whose first request was sent at asked: asked + ttl - drift x ttl, all but
// drift, a ratio, in units of the clock. A quorum takes off 2 ms more (Redis documentation, Redlock).
func Validity(asked, ttl time.Duration, drift float64) time.Duration {
	return asked + ttl - time.Duration(drift*float64(ttl))
}
