// Package topologies says what a deployment is. A Provider turns a Spec into a running Topology; strategies see its
// Keyspaces, while CPU, audit and (later) faults act on its Servers.
package topologies

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// Shapes.
const (
	Single      = "single"
	Independent = "independent"
)

// Providers.
const (
	External  = "external"
	Container = "container"
	Process   = "process"
	Embedded  = "embedded"
	Virtual   = "virtual"
)

// Secret is a password: it prints as *** in every format, JSON and text included.
type Secret string

func (Secret) String() string               { return "***" }
func (Secret) GoString() string             { return "***" }
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// Format covers the verbs that do not ask String, as a mistaken %d.
func (Secret) Format(f fmt.State, _ rune) { io.WriteString(f, "***") }

// Spec is what a run asks a provider for.
type Spec struct {
	Shape          string
	Nodes          int // keyspaces: 1 for single
	Image          string
	CPU            string // container: "25%" of a core as a quota on purpose, or a set of CPUs as "0-1"; "" none
	Config         map[string]string
	Addresses      []string // external
	Username       string
	Password       Secret
	TLS            *TLS
	Run            string // run id: the prefix of all keys is lockbench:<run>:
	PoolSize       int    // connections to each server
	ConnectTimeout time.Duration
	Timeout        time.Duration // of one command where the caller's context has no earlier deadline
	MaxRetries     int           // of the client library; 0 none (a sabotage asks for more)
	Yes            bool          // external: the user agreed to a non-loopback target that holds keys
}

// TLS files of a Spec.
type TLS struct{ CA, Cert, Key, ServerName string }

// Topology is a running deployment.
type Topology struct {
	Shape     string
	Provider  string
	Why       string // why this provider
	Keyspaces []strategies.Node
	Servers   []Server
	Endpoints map[string]string
	Notes     []string // stamps that must show beside every figure
	NoFigures bool     // embedded: not a performance figure
	// RefusesImmortal: strategies whose keys may have no TTL must not run here, because the server is not ours.
	RefusesImmortal bool
	Config          map[string]string
	// Simulate makes this topology anew in a world of its own, for one trial in virtual time; nil: it is real. The
	// Topology itself then has no servers.
	Simulate func(seed uint64) Simulation
	// Check tells which server has died and its last words, or nil while all live.
	Check func(context.Context) error
	Close func(context.Context) error // stops everything that was started; idempotent
}

// Simulation is a fresh topology in virtual time. Run runs main and everything that it starts, and returns when all of
// it has ended; the error says that nothing could go on.
type Simulation struct {
	Clock    clock.Clock
	Topology *Topology
	Run      func(main func()) error
}

// Server is one server of a topology, as measuring and auditing need it.
type Server struct {
	Name    string // as "node-1"
	Address string // host:port
	// Control is a connection of its own, apart from the load's pool.
	Control strategies.Node
	// Now is the clock of round trips; nil: real time.
	Now func() time.Duration
	// Traffic is what this program sent to the server through the topology's keyspaces.
	Traffic func() strategies.Traffic
	// Cold closes all pooled connections, as if the service had just started.
	Cold func() error
	// Warm opens n pooled connections and loads the scripts.
	Warm func(ctx context.Context, n int, scripts []*strategies.Script) error
}

// Sample of a server's counters; all cumulative.
type Sample struct {
	CPU     *time.Duration   // main thread, user + system; nil: the server does not tell (embedded)
	Calls   map[string]int64 // commandstats, lower-case names; nil: not told
	Version string           // "redis 7.0.15"
	Role    string           // master, slave
	Policy  string           // maxmemory-policy
	Keys    int64
}

// Key found by an audit.
type Key struct {
	Name string
	TTL  time.Duration // negative: none
}

// Provider starts topologies.
type Provider interface {
	Name() string
	// Can says why it cannot serve s here, or nil. It starts nothing.
	Can(ctx context.Context, s Spec) error
	// Start brings s up, ready for clients. What it started is stopped again if it fails.
	Start(ctx context.Context, s Spec) (*Topology, error)
}
