package strategies

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

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
	Scripts   []*Script // to load before measuring
	New       func(Env, Options) (Locker, error)
}

// Fault kinds, as scenarios name them, under which an entry may promise exclusion. kill-node means that the node stays
// down: one that comes back empty is restart-node.
const (
	killHolder  = "kill-holder"
	pauseHolder = "pause-holder"
	cancelled   = "cancel-acquire"
	killNode    = "kill-node"
	restartNode = "restart-node"
	pauseNode   = "pause-node"
	slowNode    = "slow-node"
	cutNode     = "cut-node"
	dropReply   = "drop-reply"
	resetConns  = "reset-connections"
	failover    = "failover"
	clockJump   = "clock-jump"
	flushNode   = "flush-node"
	evict       = "evict"
	scriptFlush = "script-flush"
	clientPause = "client-pause"
	killPubsub  = "kill-pubsub"
	foreignSet  = "foreign-set"
)

// Catalogue is all strategies of this package, in the order in which they are explained.
func Catalogue() []Entry {
	lua := []*Script{releaseIfOwner, renewIfOwner}
	// A lock inside one process has no server that could fail.
	noServer := []string{killHolder, pauseHolder, cancelled, killNode, restartNode, pauseNode, slowNode, cutNode, dropReply,
		resetConns, failover, clockJump, flushNode, evict, scriptFlush, clientPause, killPubsub, foreignSet}
	// Without a TTL nothing ends but by DEL; a DEL that is sent again may delete a stranger's lock.
	noTTL := []string{killHolder, pauseHolder, cancelled, killNode, pauseNode, slowNode, cutNode, clockJump, scriptFlush,
		clientPause, killPubsub}
	// A DEL that arrives late deletes a stranger's lock.
	lateDEL := []string{killHolder, cancelled, killNode, scriptFlush, killPubsub}
	// GET and DEL: what is sent again starts from GET.
	checked := []string{killHolder, cancelled, killNode, dropReply, resetConns, scriptFlush, killPubsub}
	// Only the lease's end, the server's memory and its clock are trusted. A holder that is paused beyond Until overruns.
	compared := []string{killHolder, cancelled, killNode, pauseNode, slowNode, cutNode, dropReply, resetConns, scriptFlush,
		clientPause, killPubsub}

	return []Entry{
		{Name: "noop", Doc: "FIFO mutex inside the process, no server: the floor of the harness; waits with `native`",
			Needs: NeedsNothing, Excludes: ExcludesProcess, Compares: true, Native: true, Survives: noServer, New: newNoop},
		{Name: "ping", Doc: "PING to acquire and to release, excludes nobody: the floor of the round trip",
			Needs: NeedsSingle, Excludes: ExcludesNone, New: newPing},
		{Name: "local-mutex", Doc: "one mutex per process: the duplicate coupon, broken as soon as the service runs twice",
			Needs: NeedsNothing, Excludes: ExcludesProcess, Compares: true, Native: true, Survives: noServer, New: newLocalMutex},
		{Name: "setnx", Doc: "SETNX; DEL. No TTL: a dead holder's lock is held for ever",
			Needs: NeedsSingle, Excludes: ExcludesServer, Survives: noTTL, New: newSetnx},
		{Name: "setnx-expire", Doc: "SETNX, then EXPIRE; DEL. A crash between the two leaves a lock without a TTL",
			Needs: NeedsSingle, Excludes: ExcludesServer, Survives: lateDEL, New: newSetnxExpire},
		{Name: "set-px-del", Doc: "SET NX PX; DEL. A late release deletes somebody else's lock",
			Needs: NeedsSingle, Excludes: ExcludesServer, Expires: true, Survives: lateDEL, New: newSetPXDel},
		{Name: "set-px-check-del", Doc: "SET NX PX; GET, compare, DEL. The race between GET and DEL",
			Needs: NeedsSingle, Excludes: ExcludesServer, Compares: true, Expires: true, Survives: checked, New: newSetPXCheckDel},
		{Name: "set-px-lua", Doc: "SET NX PX; compare-and-delete in Lua: the standard answer",
			Needs: NeedsSingle, Excludes: ExcludesServer, Compares: true, Expires: true, Survives: compared, Scripts: lua,
			Options: []Option{{Name: "delex", Doc: "release with DELEX instead of Lua; needs Redis 8.4", Kind: KindBool, Default: "false"}},
			New:     newSetPXLua},
		{Name: "watchdog", Doc: "a base whose lease is renewed while the work runs",
			Needs: NeedsSingle, Excludes: ExcludesServer, Compares: true, Expires: true, Renews: true, Survives: compared, Scripts: lua,
			Options: []Option{
				{Name: "base", Doc: "what is renewed; redlock needs shape independent", Kind: KindEnum, Default: "set-px-lua",
					Enum: []string{"set-px-lua", "set-px-check-del", "redlock", "sharded"}},
				{Name: "every", Doc: "time between renewals; the default is a third of the TTL", Kind: KindDuration,
					Min: float64(time.Millisecond), Max: float64(24 * time.Hour)}},
			New: newWatchdog},
		{Name: "redlock", Doc: "quorum over N independent nodes",
			Needs: NeedsIndependent, Excludes: ExcludesServer, Compares: true, Expires: true, Survives: compared, Scripts: lua,
			Options: []Option{
				{Name: "mode", Doc: "wait for all nodes side by side, return at the quorum, or ask one after the other",
					Kind: KindEnum, Default: waitAll, Enum: []string{waitAll, atQuorum, sequential}},
				{Name: "node_timeout", Doc: "time limit of one command to one node; the default is a twentieth of the TTL, at most 50ms",
					Kind: KindDuration, Min: float64(time.Millisecond), Max: float64(time.Minute)},
				{Name: "drift", Doc: "share of the TTL by which clocks may part; 2 ms are taken off beside it",
					Kind: KindRatio, Default: "1%", Min: 0, Max: 0.5},
				{Name: "base", Doc: "the lock on each node", Kind: KindEnum, Default: "set-px-lua", Enum: []string{"set-px-lua"}}},
			New: newRedlock},
		{Name: "sharded", Doc: "a base over S stripes: up to S holders of one logical key",
			Needs: NeedsSingle, Excludes: ExcludesServer, Compares: true, Expires: true, Survives: compared, Scripts: lua,
			Options: []Option{
				{Name: "shards", Doc: "number of stripes", Kind: KindInt, Default: "8", Min: 1, Max: 4096},
				{Name: "pick", Doc: "how an attempt chooses its stripe", Kind: KindEnum, Default: pickRandom,
					Enum: []string{pickRandom, pickHash, pickLeastOf2}},
				{Name: "base", Doc: "the lock of a stripe", Kind: KindEnum, Default: "set-px-lua",
					Enum: []string{"set-px-lua", "set-px-check-del"}}},
			New: newSharded},
	}
}

