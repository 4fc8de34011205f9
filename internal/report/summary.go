// Package report turns the files of a run into what people read: the summary, tables, a Markdown and an HTML page,
// charts. It measures nothing and judges nothing: every number comes from results, and every doubt about a number
// goes with it into a footnote.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/stat"
	"github.com/lockbench/lockbench/results"
)

// Summarise sums up the trials of a run, point by point in the order of the scenario. Counts are sums and latencies
// exact merges over the valid trials of a point; where none is valid, over all, and Valid is 0. Verdicts count all
// trials: a lock that was seen broken is broken, however the generator fared.
func Summarise(run results.Run, trials []results.Trial) results.Summary {
	s := results.Summary{Schema: results.SummarySchema, Run: run.Run, Scenario: run.Scenario, Status: run.Status, Points: []results.Point{}}
	byPoint := map[string][]results.Trial{}
	for _, t := range trials {
		byPoint[t.Point] = append(byPoint[t.Point], t)
	}
	for _, name := range order(run.Points, byPoint) {
		s.Points = append(s.Points, point(byPoint[name], expected(run, name)))
	}
	return s
}

// order of points: that of the scenario, then what it does not name by name. Trials run in random order, which says
// nothing.
func order(points []string, byPoint map[string][]results.Trial) []string {
	place := map[string]int{}
	for i, name := range points {
		place[name] = i
	}
	at := func(name string) int {
		if i, ok := place[name]; ok {
			return i
		}
		return len(points)
	}
	return slices.SortedFunc(maps.Keys(byPoint), func(a, b string) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b))
	})
}

func expected(run results.Run, point string) *results.Verdict {
	for _, e := range run.Expects {
		if e.Point == point {
			return results.Ptr(e.Expected)
		}
	}
	return nil
}

func point(all []results.Trial, expected *results.Verdict) results.Point {
	slices.SortFunc(all, func(a, b results.Trial) int { return cmp.Compare(a.Trial, b.Trial) })
	used := counting(all)
	p := figures(used)
	p.Counts = withFindings(p.Counts, sumCounts(all))
	p.Trials, p.Valid = len(all), len(valid(all))
	p.Warnings, p.Invalid = warnings(all), gathered(all, func(t results.Trial) []string { return t.Invalid })
	p.Verdict, p.Verdicts = verdict(all)
	p.Expected = expected
	p.OutageMS = largest(all, func(t results.Trial) *float64 { return t.OutageMS })
	p.NoFigures = slices.ContainsFunc(all, func(t results.Trial) bool { return t.NoFigures })
	p.PerTrial, p.Intervals = overTrials(all)
	return p
}

// withFindings takes what was found of a lock's safety from all trials: it happened, however the generator fared, and a
// threshold on it must not pass because the trial was invalid.
func withFindings(c, all results.Counts) results.Counts {
	c.Overruns, c.Violations, c.MisDeletes = all.Overruns, all.Violations, all.MisDeletes
	c.StaleWrites, c.LostUpdates = all.StaleWrites, all.LostUpdates
	c.OrphanKeys, c.ImmortalKeys = all.OrphanKeys, all.ImmortalKeys
	return c
}

// counting are the trials whose numbers count: the valid ones, or all where none is.
func counting(all []results.Trial) []results.Trial {
	if v := valid(all); len(v) > 0 {
		return v
	}
	return all
}

func valid(all []results.Trial) []results.Trial {
	var out []results.Trial
	for _, t := range all {
		if t.Valid {
			out = append(out, t)
		}
	}
	return out
}

// figures of one or more trials taken together.
func figures(ts []results.Trial) results.Point {
	first := ts[0]
	p := results.Point{
		Name: first.Point, Params: first.Params, Sabotage: first.Sabotage, OpenLoop: first.OpenLoop,
		State: worstState(ts), Counts: sumCounts(ts),
		RatePerS:   weighted(ts, func(t results.Trial) *float64 { return t.RatePerS }),
		Throughput: weighted(ts, func(t results.Trial) *float64 { return &t.Throughput }),
	}
	p.Latency = latencies(ts, p.State)
	p.Shares = shares(p.Counts)
	p.Attempts = attempts(ts, p.Counts.Acquired)
	p.Redis = redis(ts, p.Counts.Acquired)
	p.Client = client(ts)
	p.Fairness = fairness(ts)
	return p
}

