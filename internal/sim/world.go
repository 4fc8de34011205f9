// Package sim is a world of its own: a clock that jumps from event to event, the processes that live by it, and the
// servers and networks that they talk to. The code that runs in it is the code that runs against real servers; it
// takes its time, its waits and its concurrency from a clock.Clock, and here that is World.Clock.
//
// # Order
//
// Exactly one process runs at a time, and it runs until it waits. Time stands still meanwhile; it moves, to the
// earliest event, when all processes wait. Events come in the order of their time, and those of one moment in the
// order in which they were scheduled: a timer when it was set, a wake-up when what was waited for happened, a new
// process when it was started. So a timer that was set earlier for this moment comes before anybody who is woken in
// it. A deadline has passed once the clock reads it, for all who ask in that moment: a sleep that ends with its
// deadline reports the deadline. Nothing depends on the machine's clock, on its scheduler or on shared randomness:
// equal seeds make equal runs.
//
// # Means
//
// A process is a coroutine of iter.Pull. Handing a baton from goroutine to goroutine over channels was measured at
// 320 to 650 ns for a change of process and iter.Pull at 150 ns, with one thread or two.
//
// Contexts come from the clock. One of package context that stands in between is noticed like one from outside: once
// in some thousand events. Channels, mutexes and timers of the machine stop the world while they are waited for.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/strategies/clock"
)

// Reasons for a run that did not end by itself. They come wrapped with the moment and with who waited where.
var (
	// ErrDeadlock: every process waits, and nothing is due that could wake one.
	ErrDeadlock = errors.New("deadlock")
	// ErrStandstill: events follow each other and time does not move. A client that never has to wait does this.
	ErrStandstill = errors.New("time stands still")
	// ErrTooManyEvents: World.MaxEvents has passed.
	ErrTooManyEvents = errors.New("too many events")
)

// epoch is the date of the clock reading 0, here and at every server. It is the same in every run.
var epoch = time.UnixMicro(1_700_000_000_000_000).UTC()

// standstill is the default of MaxStandstill: a second's work, and far beyond what clients do in one moment.
const standstill = 10_000_000

// glance is how many events pass between two looks at the limits and at the contexts from outside.
const glance = 4096

// never is the deadline of a context that has none.
const never = time.Duration(math.MaxInt64)

// World is one simulation. It belongs to the goroutine that calls Run.
type World struct {
	MaxEvents     uint64 // over all runs; 0: no limit. Limits are looked at every few thousand events
	MaxStandstill uint64 // events in one moment, sleeps of no length among them

	seed   uint64
	now    time.Duration
	agenda agenda
	events uint64 // that have happened
	moved  uint64 // of them, before time moved last
	look   uint64 // at which to look at limits and outside contexts

	running   bool
	current   *process   // nil: none, or a callback
	processes []*process // in no order; each knows its place
	idle      []*process // coroutines without work
	born      uint64
	outside   outside

	stopping bool  // processes are being unwound
	halted   error // a limit has passed
	over     error // the world has ended before its processes
}

// NewWorld is a simulation at time 0. All randomness in it comes from seed.
func NewWorld(seed uint64) *World {
	return &World{MaxStandstill: standstill, seed: seed, look: glance}
}

// Clock is the world's time for code that also runs in real time.
func (w *World) Clock() clock.Clock { return w }

// Now is the time since the world began.
func (w *World) Now() time.Duration { return w.now }

// Date is the date of a clock reading.
func (w *World) Date(at time.Duration) time.Time { return epoch.Add(at) }

// Events is how many events have happened: what was due, and sleeps of no length.
func (w *World) Events() uint64 { return w.events }

// Stream is the random stream of one purpose and one index within it; see load.Stream.
func (w *World) Stream(purpose string, index uint64) *rand.Rand {
	return load.Stream(w.seed, purpose, index)
}

