package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/internal/check"
	"github.com/lockbench/lockbench/results"
)

// second is the length of an interval of the log and the series.
const second = time.Second

// tally sums up what sessions report: histograms of the whole and of each second, counts, the checker's sweep. Only
// the collector uses it. Its memory grows by a line a second, not with the number of sessions.
type tally struct {
	from, to time.Duration // sessions intended in [from, to) count
	upTo     time.Duration // range of the histograms
	label    string        // of the log's tags

	counts                                      results.Counts
	causes                                      map[string]int64 // of everything that failed
	sessionCauses, releaseCauses, renewalCauses map[string]int64
	attempts                                    results.AttemptCounts
	perClient                                   map[int32]int64 // acquired, closed loop
	whole                                       timings         // of the seconds that have ended
	now                                         interval        // the second that is being filled
	series                                      []results.Second
	lines                                       *results.LogWriter
	err                                         error        // of the log
	sweep                                       *check.Sweep // nil: the strategy promises no exclusion
	order                                       *order
	ops                                         func(*results.Op) // keeps every op where the user asked for them; nil: nobody does

	failing int // sessions in a row that ended with an error
	failure string
}

// interval is one second of the run.
type interval struct {
	at      time.Duration // its start
	metrics timings
	second  results.Second
	// earlier is the response of sessions that belong to the warm-up and ended now. They do not count, but without them
	// the first seconds would show only those that were quick.
	earlier *results.Histogram
}

// timings is a histogram for each of results.Metrics; nil: nothing was recorded.
type timings [8]*results.Histogram

// Places in timings, as in results.Metrics.
const (
	scheduleTime = iota
	waitTime
	responseTime
	rejectionTime
	attemptTime
	holdTime
	releaseTime
	handoffTime
)

func newTally(t *Trial) (*tally, error) {
	s := t.Point.Scenario
	a := &tally{
		from: s.Phases.Warmup, to: s.Phases.Warmup + measured(s), upTo: results.Range(s.Lock.AcquireTimeout, s.Lock.TTL),
		label:  t.Point.Slug,
		causes: map[string]int64{}, sessionCauses: map[string]int64{}, releaseCauses: map[string]int64{}, renewalCauses: map[string]int64{},
		perClient: map[int32]int64{},
	}
	a.attempts = results.AttemptCounts{Counted: t.counted(), Histogram: map[int32]int64{}}
	a.order = newOrder(s.Load.Open != nil, a.upTo, a.counted)
	a.now = interval{at: a.from, earlier: results.NewHistogram(a.upTo)}
	if t.excludes() {
		a.sweep = check.NewSweep(check.Options{})
	}
	var err error
	if a.lines, err = results.NewLogWriter(t.HLog, t.Began); err != nil {
		return nil, fmt.Errorf("histogram log: %w", err)
	}
	if t.Ops != nil {
		a.ops = func(op *results.Op) { a.keep(t.Ops, op) }
	}
	return a, nil
}

// keep writes one op as a line of JSON.
func (a *tally) keep(w io.Writer, op *results.Op) {
	if err := json.NewEncoder(w).Encode(op); err != nil && a.err == nil {
		a.err = fmt.Errorf("log of sessions: %w", err)
	}
}

// histograms are those of the whole window, by the names of results.Metrics.
func (a *tally) histograms() map[string]*results.Histogram {
	all := map[string]*results.Histogram{}
	for i, h := range a.whole {
		if h != nil {
			all[results.Metrics[i]] = h
		}
	}
	return all
}

func (a *tally) counted(op *results.Op) bool { return op.Intended >= a.from && op.Intended < a.to }

// add takes one batch and settles what its frontier, relative to the trial's start, allows.
func (a *tally) add(b *batch, start time.Duration) {
	frontier := b.frontier - start
	for i := range b.parts {
		for j := range b.parts[i].ops {
			a.op(&b.parts[i].ops[j])
		}
		for _, t := range b.parts[i].attempts {
			a.attempt(t)
		}
	}
	if a.sweep != nil {
		a.sweep.Settle(frontier)
	}
	a.order.settle(frontier)
}

func (a *tally) attempt(t attempt) {
	if t.session >= a.from && t.session < a.to {
		a.countAttempt(t.took)
	}
}

func (a *tally) countAttempt(took time.Duration) {
	a.attempts.All++
	a.now.second.Attempts++
	a.record(attemptTime, took)
}

func (a *tally) op(op *results.Op) {
	if a.sweep != nil {
		a.sweep.Add(*op)
	}
	a.order.add(op)
	if a.ops != nil {
		a.ops(op)
	}
	a.watch(op)
	if !a.counted(op) {
		a.endedLater(op)
		return
	}
	a.now.second.Scheduled++
	if op.Attempts > 0 {
		a.countAttempt(op.LastAttempt)
	}
	a.count(op)
	a.measure(op)
}

// watch notices a target that fails every session. Sessions that the trial itself cancelled say nothing of it.
func (a *tally) watch(op *results.Op) {
	switch {
	case op.Outcome == results.Dropped, op.Cause == cancelled:
	case op.Outcome == results.Failed:
		a.failing++
		a.failure = op.Cause
	default:
		a.failing = 0
	}
}