// Find is the entry of a name.
func Find(name string) (Entry, bool) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}

// New builds a strategy by name. It refuses options that the entry does not have, values of another type or out of
// bounds.
func New(name string, e Env, o Options) (Locker, error) {
	entry, ok := Find(name)
	if !ok {
		return nil, fmt.Errorf("there is no strategy %q", name)
	}
	if err := entry.Check(o); err != nil {
		return nil, err
	}
	return entry.New(e, o)
}

// NeedsWith is Needs with the options o: a watchdog needs what its base does.
func (e Entry) NeedsWith(o Options) string {
	base, ok := Find(option(o, "base", ""))
	if ok && e.Needs == NeedsSingle {
		return base.Needs
	}
	return e.Needs
}

// Check says what is wrong with the options of an entry.
func (e Entry) Check(o Options) error {
	for name, value := range o {
		i := slices.IndexFunc(e.Options, func(x Option) bool { return x.Name == name })
		if i < 0 {
			return fmt.Errorf("strategy %q has no option %q", e.Name, name)
		}
		if err := e.Options[i].check(value); err != nil {
			return fmt.Errorf("strategy %q: option %s: %w", e.Name, name, err)
		}
	}
	return nil
}

func (x Option) check(value any) error {
	var number float64
	ok := false
	switch x.Kind {
	case KindDuration:
		var d time.Duration
		d, ok = value.(time.Duration)
		number = float64(d)
	case KindRatio:
		number, ok = value.(float64)
	case KindInt:
		var n int
		n, ok = value.(int)
		number = float64(n)
	case KindBool:
		_, ok = value.(bool)
	case KindEnum:
		var s string
		if s, ok = value.(string); ok && !slices.Contains(x.Enum, s) {
			return fmt.Errorf("%q is none of %s", s, strings.Join(x.Enum, ", "))
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("%v is not of kind %s", value, x.Kind)
	case x.Max > 0 && !(x.Min <= number && number <= x.Max):
		return fmt.Errorf("%v is out of bounds", value)
	}
	return nil
}

// option is the value of an option, or d where it is not given.
func option[T any](o Options, name string, d T) T {
	if v, ok := o[name].(T); ok {
		return v
	}
	return d
}

// RenewEvery is the renewal interval of an entry's lease: the option `every`, else a third of the TTL.
func RenewEvery(o Options, ttl time.Duration) time.Duration {
	if d, ok := o["every"].(time.Duration); ok && d > 0 {
		return d
	}
	return ttl / 3
}
