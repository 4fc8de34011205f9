package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/check"
	"github.com/lockbench/lockbench/internal/stat"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/topologies"
)

// result is the trial as data. err is why the run must end, if it must.
func (r *running) result(ctx context.Context, f check.Findings, audit check.Aftermath, err error) results.Trial {
	s := r.Point.Scenario
	t := results.Trial{
		Schema: results.TrialSchema, Run: r.Run, Scenario: r.Scenario, Point: r.Point.Name, Slug: r.Point.Slug,
		Params: params(r.Trial), Trial: r.Number, Order: r.Order, Seed: r.Seed, Sabotage: r.Point.Strategy.Sabotage,
		WarmupS: s.Phases.Warmup.Seconds(), MeasureS: r.window().Seconds(), DrainS: max(0, (r.drained - r.work.start - r.tally.to).Seconds()),
		Partial: ctx.Err() != nil || err != nil, OpenLoop: s.Load.Open != nil, NoFigures: r.Topology.NoFigures,
		Counts: r.tally.counts, Causes: r.tally.causes, Histograms: r.tally.histograms(), Attempts: r.tally.attempts,
		Series: r.tally.series,
	}
	if !r.Began.IsZero() {
		t.BeganUTC = r.Began.UTC().Format(time.RFC3339)
	}
	t.Counts.OrphanKeys, t.Counts.ImmortalKeys = audit.OrphanKeys, audit.ImmortalKeys
	if verdict, reason := check.Judge(f, audit); verdict != "" {
		if t.Partial && verdict == results.Safe {
			verdict, reason = results.NotKnown, "the trial was cut short: "+reason
		}
		t.Verdict, t.Reason, t.Evidence = &verdict, reason, f.Evidence
	}
	if window := r.window().Seconds(); window > 0 {
		t.Throughput = float64(t.Counts.Acquired) / window
		if t.OpenLoop {
			t.RatePerS = results.Ptr(float64(t.Counts.Scheduled) / window)
		}
	}
	r.addCosts(&t)
	r.addFairness(&t)
	t.State = r.state(&t)
	t.Invalid, t.Warnings = r.doubts(&t)
	t.Valid = len(t.Invalid) == 0
	if err != nil {
		t.Warnings = append(t.Warnings, err.Error())
	}
	return t
}

// window is the part of the measured window that was reached.
func (r *running) window() time.Duration {
	reached := min(r.ended-r.work.start, r.tally.to)
	if r.tally.to-reached < 2*collectEvery { // the collector's last look before the end
		reached = r.tally.to
	}
	return max(0, reached-r.tally.from)
}

// params are the point's coordinates.
func params(t *Trial) map[string]string {
	p := map[string]string{
		"strategy": t.Point.Strategy.Label, "retry": t.Point.Retry.Label, "topology": t.Topology.Shape,
		"provider": t.Topology.Provider, "client": t.Point.Scenario.Client.Library + "/" + t.Point.Scenario.Client.Mode,
	}
	if n := len(t.Topology.Servers); n > 1 {
		p["topology"] = fmt.Sprintf("%s-%d", t.Topology.Shape, n)
	}
	for _, c := range t.Point.Cell {
		p[c.Path] = c.Value
	}
	return p
}

func (r *running) addCosts(t *results.Trial) {
	rtts, perSecond := r.watch.readings()
	var onThisMachine time.Duration
	if r.before != nil && r.after != nil {
		t.Redis = cost(r.Topology.Servers, r.before, r.after, r.Idle, rtts)
		for i := range r.before {
			if used := cpuBetween(r.before[i], r.after[i]); used != nil && r.Topology.Provider != topologies.External {
				onThisMachine += *used
			}
		}
	}
	if len(r.Topology.Servers) == 0 || t.Redis.Nodes == nil {
		t.Redis.Inner = nil
	}
	for i := range t.Series {
		if cpu, ok := perSecond[i]; ok {
			t.Series[i].RedisCPU = results.Ptr(cpu)
		}
	}
	if r.measuring && !r.simulated() {
		t.Client = r.client[1].since(r.client[0], onThisMachine)
	}
	t.Client.TimerLateness = r.late
	r.addPoolWaits(t)
}