// states from bad to worse.
var states = []results.State{results.Steady, results.Unsteady, results.Saturated}

func worstState(ts []results.Trial) results.State {
	worst := 0
	for _, t := range ts {
		worst = max(worst, slices.Index(states, t.State))
	}
	return states[worst]
}

func sumCounts(ts []results.Trial) results.Counts {
	var c results.Counts
	for _, t := range ts {
		c = c.Plus(t.Counts)
	}
	return c
}

// latencies by metric. Beyond capacity the percentiles of the times in the queue only tell how long the run was: they
// are null. Times that do not contain the queue, as the hand-off gap, stay.
func latencies(ts []results.Trial, state results.State) map[string]*results.Latency {
	out := map[string]*results.Latency{}
	for _, m := range results.Metrics {
		l := merged(ts, func(t results.Trial) *results.Histogram { return t.Histograms[m] }).Latency()
		if l != nil && state == results.Saturated && (m == "response" || m == "wait") {
			l.P50, l.P90, l.P99, l.P999 = nil, nil, nil, nil
		}
		out[m] = l
	}
	return out
}

// merged is the exact merge of a histogram over trials, nil where no trial has it. It must not be changed: of a single
// trial it is the trial's own.
func merged(ts []results.Trial, of func(results.Trial) *results.Histogram) *results.Histogram {
	if len(ts) == 1 {
		return of(ts[0])
	}
	var sum *results.Histogram
	for _, t := range ts {
		h := of(t)
		if sum == nil {
			sum = h.Clone()
		} else {
			sum.Merge(h)
		}
	}
	return sum
}

func shares(c results.Counts) map[string]*float64 {
	out := map[string]*float64{}
	for o := results.Acquired; o <= results.Dropped; o++ {
		out[o.String()] = ratio(float64(c.Of(o)), float64(c.Scheduled))
	}
	return out
}

// ratio is null where nothing was there to divide by.
func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	return results.Ptr(a / b)
}

// weighted is the mean over trials by their measured time; null where one of them has no value.
func weighted(ts []results.Trial, of func(results.Trial) *float64) *float64 {
	var sum, seconds float64
	for _, t := range ts {
		v := of(t)
		if v == nil {
			return nil
		}
		sum += *v * t.MeasureS
		seconds += t.MeasureS
	}
	return ratio(sum, seconds)
}

func largest(ts []results.Trial, of func(results.Trial) *float64) *float64 {
	var worst *float64
	for _, t := range ts {
		if v := of(t); v != nil && (worst == nil || *v > *worst) {
			worst = v
		}
	}
	return worst
}

// attempts is nil where a trial did not count them, as under `native`.
func attempts(ts []results.Trial, acquired int64) *results.Attempts {
	a := &results.Attempts{Histogram: map[string]int64{}}
	counts := results.NewCounts()
	var all, sessions, first int64
	for _, t := range ts {
		if !t.Attempts.Counted {
			return nil
		}
		all += t.Attempts.All
		for n, k := range t.Attempts.Histogram {
			counts.RecordN(int64(n), k)
			a.Histogram[strconv.Itoa(int(n))] += k
			sessions += k
		}
		first += t.Attempts.Histogram[1]
	}
	a.PerAcquire = ratio(float64(all), float64(acquired))
	a.FirstTryShare = ratio(float64(first), float64(sessions))
	if sessions > 0 {
		a.Mean, a.Max, a.P99 = meanOf(a.Histogram, sessions), mostOf(ts), quantity(counts, 0.99)
	}
	return a
}

func meanOf(histogram map[string]int64, sessions int64) *float64 {
	var sum int64
	for n, k := range histogram {
		v, _ := strconv.ParseInt(n, 10, 64)
		sum += v * k
	}
	return ratio(float64(sum), float64(sessions))
}

