// Package bench runs trials: it joins load, retry, strategy and topology into sessions, records what they do, and
// measures what that cost. A trial is warm-up, measurement, drain, audit, cleaning; its result is plain data.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/check"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/strategies/retry"
	"github.com/lockbench/lockbench/topologies"
)

// collectEvery is how often the collector empties the recorder: seldom enough to cost nothing, often enough that
// buffers stay small.
const collectEvery = 50 * time.Millisecond

// grace is the most that sessions under way get once a trial must end: who has interrupted a run is waiting.
const grace = 5 * time.Second

// Trial is one measurement of one point on a running topology.
type Trial struct {
	Run      string // id; all keys begin with lockbench:<run>:
	Scenario string
	Point    scenarios.Point
	Number   int // of the point, from 1
	Order    int // in the run, from 1
	Seed     uint64
	Clock    clock.Clock
	Topology *topologies.Topology
	Idle     []*float64   // CPU of each server without load, in cores
	Began    time.Time    // wall-clock fact
	Ops      io.Writer    // every Op as a JSON line; nil: none
	Progress func(Moment) // once a second; nil: nobody listens
	HLog     io.Writer    // the histogram log
}

// Moment is what a running trial shows.
type Moment struct {
	Elapsed, Total time.Duration // of warm-up and measurement
	InFlight       int
	Second         results.Second // the last whole second of the measured window
}

// TargetError: the servers under test failed, so that the run must end.
type TargetError struct{ Err error }

func (e *TargetError) Error() string { return "target failed: " + e.Err.Error() }
func (e *TargetError) Unwrap() error { return e.Err }

