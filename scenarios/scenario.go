// Package scenarios says what an experiment is: the types of a scenario file, its strict reading, validation,
// JSON Schema and thresholds, and the library of built-in scenarios. It knows no strategy: names, options and bounds
// come as a Vocabulary.
package scenarios

import (
	"time"
)

// APIVersion is the first key of every scenario file.
const APIVersion = "lockbench/v1"

// Scenario is a resolved scenario file: defaults filled in. Where the file has a matrix, Cells holds the cross
// product and each Cell its own resolved Scenario.
type Scenario struct {
	Name, Question string
	Seed           uint64
	Topology       Topology
	Load           Load
	Client         Client
	Keys           Keys
	Hold           Dist
	Nested         int // re-entries inside a hold; 0: none
	Lock           Lock
	Crash          float64 // share of holders that die while holding: they never release
	Resource       Resource
	Strategies     []Strategy
	Retries        []Retry
	Phases         Phases
	Trials         Trials
	Thresholds     []Threshold
	Faults         []Fault
	Expect         map[string]string // label or label/retry -> verdict
	Baseline       string            // "a-a": the same points once more under another name; "" none
	Matrix         []Axis            // of the file, for writing it back; the cells follow from it
	Exclude        [][]Param         // points to skip: matrix paths, strategy, retry (labels); all of one entry must match
	Cells          []Cell            // at least one
}

// Axis is one line of the matrix: a path and the values it takes, as written.
type Axis struct {
	Path   string
	Values []string
}

// Cell is one combination of the matrix: its coordinates in the order of the file, and the scenario with them set.
type Cell struct {
	Params   []Param
	Scenario *Scenario // its own Matrix, Exclude and Cells are nil
}

// Param is one coordinate, as {"load.open.rate", "100"}. Rates print without "/s".
type Param struct{ Path, Value string }

// Point is one strategy x one retry policy x one cell.
type Point struct {
	Name     string // label / retry label [ / key=value ...], joined by "/" without blanks
	Slug     string // [a-z0-9.+=-], at most 80 characters, unique in the run
	Strategy Strategy
	Retry    Retry
	Topology Topology // of the row, else of the scenario
	Cell     []Param
	Scenario *Scenario // of the cell
}

// Topology of a run or row.
type Topology struct {
	Shape     string // single, independent, replicated, sentinel, cluster, etcd, zookeeper, postgres
	Provider  string // auto, container, process, embedded, external, virtual
	Image     string
	Nodes     int // of `independent`; 1 for single
	Replicas  int
	CPU       string // container: "25%" asks for a quota
	Config    map[string]string
	Addresses []string
	Auth      Auth
	TLS       *TLS
}

// Auth names a user and where the password is. The password itself is never in a Scenario.
type Auth struct {
	Username     string
	PasswordFrom string // env:NAME or file:PATH; "" none
}

// TLS of an external server.
type TLS struct{ CA, Cert, Key, ServerName string }

// Load is open or closed, exactly one.
type Load struct {
	Open        *Open
	Closed      *Closed
	Bursts      *Bursts // on top of open
	MaxInFlight int     // open: beyond it arrivals are dropped and counted
	Processes   int
}

// Open loop: arrivals do not wait for earlier sessions.
type Open struct {
	Rate     float64 // per second; 0 where Stages are given
	Arrivals string  // constant, poisson
	Stages   []Stage
}

// Stage of an open load; From == To but on a ramp.
type Stage struct {
	From, To float64 // per second
	For      time.Duration
}

// Closed loop: fixed clients that think between sessions.
type Closed struct {
	Clients int
	Think   Dist
}

// Bursts add Size arrivals, spread evenly within Within, every Every.
type Bursts struct {
	Every  time.Duration
	Size   int
	Within time.Duration
}

// Client library and mode: a dimension, never mixed unseen.
type Client struct {
	Library string // go-redis, rueidis
	Mode    string // pooled, multiplexed
	Open    string // before, on-demand
}

// Keys that are locked.
type Keys struct {
	Count      int
	Popularity Popularity
}

// Popularity of keys: uniform, zipf (exponent S over ranks 1..Count) or hot (a share of keys takes a share of ops).
type Popularity struct {
	Kind    string // uniform, zipf, hot
	S       float64
	HotKeys float64 // share of keys
	HotOps  float64 // share of sessions
}

// Dist is a distribution of durations as the file names it, in terms of what people know.
type Dist struct {
	Kind string                   // constant, uniform, exponential, lognormal, pareto, mixture
	Args map[string]time.Duration // constant: value; uniform: min, max; exponential: mean; lognormal: p50 and p99 (or mean and p99); pareto: min and p99
	Mix  []Weighted               // of mixture
}

// Weighted is one part of a mixture; shares add up to 1.
type Weighted struct {
	Share float64
	Dist  Dist
}

// Lock settings.
type Lock struct {
	TTL            time.Duration
	AcquireTimeout time.Duration
	MaxLease       time.Duration // cap of renewal; 0: none
	ConnectTimeout time.Duration
	ReleaseRetries int
}

// Resource that the lock protects.
type Resource struct {
	Kind    string // none, counter, postgres
	Fenced  bool
	Rows    []string // labels that present their fencing token; empty with Fenced: all that have one
	Address string
	Auth    Auth
}

// Strategy is a row: a name with its options.
type Strategy struct {
	Name     string
	Label    string         // `as`, else the name
	Options  map[string]any // typed as the Vocabulary says: time.Duration, float64, int, string, bool
	Sabotage string
	On       *Topology // the row's own topology
}

// Retry is a policy with its limits.
type Retry struct {
	Name        string         // fail-fast, fixed, ..., native, or a preset
	Label       string         // `as`, else derived from the name and, where two share it, an error
	Args        map[string]any // durations, ints, and []RetryStage for `stages`
	MaxAttempts int            // 0: no limit
	Within      time.Duration  // 0: no limit
}

// RetryStage of the policy `stages`: Wait, Times times; the last repeats.
type RetryStage struct {
	Wait  time.Duration
	Times int
}

// Phases of a trial.
type Phases struct{ Warmup, Measure, Tail time.Duration }

// Trials of a point: Count, or until the interval of the headline is within Until (share), at most Max.
type Trials struct {
	Count int
	Until float64
	Max   int
}

// Fault is one injected fault, triggered by time or by what happens.
type Fault struct {
	Kind      string
	At        time.Duration
	When      *When
	Node      int
	Process   int
	Direction string
	By        time.Duration
	For       time.Duration
}

// When is the trigger of a fault: a command at a node, or a process that holds.
type When struct {
	Command string
	Nth     int
	Side    string // request, reply
	Process int
	Holding bool
}

// Threshold is `[label[/retry] ":"] metric op number[unit]`.
type Threshold struct {
	Text   string // as written
	Scope  string // "" all points; label or label/retry
	Metric string
	Op     string  // < <= > >= == !=
	Value  float64 // in the metric's unit
}