func mostOf(ts []results.Trial) *int64 {
	var most int64
	for _, t := range ts {
		for n, k := range t.Attempts.Histogram {
			if k > 0 {
				most = max(most, int64(n))
			}
		}
	}
	return &most
}

// quantity is a quantile of a histogram of plain numbers.
func quantity(h *results.Histogram, q float64) *float64 {
	v, ok := h.Value(q)
	if !ok {
		return nil
	}
	return results.Ptr(float64(v))
}

// redis is null but for what was measured: without a server there are no commands, and a server without its own
// process has no CPU.
func redis(ts []results.Trial, acquired int64) results.PointRedis {
	r := results.PointRedis{ByCommand: map[string]float64{}, Nodes: nodes(ts)}
	if len(r.Nodes) == 0 {
		return r
	}
	n := float64(acquired)
	cpu, window := total(ts, func(t results.Trial) *float64 { return t.Redis.CPUSeconds }), 0.0
	var commands, bytes int64
	by := map[string]int64{}
	for _, t := range ts {
		window += t.Redis.WindowSeconds
		commands += t.Redis.Commands
		bytes += t.Redis.Bytes
		for c, k := range t.Redis.ByCommand {
			by[c] += k
		}
	}
	if cpu != nil {
		r.CPUUtilisation, r.CPUPerAcquire = ratio(*cpu, window), ratio(*cpu*1e6, n)
	}
	r.Commands, r.Bytes = ratio(float64(commands), n), ratio(float64(bytes), n)
	if inner := total(ts, func(t results.Trial) *float64 { return float(t.Redis.Inner) }); inner != nil {
		r.Inner = ratio(*inner, n)
	}
	for c, k := range by {
		if v := ratio(float64(k), n); v != nil {
			r.ByCommand[c] = *v
		}
	}
	return r
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return results.Ptr(float64(*n))
}

// total is null where one trial has no value: half a sum is not a number of the point.
func total(ts []results.Trial, of func(results.Trial) *float64) *float64 {
	var sum float64
	for _, t := range ts {
		v := of(t)
		if v == nil {
			return nil
		}
		sum += *v
	}
	return &sum
}

// nodes by name, in the order of their first appearance.
func nodes(ts []results.Trial) []results.PointNode {
	out := []results.PointNode{}
	for _, name := range nodeNames(ts) {
		n := results.PointNode{Name: name}
		share := func(t results.Trial) *results.RedisNode {
			i := slices.IndexFunc(t.Redis.Nodes, func(n results.RedisNode) bool { return n.Name == name })
			if i < 0 {
				return nil
			}
			return &t.Redis.Nodes[i]
		}
		rtt := merged(ts, func(t results.Trial) *results.Histogram {
			if s := share(t); s != nil {
				return s.RTT
			}
			return nil
		})
		n.RTTP50, n.RTTP99 = rtt.Quantile(0.5), rtt.Quantile(0.99)
		n.CPU = weighted(ts, func(t results.Trial) *float64 {
			if s := share(t); s != nil {
				return s.CPU
			}
			return nil
		})
		for _, t := range ts {
			if s := share(t); s != nil {
				n.Errors += s.Errors
			}
		}
		out = append(out, n)
	}
	return out
}

