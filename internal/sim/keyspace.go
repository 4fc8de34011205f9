package sim

import (
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// Epoch is the wall-clock time of a simulated server at virtual time 0, in microseconds since 1970. Every server starts
// with it, so that scripts that write TIME into keys write the same bytes in every run.
const Epoch int64 = 1_700_000_000_000_000

// Hooks join a Keyspace to the server around it. Any of them may be nil. They must not call the Keyspace.
type Hooks struct {
	// Publish delivers a message and returns the number of its receivers.
	Publish func(channel, message string) int
	// CPU is what INFO tells as the time that the thread of commands has used.
	CPU func() time.Duration
	// Written hears of each data command that changed something, also inside a script, with the wall clock in
	// microseconds at which it ran. A replica that is given both by Replay holds the same keys with the same ends of
	// their TTLs. The args belong to the Keyspace: copy them to keep them.
	Written func(wall int64, args []string)
	// Pushed hears of each key whose list grew, for clients that wait in BLPOP.
	Pushed func(key string)
}

// Keyspace is what one Redis 7.0 server remembers: its keys, its scripts and its idea of the time. It is synchronous
// and for one goroutine; time is an argument, and stands still during a command or script as in Redis. Keys end lazily,
// at the first access after their end; the ended are invisible to all commands.
//
// It does not wait, connect, queue or charge: that is the node's.
type Keyspace struct {
	Hooks
	Role string // as INFO tells it; empty: master

	entries map[string]*entry
	swept   int // entries after the last sweep
	wall    wall
	us, ms  int64 // wall clock of the command that runs
	dirty   int64 // changes so far
	calls   []int64
	engine  *Engine
	scripts map[string]*script // known to this server, by sha1
	inner   int

	randomness lrand48
}

// entry is one key's value; exactly one of the objects is set, or none for a string.
type entry struct {
	deadline int64 // wall clock in ms after which the key is gone; 0: never
	text     string
	hash     *hash
	list     *list
	set      *sortedSet
}

// NewKeyspace makes an empty server with an interpreter of its own.
func NewKeyspace() *Keyspace { return NewEngine().NewKeyspace() }

// NewKeyspace makes an empty server that shares e, and so may only run when no other server of e does.
func (e *Engine) NewKeyspace() *Keyspace {
	k := &Keyspace{wall: wall{at: Epoch, rate: 1}, calls: make([]int64, len(commandList)), engine: e}
	k.Restart()
	return k
}

// Restart forgets keys and scripts, as a server without persistence does. Its clock goes on.
func (k *Keyspace) Restart() {
	k.entries, k.swept = map[string]*entry{}, 0
	k.scripts, k.randomness = map[string]*script{}, unseeded
}

// CopyKeys makes the keys those of from, as a replica does when it synchronises anew. Scripts are not copied, as in
// Redis.
func (k *Keyspace) CopyKeys(from *Keyspace) {
	k.entries, k.swept = make(map[string]*entry, len(from.entries)), 0
	for key, e := range from.entries {
		k.entries[key] = e.clone()
	}
}

func (e *entry) clone() *entry {
	c := *e
	switch {
	case e.hash != nil:
		c.hash = e.hash.clone()
	case e.list != nil:
		c.list = e.list.clone()
	case e.set != nil:
		c.set = e.set.clone()
	}
	return &c
}

// Do runs one command at virtual time now. An error is a *strategies.ServerError with Redis' text.
func (k *Keyspace) Do(now time.Duration, args ...string) (strategies.Reply, error) {
	return public(k.run(k.wall.read(now), args))
}

// Replay runs a command that another server ran at its wall clock, in microseconds.
func (k *Keyspace) Replay(wall int64, args ...string) (strategies.Reply, error) {
	return public(k.run(wall, args))
}

// Inner is the number of commands that the last command ran inside the server: those of a script.
func (k *Keyspace) Inner() int { return k.inner }

// Now is the server's wall clock at virtual time now, in microseconds since 1970.
func (k *Keyspace) Now(now time.Duration) int64 { return k.wall.read(now) }

// StepClock moves the server's wall clock by d, forwards or backwards, as an administrator or NTP may.
func (k *Keyspace) StepClock(now, d time.Duration) {
	k.wall = wall{since: now, at: k.wall.read(now) + d.Microseconds(), rate: k.wall.rate}
}

// SetClockRate makes the server's wall clock run at rate times virtual time from now on; 1 is the truth.
func (k *Keyspace) SetClockRate(now time.Duration, rate float64) {
	k.wall = wall{since: now, at: k.wall.read(now), rate: rate}
}

// wall is a clock that read at (microseconds) at virtual time since and has run at rate ever since.
type wall struct {
	since time.Duration
	at    int64
	rate  float64
}

func (w wall) read(now time.Duration) int64 {
	passed := (now - w.since).Microseconds()
	if w.rate != 1 {
		passed = int64(float64(passed) * w.rate)
	}
	return w.at + passed
}

func (k *Keyspace) run(wall int64, args []string) reply {
	k.us, k.ms, k.inner = wall, wall/1000, 0
	if len(args) == 0 {
		return fail("ERR simulated server: a command without a name")
	}
	c := lookupCommand(args[0])
	switch {
	case c == nil:
		return notSimulated("command " + args[0])
	case !c.takes(len(args)):
		return wrongArity(c.name)
	}
	return k.call(c, args)
}

// call runs a command whose name and arity are good.
func (k *Keyspace) call(c *command, args []string) reply {
	k.calls[c.index]++
	before := k.dirty
	r := c.run(k, args)
	if k.dirty != before && c.data && k.Written != nil {
		k.Written(k.us, args)
	}
	return r
}

// lookup finds a living key.
func (k *Keyspace) lookup(key string) *entry {
	e := k.entries[key]
	if e == nil || e.deadline == 0 || k.ms <= e.deadline {
		return e
	}
	delete(k.entries, key)
	return nil
}

// put sets key and its TTL anew. Once the number of keys has doubled, it throws out the ended ones that nobody asked
// for; Redis does so in the background.
func (k *Keyspace) put(key string, e *entry) {
	k.entries[key] = e
	if len(k.entries) > 2*k.swept+1024 {
		k.sweep()
	}
}

func (k *Keyspace) sweep() {
	for key, e := range k.entries {
		if e.deadline != 0 && k.ms > e.deadline {
			delete(k.entries, key)
		}
	}
	k.swept = len(k.entries)
}

// remove deletes a living key and tells whether there was one.
func (k *Keyspace) remove(key string) bool {
	if k.lookup(key) == nil {
		return false
	}
	delete(k.entries, key)
	k.dirty++
	return true
}

// Accessors by type: the entry, or nil where there is no key; not ok where the key is of another type.

func (k *Keyspace) text(key string) (e *entry, ok bool) {
	e = k.lookup(key)
	return e, e == nil || e.hash == nil && e.list == nil && e.set == nil
}

func (k *Keyspace) hash(key string) (h *hash, ok bool) {
	if e := k.lookup(key); e != nil {
		return e.hash, e.hash != nil
	}
	return nil, true
}

func (k *Keyspace) list(key string) (l *list, ok bool) {
	if e := k.lookup(key); e != nil {
		return e.list, e.list != nil
	}
	return nil, true
}

func (k *Keyspace) set(key string) (s *sortedSet, ok bool) {
	if e := k.lookup(key); e != nil {
		return e.set, e.set != nil
	}
	return nil, true
}