func (r *running) addPoolWaits(t *results.Trial) {
	for i := range r.before {
		if i < len(r.after) {
			t.Client.PoolWaits += r.after[i].traffic.PoolWaits - r.before[i].traffic.PoolWaits
		}
	}
	if t.Redis.Commands > 0 {
		t.Client.PoolWaitShare = results.Ptr(float64(t.Client.PoolWaits) / float64(t.Redis.Commands))
	}
}

func (r *running) addFairness(t *results.Trial) {
	o := r.tally.order
	if t.OpenLoop {
		t.Fairness.Overtakes = o.overtakes
		return
	}
	t.Fairness.Streaks, t.Fairness.Reacquire = o.streaks, o.reacquire
	shares := make([]float64, r.Point.Scenario.Load.Closed.Clients)
	for client, n := range r.tally.perClient {
		shares[client] = float64(n)
	}
	least, most := int64(math.MaxInt64), int64(0)
	for _, n := range shares {
		least, most = min(least, int64(n)), max(most, int64(n))
	}
	t.Fairness.MinPerClient, t.Fairness.MaxPerClient = &least, &most
	if most > 0 {
		t.Fairness.Jain = results.Ptr(stat.Jain(shares))
	}
}

// growing is the share of a window's arrivals by which sessions in flight must grow for the load to exceed what the
// lock carries, or that timed out or were dropped instead. Growth is taken from the first quarter to the last, which
// lie three quarters of the window apart: a moment's stall at its end is no overload.
const growing = 0.05

// unsteadyRatio and unsteadyLeast (ms) are how far apart the halves of a window must be in p50 of response.
const (
	unsteadyRatio = 1.5
	unsteadyLeast = 1.0
)

func (r *running) state(t *results.Trial) results.State {
	if t.OpenLoop && t.Counts.Scheduled > 0 {
		scheduled := float64(t.Counts.Scheduled)
		grown := r.open[3].value() - r.open[0].value()
		if float64(t.Counts.Timeout+t.Counts.Dropped) > growing*scheduled || grown > 0.75*growing*scheduled {
			return results.Saturated
		}
	}
	if drifted(halves(t.Series, t.MeasureS)) {
		return results.Unsteady
	}
	return results.Steady
}

// halves are p50 of response in the seconds of each half of the window, in ms.
func halves(series []results.Second, measure float64) (first, last []float64) {
	for _, s := range series {
		switch {
		case s.P50MS == nil || s.AtS+s.LengthS > measure+0.5:
		case s.AtS+s.LengthS <= measure/2+0.01:
			first = append(first, *s.P50MS)
		case s.AtS >= measure/2-0.01:
			last = append(last, *s.P50MS)
		}
	}
	return first, last
}

// leastSeconds of a half: with fewer, chance alone would separate two halves too often.
const leastSeconds = 3

// drifted: every second of one half is above every second of the other, and their medians are far apart. Either alone
// is what chance does to a tail.
func drifted(first, last []float64) bool {
	if len(first) < leastSeconds || len(last) < leastSeconds {
		return false
	}
	if slices.Max(first) > slices.Min(last) {
		first, last = last, first
	}
	low, _, _, _ := stat.Median(first)
	high, _, _, _ := stat.Median(last)
	return slices.Max(first) < slices.Min(last) && high > unsteadyRatio*low && high-low > unsteadyLeast
}

// Limits of validity; see doubts.
const (
	scheduleFloor   = 2.0 // ms
	scheduleShare   = 0.5 // of response p50
	scheduleWarning = 0.1 // of response p99
	schedulerShare  = 0.25
	poolWaitLimit   = 0.001
	otherLoadLimit  = 0.25 // cores
)