// Measure runs the trial. When ctx ends no further session starts, those under way are drained, and what was measured
// is a valid partial trial. The error is a *TargetError when the servers failed; the trial holds what was measured.
func (t *Trial) Measure(ctx context.Context) (results.Trial, error) {
	r := &running{Trial: t}
	if err := r.prepare(ctx); err != nil {
		return results.Trial{}, err
	}
	if os.Getenv("GOGC") == "" { // who sets it knows better
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	r.execute(ctx)
	return r.conclude(ctx)
}

// gcPercent makes the garbage collector run a third as often as by default while a trial runs: its work and its pauses
// are the harness's, not the lock's. The live heap of ten thousand sessions still stays below 300 MB.
const gcPercent = 300

// running is a trial while it runs.
type running struct {
	*Trial
	entry  strategies.Entry
	work   *workload
	plan   load.Plan
	tally  *tally
	length time.Duration // warm-up and measurement

	stop    context.CancelFunc // of the schedule
	kill    context.CancelFunc // of the sessions
	failure atomic.Pointer[TargetError]

	measuring bool // the measured window was reached
	before    []serverReading
	after     []serverReading
	client    [2]clientReading
	watch     *watch
	late      *results.Histogram        // how late the collector's waits ended
	unaudited bool                      // the servers did not tell which keys are left
	paused    *metrics.Float64Histogram // GC pauses at the last tick
	ended     time.Duration             // end of the schedule, on the clock
	drained   time.Duration
	open      [4]mean // sessions in flight, by quarter of the measured window
}

// measured is the length of the measured window.
func measured(s *scenarios.Scenario) time.Duration { return s.Phases.Measure }

// prepare builds everything, so that nothing is left to fail once sessions start.
func (r *running) prepare(ctx context.Context) error {
	s := r.Point.Scenario
	var err error
	if r.tally, err = newTally(r.Trial); err != nil {
		return err
	}
	r.entry, _ = strategies.Find(r.Point.Strategy.Name)
	if r.work, err = r.compile(); err != nil {
		return err
	}
	if r.plan, err = plan(s, r.Seed); err != nil {
		return err
	}
	r.length = s.Phases.Warmup + measured(s)
	r.late = results.NewHistogram(results.DefaultRange)
	for _, server := range r.Topology.Servers {
		if err := r.pool(ctx, server); err != nil {
			return err
		}
	}
	if !r.simulated() {
		runtime.GC() // each trial starts with the same heap
	}
	return ctx.Err()
}

// pool brings the connections into the state that the scenario asks for, whatever the trial before has left.
func (r *running) pool(ctx context.Context, s topologies.Server) error {
	if r.Point.Scenario.Client.Open == onDemand {
		if err := s.Cold(); err != nil {
			return fmt.Errorf("close connections to %s: %w", s.Name, err)
		}
		return nil
	}
	if err := s.Warm(ctx, PoolSize(r.Point.Scenario), r.entry.Scripts); err != nil {
		return &TargetError{err}
	}
	return nil
}

// onDemand is the value of client.open for a pool that is not opened before.
const onDemand = "on-demand"

// lead lets everything that runs beside the sessions start before them.
const lead = 20 * time.Millisecond

// execute runs the sessions and what goes on beside them. Everything is started by the clock, so that it runs in
// virtual time too.
func (r *running) execute(ctx context.Context) {
	beside, end := r.Clock.WithCancel(context.WithoutCancel(ctx))
	schedule, stop := r.Clock.WithCancel(ctx)
	life, kill := r.Clock.WithCancel(beside)
	defer kill()
	r.stop, r.kill, r.work.life, r.work.beyond = stop, kill, life, context.WithoutCancel(life)
	r.work.start = r.Clock.Now() + lead
	r.watch = newWatch(r.Trial, r.work.start+r.tally.from, r.fail)

	running, done := r.Clock.WithCancel(beside)
	g := r.Clock.NewGroup()
	g.Go(func() { r.watch.run(beside) })
	g.Go(func() { r.bound(schedule, beside) })
	g.Go(func() {
		defer done()
		r.plan(schedule, r.Clock, r.work.start, r.work.session)
		r.drain(life)
	})
	r.collect(schedule, running)
	end()
	stop()
	g.Wait()
}

// drain waits for what a strategy still has under way. What it leaves the audit counts.
func (r *running) drain(life context.Context) {
	if d, ok := r.work.locker.(strategies.Drainer); ok {
		ctx, cancel := r.Clock.WithTimeout(life, releaseTimeout)
		defer cancel()
		_ = d.Drain(ctx)
	}
}

// forever is longer than any trial.
const forever = 1000 * time.Hour

// bound ends the sessions of a schedule that was stopped, if their own limits do not.
func (r *running) bound(schedule, beside context.Context) {
	_ = r.Clock.Sleep(schedule, forever)
	if r.Clock.Sleep(beside, min(r.Point.Scenario.Lock.AcquireTimeout, grace)) == nil {
		r.kill()
	}
}

// fail ends the schedule because the servers failed; the first reason stays.
func (r *running) fail(err error) {
	failure := &TargetError{err}
	if r.failure.CompareAndSwap(nil, failure) {
		r.stop()
	}
}

// collect empties the recorder until all sessions have ended, reads counters at the window's start and end, and cuts
// the seconds. schedule has ended where no further session starts, running where all have ended. How late its own
// waits end is what the harness adds to everything: the timer lateness.
func (r *running) collect(schedule, running context.Context) {
	var b batch
	for next := r.Clock.Now() + collectEvery; clock.SleepUntil(running, r.Clock, next) == nil; next += collectEvery {
		now := r.Clock.Now()
		r.late.Record(now - next)
		next = max(next, now-collectEvery) // a stall is one late wait, not many
		if opens := r.work.start + r.tally.from; next < opens && next+collectEvery > opens {
			next = opens - collectEvery // the counters are to be read when the window opens
		}
		r.take(&b)
		r.phase(schedule, b.open)
	}
	r.drained = r.Clock.Now()
	r.after, _ = readServers(schedule, r.Clock, r.Topology.Servers)
	r.client[1] = r.readClient()
	r.take(&b)
}

func (r *running) take(b *batch) {
	r.work.recorder.take(b)
	r.tally.add(b, r.work.start)
	if r.tally.failing >= failuresInARow {
		r.fail(fmt.Errorf("%d sessions in a row ended with: %s", r.tally.failing, r.tally.failure))
	}
}

// failuresInARow is how many sessions end with an error, none between them without, before the target counts as failed.
const failuresInARow = 200

// phase does what is due at this moment of the trial.
func (r *running) phase(schedule context.Context, open int) {
	at := r.Clock.Now() - r.work.start
	if !r.measuring && at >= r.tally.from {
		r.measuring = true
		r.before, _ = readServers(schedule, r.Clock, r.Topology.Servers)
		r.client[0] = r.readClient()
		r.paused = r.client[0].runtime[1]
	}
	for next := r.tally.now.at + second; r.measuring && at >= next; next += second {
		r.tally.tick(next, open, r.pause())
		r.show(at, open)
	}
	if at < r.tally.to && schedule.Err() == nil {
		r.ended = r.Clock.Now()
		if r.measuring {
			r.open[min(4*(at-r.tally.from)/(r.tally.to-r.tally.from), 3)].add(float64(open))
		}
	}
}

// mean of numbers as they come.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

func (m mean) value() float64 { return m.sum / float64(max(m.n, 1)) }

// simulated: what this process does says nothing of a trial in virtual time, and differs from run to run.
func (r *running) simulated() bool { return r.Topology.Provider == topologies.Virtual }

// readClient is the generator's state now; nothing of it where the trial is simulated.
func (r *running) readClient() clientReading {
	if r.simulated() {
		return clientReading{at: r.Clock.Now()}
	}
	return readClient(r.Clock)
}

// pause is the longest pause of the garbage collector since the last call.
func (r *running) pause() *float64 {
	if r.simulated() {
		return nil
	}
	now := readRuntime()
	longest := between(r.paused, now[1]).Max()
	r.paused = now[1]
	return longest
}

func (r *running) show(at time.Duration, open int) {
	if r.Progress == nil || len(r.tally.series) == 0 {
		return
	}
	last := r.tally.series[len(r.tally.series)-1]
	last.RedisCPU = r.watch.now()
	r.Progress(Moment{Elapsed: at, Total: r.length, InFlight: open, Second: last})
}

// conclude judges, audits, cleans and sums up.
func (r *running) conclude(ctx context.Context) (results.Trial, error) {
	f := r.tally.finish(r.drained - r.work.start)
	audit, err := r.audit(ctx)
	r.unaudited = err != nil
	if failure := r.failure.Load(); failure != nil {
		err = failure
	} else if err != nil {
		err = &TargetError{err}
	} else if ctx.Err() == nil {
		err = r.brokenTarget()
	}
	return r.result(ctx, f, audit, err), errors.Join(err, r.tally.err)
}

// auditTimeout bounds the audit of servers that do not answer: a million keys take some seconds.
const auditTimeout = time.Minute

// audit looks for keys that outlived their sessions, and removes them.
func (r *running) audit(ctx context.Context) (check.Aftermath, error) {
	a := check.Aftermath{Excludes: r.entry.Excludes}
	if r.entry.Excludes != strategies.ExcludesServer {
		return a, nil
	}
	names := r.names()
	ctx, cancel := r.Clock.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	for _, s := range r.Topology.Servers {
		left, err := s.Audit(ctx, names)
		if err != nil {
			return a, err
		}
		remove := make([]string, len(left))
		for i, k := range left {
			remove[i] = k.Name
			if k.TTL < 0 {
				a.ImmortalKeys++
			} else {
				a.OrphanKeys++
			}
		}
		if err := s.Remove(ctx, remove); err != nil {
			return a, err
		}
	}
	return a, nil
}

// names lists every key at the servers that a session can have created.
func (r *running) names() []string {
	var all []string
	namer, many := r.work.locker.(strategies.Namer)
	for _, i := range r.work.touched.members() {
		if key := r.work.name(i); many {
			all = append(all, namer.Names(key)...)
		} else {
			all = append(all, key)
		}
	}
	return all
}

// counted: attempts are, but for those that a lock makes on its own while it blocks.
func (t *Trial) counted() bool {
	entry, ok := retry.Find(t.Point.Retry.Name)
	return ok && entry.Mode != retry.Block
}

// excludes: the strategy promises exclusion, so its history is checked.
func (t *Trial) excludes() bool {
	entry, ok := strategies.Find(t.Point.Strategy.Name)
	return ok && entry.Excludes != strategies.ExcludesNone
}