func (a *tally) count(op *results.Op) {
	c := &a.counts
	c.Scheduled++
	*[...]*int64{&c.Acquired, &c.Rejected, &c.GaveUp, &c.Timeout, &c.Error, &c.Dropped}[op.Outcome]++
	if op.Cause != "" {
		a.causes[op.Cause]++
	}
	if op.Outcome != results.Acquired {
		if op.Outcome == results.Failed {
			a.sessionCauses[op.Cause]++
		}
		return
	}
	if op.Release == results.ReleaseUnknown {
		a.releaseCauses[op.Cause]++
	}
	if op.RenewalCause != "" {
		a.renewalCauses[op.RenewalCause]++
	}
	a.now.second.Acquired++
	if a.attempts.Counted {
		a.attempts.Histogram[op.Attempts]++
	}
	if op.Client >= 0 {
		a.perClient[op.Client]++
	}
	c.Renewals += int64(op.Renewals)
	c.RenewalsFailed += int64(op.RenewalsFailed)
	c.Lost += one(op.Lost)
	c.StaleHolds += one(op.Left > op.Until)
	if op.Release != results.NotReleased {
		*[...]*int64{nil, &c.Released, &c.Expired, &c.Stolen, &c.ReleaseUnknown}[op.Release]++
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// endedLater keeps the response of a session of the warm-up that ended in the measured window.
func (a *tally) endedLater(op *results.Op) {
	if op.Intended >= a.from || op.Decided < a.from {
		return
	}
	switch op.Outcome {
	case results.Acquired, results.Timeout, results.GaveUp:
		a.now.earlier.Record(op.Decided - op.Intended)
	}
}

func (a *tally) measure(op *results.Op) {
	if op.Outcome == results.Dropped {
		return
	}
	a.record(scheduleTime, op.Started-op.Intended)
	switch op.Outcome {
	case results.Rejected:
		a.record(rejectionTime, op.Decided-op.Intended)
		return
	case results.Failed:
		return // how long an error took says nothing of a lock
	}
	a.record(waitTime, op.Decided-op.Started)
	a.record(responseTime, op.Decided-op.Intended)
	if op.Outcome != results.Acquired {
		return
	}
	a.record(holdTime, op.Left-op.Decided)
	if op.Release != results.NotReleased {
		a.record(releaseTime, op.Released-op.Left)
	}
}

func (a *tally) record(metric int, d time.Duration) {
	h := a.now.metrics[metric]
	if h == nil {
		h = results.NewHistogram(a.upTo)
		a.now.metrics[metric] = h
	}
	h.Record(d)
}

// tick closes the interval that ends at the given moment of the trial. A session belongs to the interval in which it
// ended: one that is still open cannot be waited for.
func (a *tally) tick(at time.Duration, inFlight int, pause *float64) {
	if at <= a.now.at {
		return
	}
	s := &a.now.second
	s.AtS, s.LengthS, s.InFlight, s.GCPauseMS = (a.now.at - a.from).Seconds(), (at - a.now.at).Seconds(), int64(inFlight), pause
	response := a.now.metrics[responseTime]
	if a.now.earlier.Count() > 0 {
		a.now.earlier.Merge(response)
		response = a.now.earlier
	}
	s.P50MS, s.P99MS, s.MaxMS = response.Quantile(0.5), response.Quantile(0.99), response.Max()
	a.series = append(a.series, *s)
	a.write(at)
	a.now.earlier.Reset()
	a.now = interval{at: at, metrics: a.now.metrics, earlier: a.now.earlier}
}

// write logs the interval and adds it to the whole.
func (a *tally) write(at time.Duration) {
	for i, h := range a.now.metrics {
		if h.Count()+h.Overflow() == 0 {
			continue
		}
		a.line(results.Metrics[i], a.now.at, at-a.now.at, h)
		if a.whole[i] == nil {
			a.whole[i] = results.NewHistogram(a.upTo)
		}
		a.whole[i].Merge(h)
		h.Reset()
	}
}

func (a *tally) line(metric string, start, length time.Duration, h *results.Histogram) {
	if err := a.lines.Interval(a.label+"|"+metric, start, length, h); err != nil && a.err == nil {
		a.err = fmt.Errorf("histogram log: %w", err)
	}
}

// finish closes the last interval and adds what was found over the whole.
func (a *tally) finish(at time.Duration) check.Findings {
	a.order.finish()
	a.tick(max(at, a.now.at+time.Millisecond), 0, nil)
	if a.order.handoff.Count() > 0 {
		a.whole[handoffTime] = a.order.handoff
		a.line("handoff", a.from, a.now.at-a.from, a.order.handoff) // known only in order: one interval for the whole
	}
	if a.sweep == nil {
		return check.Findings{}
	}
	f := a.sweep.Finish()
	c := &a.counts
	c.Overruns, c.Violations, c.MisDeletes = f.Overruns, f.Violations, f.MisDeletes
	c.StaleWrites, c.LostUpdates = f.StaleWrites, f.LostUpdates
	return f
}