// doubts names what makes a trial invalid, and what a reader must know beside its figures.
func (r *running) doubts(t *results.Trial) (invalid, warnings []string) {
	bad := func(format string, a ...any) { invalid = append(invalid, fmt.Sprintf(format, a...)) }
	warn := func(format string, a ...any) { warnings = append(warnings, fmt.Sprintf(format, a...)) }
	if !r.measuring || t.Counts.Scheduled == 0 {
		bad("nothing was measured")
		return invalid, warnings
	}
	response, schedule := t.Histograms["response"], t.Histograms["schedule"]
	p50, p99, late := response.Quantile(0.5), response.Quantile(0.99), schedule.Quantile(0.99)
	// At saturation the response grows with the run, and a generator that is late by less does not matter.
	if limit := max(scheduleFloor, scheduleShare*value(p50)); late != nil && *late > limit {
		bad("generator late: schedule p99 %.3g ms, limit %.3g ms", *late, limit)
	} else if late != nil && p99 != nil && *late > scheduleWarning**p99 {
		warn("generator late: schedule p99 %.3g ms is more than a tenth of response p99 %.3g ms", *late, *p99)
	}
	if p := t.Client.SchedulerLatency.Quantile(0.99); p != nil && p99 != nil && *p > schedulerShare**p99 {
		bad("client short of processors: scheduler latency p99 %.3g ms is more than a quarter of response p99 %.3g ms", *p, *p99)
	}
	if s := t.Client.PoolWaitShare; s != nil && *s > poolWaitLimit && r.Point.Scenario.Client.Open != onDemand {
		bad("connection pool too small: %.2g %% of commands waited for a connection", *s*100)
	}
	if t.Client.ThrottledPeriods > 0 && r.Point.Topology.CPU == "" {
		bad("throttled: a cgroup quota stopped the client in %d periods", t.Client.ThrottledPeriods)
	}
	if o := t.Client.OtherLoad; o != nil && *o > otherLoadLimit {
		warn("machine busy: others used %.2g cores", *o)
	}
	for _, name := range results.Metrics {
		if n := t.Histograms[name].Overflow(); n > 0 {
			warn("%s: %d values beyond the histogram's range, so it shows no percentiles", name, n)
		}
	}
	if r.unaudited {
		warn("not audited: orphan_keys and immortal_keys are not known")
	}
	if n := t.Counts.Error; n > 0 {
		warn("%d of %d sessions ended with an error: %s", n, t.Counts.Scheduled, listed(r.tally.sessionCauses))
	}
	if n := t.Counts.ReleaseUnknown; n > 0 {
		warn("%d of %d releases failed: %s", n, t.Counts.Acquired, listed(r.tally.releaseCauses))
	}
	if n := t.Counts.RenewalsFailed; n > 0 {
		warn("%d renewals failed: %s", n, listed(r.tally.renewalCauses))
	}
	if planned := measured(r.Point.Scenario).Seconds(); t.MeasureS < planned {
		warn("cut short after %.3g s of %.3g s", t.MeasureS, planned)
	} else if t.Partial {
		warn("cut short while its last sessions ended")
	}
	return invalid, warnings
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// listed names causes, the most frequent first.
func listed(causes map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(causes[b], causes[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, causes[name])
	}
	return strings.Join(names, ", ")
}

// brokenTarget is why what was measured says nothing of a lock: half or more of the sessions or of the releases failed.
func (r *running) brokenTarget() error {
	c := r.tally.counts
	switch {
	case c.Error > 0 && 2*c.Error >= c.Scheduled-c.Dropped:
		return &TargetError{fmt.Errorf("%d of %d sessions ended with an error: %s", c.Error, c.Scheduled, listed(r.tally.sessionCauses))}
	case c.ReleaseUnknown > 0 && 2*c.ReleaseUnknown >= c.Acquired:
		return &TargetError{fmt.Errorf("%d of %d releases failed: %s", c.ReleaseUnknown, c.Acquired, listed(r.tally.releaseCauses))}
	}
	return nil
}