func nodeNames(ts []results.Trial) []string {
	var names []string
	for _, t := range ts {
		for _, n := range t.Redis.Nodes {
			if !slices.Contains(names, n.Name) {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

func client(ts []results.Trial) results.PointClient {
	c := results.PointClient{
		CPUUtilisation: weighted(ts, func(t results.Trial) *float64 { return t.Client.CPUUtilisation }),
		GCPauseP99:     merged(ts, func(t results.Trial) *results.Histogram { return t.Client.GCPauses }).Quantile(0.99),
		SchedulerP99:   merged(ts, func(t results.Trial) *results.Histogram { return t.Client.SchedulerLatency }).Quantile(0.99),
	}
	var waits, commands int64
	for _, t := range ts {
		if t.Client.PoolWaitShare == nil {
			return c
		}
		waits += t.Client.PoolWaits
		commands += t.Redis.Commands
	}
	c.PoolWaitShare = ratio(float64(waits), float64(commands))
	return c
}

// fairness: Jain's index is the median over trials, since it cannot be merged; the rest are exact merges.
func fairness(ts []results.Trial) results.PointFairness {
	f := results.PointFairness{
		StreakP99:    quantity(merged(ts, func(t results.Trial) *results.Histogram { return t.Fairness.Streaks }), 0.99),
		ReacquireP50: merged(ts, func(t results.Trial) *results.Histogram { return t.Fairness.Reacquire }).Quantile(0.5),
		OvertakesP99: quantity(merged(ts, func(t results.Trial) *results.Histogram { return t.Fairness.Overtakes }), 0.99),
	}
	var jain []float64
	for _, t := range ts {
		if v := t.Fairness.Jain; v != nil {
			jain = append(jain, *v)
		}
		f.MinPerClient = pick(f.MinPerClient, t.Fairness.MinPerClient, func(a, b int64) int64 { return min(a, b) })
		f.MaxPerClient = pick(f.MaxPerClient, t.Fairness.MaxPerClient, func(a, b int64) int64 { return max(a, b) })
	}
	if len(jain) > 0 {
		median, _, _, _ := stat.Median(jain)
		f.Jain = &median
	}
	return f
}

func pick(a, b *int64, of func(a, b int64) int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return results.Ptr(of(*a, *b))
}

// verdict is the worst over trials with the counts of each; nil where no trial has one, as for `Excludes: none`.
func verdict(ts []results.Trial) (*results.Verdict, map[results.Verdict]int) {
	counts := map[results.Verdict]int{}
	for _, t := range ts {
		if t.Verdict != nil {
			counts[*t.Verdict]++
		}
	}
	for _, v := range results.Verdicts {
		if counts[v] > 0 {
			return &v, counts
		}
	}
	return nil, counts
}

// overTrials evaluates the main metrics trial by trial, and their median with its interval. There is one value a
// trial, in the order of trials, null where it is missing or its trial does not count.
func overTrials(all []results.Trial) (map[string][]*float64, map[string]results.Interval) {
	some := len(valid(all)) > 0
	values, intervals := map[string][]*float64{}, map[string]results.Interval{}
	singles := make([]results.Point, len(all))
	for i, t := range all {
		singles[i] = figures([]results.Trial{t})
	}
	for _, m := range results.AllMetrics() {
		if !m.Main {
			continue
		}
		per := make([]*float64, len(all))
		for i, t := range all {
			if t.Valid || !some {
				per[i] = m.Of(singles[i])
			}
		}
		values[m.Name], intervals[m.Name] = per, interval(per)
	}
	return values, intervals
}

func interval(per []*float64) results.Interval {
	var sample []float64
	for _, v := range per {
		if v != nil {
			sample = append(sample, *v)
		}
	}
	i := results.Interval{N: len(sample)}
	if len(sample) == 0 {
		return i
	}
	median, lo, hi, ok := stat.Median(sample)
	i.Median = &median
	if ok {
		i.Lo, i.Hi = &lo, &hi
	}
	return i
}

// warnings of all trials, and what only the comparison of trials shows.
func warnings(all []results.Trial) []string {
	return gathered(all, func(t results.Trial) []string { return t.Warnings })
}

// gathered lists texts with the trials they come from, each text once: "trial 3: ...", "trials 1, 2: ...".
func gathered(all []results.Trial, of func(results.Trial) []string) []string {
	var texts []string
	from := map[string][]string{}
	for _, t := range all {
		for _, text := range of(t) {
			if from[text] == nil {
				texts = append(texts, text)
			}
			from[text] = append(from[text], strconv.Itoa(t.Trial))
		}
	}
	out := []string{}
	for _, text := range texts {
		noun := "trial"
		if len(from[text]) > 1 {
			noun = "trials"
		}
		out = append(out, fmt.Sprintf("%s %s: %s", noun, strings.Join(from[text], ", "), text))
	}
	return out
}