// Run runs main as the first process and returns when it and all processes it led to have ended. Callbacks that are
// still due then stay due: a later Run goes on from here.
//
// The error wraps ErrDeadlock, ErrStandstill or ErrTooManyEvents. Before Run returns it, every process is unwound: its
// deferred calls run, and whichever of them waits ends there. A panic in a process or a callback ends the world in
// the same way and goes on in the caller, and so does runtime.Goexit.
func (w *World) Run(main func()) error {
	if w.running {
		panic("sim: Run inside a run")
	}
	if w.over != nil {
		return w.over
	}
	w.running = true
	w.over = errors.New("a process panicked or left its goroutine") // until more is known
	defer w.close()
	w.start(main, nil)
	w.over = w.loop()
	return w.close()
}

// loop lets events happen until no process is left.
func (w *World) loop() error {
	for len(w.processes) > 0 && w.halted == nil {
		e, due := w.agenda.pop()
		switch {
		case due:
			w.advance(e.at)
			w.step()
			e.what.happen()
		case !w.lookOutside():
			return ErrDeadlock
		}
	}
	return w.halted
}

func (w *World) advance(to time.Duration) {
	if to > w.now {
		w.now, w.moved = to, w.events
	}
}

// step counts an event.
func (w *World) step() {
	if w.events++; w.events >= w.look {
		w.look = w.events + glance
		w.halted = w.exceeded()
		w.lookOutside()
	}
}

func (w *World) exceeded() error {
	switch {
	case w.MaxEvents > 0 && w.events > w.MaxEvents:
		return ErrTooManyEvents
	case w.events-w.moved > w.MaxStandstill:
		return fmt.Errorf("%w: %d events in one moment", ErrStandstill, w.events-w.moved)
	}
	return nil
}

// close ends whatever is left of a run, and completes its error with what was found doing so.
func (w *World) close() error {
	if !w.running {
		return w.over
	}
	found := w.unwind()
	if w.over != nil {
		w.agenda = agenda{}
		w.over = fmt.Errorf("sim: at %v, after %d events: %w%s", w.now, w.events, w.over, found)
	}
	w.running = false
	return w.over
}

// Sleep waits for d, or until ctx ends. A d of zero or less returns at once, as on the wall: nobody else runs
// meanwhile. It counts as an event, so that a loop that sleeps for no time ends at MaxStandstill.
func (w *World) Sleep(ctx context.Context, d time.Duration) error {
	p, c := w.self(), w.scope(ctx)
	if err := c.Err(); d <= 0 || err != nil {
		w.step()
		p.obey()
		return err
	}
	at := min(w.after(d), c.until())
	if w.agenda.nothingUntil(at) { // nobody would run before this process does
		w.advance(at)
		w.step()
		p.obey()
		return c.Err()
	}
	c.hold(p)
	p.arm(at)
	p.park("the end of a sleep")
	return c.Err()
}

// after is the moment d from now; what no clock could read becomes the last moment that one can.
func (w *World) after(d time.Duration) time.Duration {
	return w.now + min(max(d, 0), never-1-w.now)
}

// After calls f when d has passed; with a d of zero or less in this moment, after all that is due in it already. f
// runs in no process: it must not wait, and may start, fire, cancel and schedule.
func (w *World) After(d time.Duration, f func()) { w.schedule(w.after(d), call(f)) }

// call is a callback that nothing can stop.
type call func()

func (f call) stands(uint64) bool { return true }
func (f call) happen()            { f() }

// Timer is a callback that can be moved and stopped, any number of times.
type Timer struct {
	world *World
	f     func()
	armed uint64
}

// NewTimer is a timer that is not set. It calls f as After does.
func (w *World) NewTimer(f func()) *Timer { return &Timer{world: w, f: f} }

// Reset sets t to d from now, and to no other time.
func (t *Timer) Reset(d time.Duration) {
	t.Stop()
	t.armed = t.world.schedule(t.world.after(d), t)
}

// Stop reports whether it stopped a call that was due.
func (t *Timer) Stop() bool { return t.world.agenda.drop(&t.armed) }

func (t *Timer) stands(number uint64) bool { return t.armed == number }

func (t *Timer) happen() {
	t.armed = 0
	t.f()
}

// schedule puts an event on the agenda and returns its number.
func (w *World) schedule(at time.Duration, what happening) uint64 {
	return w.agenda.push(at, at <= w.now, what)
}
