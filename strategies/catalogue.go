package strategies

import "time"

// Shape a strategy needs: a number of keyspaces, or none.
const (
	NeedsNothing     = "-"
	NeedsSingle      = "single"      // one keyspace
	NeedsIndependent = "independent" // N keyspaces that share nothing
	NeedsReplicated  = "replicated"
)

// Excludes is the promise of an entry.
const (
	ExcludesNone    = "none"
	ExcludesProcess = "process" // inside one process
	ExcludesServer  = "server"  // among all clients of the servers
)

// Options of a strategy as read from a scenario: time.Duration, float64 (ratios), int, string or bool.
type Options map[string]any

// OptionKind says how the text of an option is read.
type OptionKind string

const (
	KindDuration OptionKind = "duration" // time.Duration
	KindRatio    OptionKind = "ratio"    // float64; 1% or 0.01
	KindInt      OptionKind = "int"      // int
	KindEnum     OptionKind = "enum"     // string
	KindBool     OptionKind = "bool"     // bool
)

// Option describes one option of a catalogue entry.
type Option struct {
	Name, Doc string
	Kind      OptionKind
	Default   string   // as written in a scenario; "" where a rule of the Doc applies
	Enum      []string // for KindEnum
	Min, Max  float64  // inclusive bounds: nanoseconds for durations, plain otherwise; both 0: unbounded
}

// Entry is one strategy of the catalogue.
type Entry struct {
	Name, Doc string
	Needs     string   // NeedsNothing, NeedsSingle, ...
	Excludes  string   // ExcludesNone, ExcludesProcess, ExcludesServer
	Compares  bool     // release checks the owner
	Expires   bool     // the key has a TTL from its first command
	Renews    bool     // the session wraps the work in Hold
	Native    bool     // implements Blocker
	Survives  []string // fault kinds under which exclusion is promised
	Options   []Option
	New       func(Env, Options) (Locker, error)
}

// RenewEvery is the renewal interval of an entry's lease: the option `every`, else a third of the TTL.
func RenewEvery(o Options, ttl time.Duration) time.Duration {
	if d, ok := o["every"].(time.Duration); ok && d > 0 {
		return d
	}
	return ttl / 3
}
