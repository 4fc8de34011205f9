package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/results"
)

var plainRow = row{strategy: "set-px-lua", retry: "full-jitter", rate: 400, wait: 9, attempts: 2.1, cpu: 31, commands: 3.1, state: results.Steady, verdict: results.Safe}

// trials of one point, each changed by its own function.
func trials(changes ...func(*results.Trial)) []results.Trial {
	var out []results.Trial
	for i, change := range changes {
		t := plainRow.trial(plainRow.name(), i+1, i+1)
		if change != nil {
			change(&t)
		}
		out = append(out, t)
	}
	return out
}

func sole(t *testing.T, ts []results.Trial) results.Point {
	t.Helper()
	s := Summarise(results.Run{}, ts)
	if len(s.Points) != 1 {
		t.Fatalf("%d points, want 1", len(s.Points))
	}
	return s.Points[0]
}

func invalid(t *results.Trial) { t.Valid, t.Invalid = false, []string{"the pool was too small"} }

func withVerdict(v results.Verdict) func(*results.Trial) {
	return func(t *results.Trial) { t.Verdict = &v }
}

func TestCountsAreSumsAndLatenciesExactMerges(t *testing.T) {
	ts := trials(nil, nil, nil)
	p := sole(t, ts)
	all := results.NewHistogram(results.DefaultRange)
	var counts results.Counts
	for _, x := range ts {
		all.Merge(x.Histograms["response"])
		counts = counts.Plus(x.Counts)
	}
	if d := cmp.Diff(counts, p.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if d := cmp.Diff(all.Latency(), p.Latency["response"]); d != "" {
		t.Errorf("response (-want +got):\n%s", d)
	}
	if l := p.Latency["rejection"]; l != nil {
		t.Errorf("rejection = %v though nothing was rejected", l)
	}
}

func TestOnlyValidTrialsCount(t *testing.T) {
	ts := trials(nil, invalid, nil)
	p := sole(t, ts)
	if p.Trials != 3 || p.Valid != 2 {
		t.Errorf("%d of %d valid, want 2 of 3", p.Valid, p.Trials)
	}
	if want := ts[0].Counts.Acquired + ts[2].Counts.Acquired; p.Counts.Acquired != want {
		t.Errorf("acquired %d, want %d", p.Counts.Acquired, want)
	}
	per := p.PerTrial["response.p99"]
	if len(per) != 3 || per[0] == nil || per[1] != nil || per[2] == nil {
		t.Errorf("per trial %v, want a hole where the trial is invalid", per)
	}
	if d := cmp.Diff([]string{"trial 2: the pool was too small"}, p.Invalid); d != "" {
		t.Errorf("causes (-want +got):\n%s", d)
	}
}

func TestWhereNoTrialIsValidAllAreShown(t *testing.T) {
	ts := trials(invalid, invalid)
	p := sole(t, ts)
	if want := ts[0].Counts.Scheduled + ts[1].Counts.Scheduled; p.Valid != 0 || p.Counts.Scheduled != want {
		t.Errorf("valid %d, scheduled %d; want 0 and %d", p.Valid, p.Counts.Scheduled, want)
	}
	if d := cmp.Diff([]string{"trials 1, 2: the pool was too small"}, p.Invalid); d != "" {
		t.Errorf("causes (-want +got):\n%s", d)
	}
}

func TestASaturatedPointHasNoPercentilesOfTimesInTheQueue(t *testing.T) {
	p := sole(t, trials(nil, func(t *results.Trial) { t.State = results.Saturated }, func(t *results.Trial) { t.State = results.Unsteady }))
	if p.State != results.Saturated {
		t.Fatalf("state %s, want the worst of its trials", p.State)
	}
	for _, m := range []string{"response", "wait"} {
		if l := p.Latency[m]; l.P50 != nil || l.P90 != nil || l.P99 != nil || l.P999 != nil {
			t.Errorf("%s shows a percentile", m)
		}
	}
	if p.Latency["hold"].P50 == nil {
		t.Error("hold lost its percentiles: it does not contain the queue")
	}
	if i := p.Intervals["response.p99"]; i.N != 2 {
		t.Errorf("interval over %d trials, want the 2 that are not saturated", i.N)
	}
}

func TestAMissingValueStaysMissing(t *testing.T) {
	p := sole(t, trials(nil, func(t *results.Trial) {
		t.Redis.CPUSeconds, t.Redis.Inner = nil, nil
		t.Attempts = results.AttemptCounts{}
	}))
	if p.Redis.CPUPerAcquire != nil || p.Redis.CPUUtilisation != nil || p.Redis.Inner != nil {
		t.Error("half a sum of Redis CPU or inner commands is shown")
	}
	if p.Attempts != nil {
		t.Error("attempts are shown though one trial did not count them")
	}
	if p.Redis.Commands == nil {
		t.Error("commands were counted in all trials and are missing")
	}
}

func TestWithoutAcquisitionsNothingIsPerAcquire(t *testing.T) {
	p := sole(t, trials(func(t *results.Trial) {
		t.Counts = results.Counts{Scheduled: 5, Timeout: 5}
		t.Attempts = results.AttemptCounts{Counted: true, All: 50}
	}))
	for _, name := range []string{"redis.cpu_us_per_acquire", "redis.commands_per_acquire", "attempts.per_acquire", "attempts.mean", "attempts.p99", "attempts.max"} {
		if m, _ := results.MetricNamed(name); m.Of(p) != nil {
			t.Errorf("%s = %v", name, *m.Of(p))
		}
	}
	if v := p.Shares["acquired"]; v == nil || *v != 0 {
		t.Errorf("acquired share %v, want 0", v)
	}
}

func TestTheVerdictIsTheWorstOfAllTrialsValidOrNot(t *testing.T) {
	worst := func(want results.Verdict, changes ...func(*results.Trial)) {
		t.Helper()
		if p := sole(t, trials(changes...)); p.Verdict == nil || *p.Verdict != want {
			t.Errorf("verdict %v, want %s", p.Verdict, want)
		}
	}
	worst(results.Safe, withVerdict(results.Safe))
	worst(results.NotKnown, withVerdict(results.Safe), withVerdict(results.NotKnown))
	worst(results.Unavailable, withVerdict(results.NotKnown), withVerdict(results.Unavailable))
	worst(results.Deadlock, withVerdict(results.Unavailable), withVerdict(results.Deadlock))
	worst(results.Broken, withVerdict(results.Deadlock), func(t *results.Trial) { invalid(t); withVerdict(results.Broken)(t) })

	p := sole(t, trials(withVerdict(results.Safe), withVerdict(results.Safe), withVerdict(results.Broken)))
	if d := cmp.Diff(map[results.Verdict]int{results.Safe: 2, results.Broken: 1}, p.Verdicts); d != "" {
		t.Errorf("verdicts (-want +got):\n%s", d)
	}
	if p := sole(t, trials(func(t *results.Trial) { t.Verdict = nil })); p.Verdict != nil {
		t.Errorf("verdict %s of a row that promises nothing", *p.Verdict)
	}
}

func TestIntervalsBeginAtSixTrials(t *testing.T) {
	five, six := sole(t, trials(make([]func(*results.Trial), 5)...)), sole(t, trials(make([]func(*results.Trial), 6)...))
	if i := five.Intervals["response.p99"]; i.N != 5 || i.Median == nil || i.Lo != nil || i.Hi != nil {
		t.Errorf("five trials: %+v, want a median and no interval", i)
	}
	i := six.Intervals["response.p99"]
	if i.N != 6 || i.Lo == nil || i.Hi == nil || *i.Lo > *i.Median || *i.Median > *i.Hi {
		t.Errorf("six trials: %+v, want an interval around the median", i)
	}
}

func TestAPercentileIsNotShownForTenSamplesOrFewer(t *testing.T) {
	p := sole(t, trials(func(t *results.Trial) {
		h := results.NewHistogram(results.DefaultRange)
		for range 19 {
			h.Record(time.Millisecond)
		}
		t.Histograms["response"] = h
	}))
	if l := p.Latency["response"]; l.P50 != nil || l.Mean == nil || l.Count != 19 {
		t.Errorf("response of 19 samples: %+v, want a mean and no median", l)
	}
}

func TestPointsStandInTheOrderOfTheScenario(t *testing.T) {
	d := example(exampleRows())
	want := Summarise(d.Run, d.Trials)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(d.Trials), func(i, j int) { d.Trials[i], d.Trials[j] = d.Trials[j], d.Trials[i] })
	got := Summarise(d.Run, d.Trials)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the order of trials matters (-want +got):\n%s", diff)
	}
	var names []string
	for _, p := range got.Points {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, d.Run.Points) {
		t.Errorf("points %v, want %v", names, d.Run.Points)
	}
}

func TestWarningsSayWhichTrialsTheyComeFrom(t *testing.T) {
	late := func(t *results.Trial) { t.Warnings = []string{"late"} }
	p := sole(t, trials(late, func(t *results.Trial) { t.Warnings = []string{"late", "cut short"} }, nil))
	if d := cmp.Diff([]string{"trials 1, 2: late", "trial 2: cut short"}, p.Warnings); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
}

func TestNobodyIsAheadWhereRowsCannotBeCompared(t *testing.T) {
	aheadOf := func(rows ...row) string {
		d := withSummary(example(rows))
		var b strings.Builder
		for _, l := range ahead(*d.Summary) {
			b.WriteString(l.Text + "\n")
		}
		return b.String()
	}
	fast, slow := plainRow, plainRow
	fast.strategy, fast.wait, fast.cpu = "sharded", 2, 10
	if got := aheadOf(fast, slow); !strings.Contains(got, "Lowest response p99: sharded/full-jitter") || !strings.Contains(got, "next is set-px-lua") {
		t.Errorf("two rows that differ: %q", got)
	}
	same := plainRow
	same.strategy = "watchdog"
	if got := aheadOf(same, slow); !strings.Contains(got, "not told apart") {
		t.Errorf("two rows that are alike: %q", got)
	}
	late := func(r row) row {
		r.change = func(t *results.Trial) { t.Counts.Acquired -= 100; t.Counts.Timeout += 100 }
		return r
	}
	if got := aheadOf(late(fast), late(slow)); strings.Contains(got, "p99") || !strings.Contains(got, "Least Redis CPU") {
		t.Errorf("p99 at the limit of the timeout: %q", got)
	}
	turnsAway := fast
	turnsAway.change = func(t *results.Trial) { t.Counts.Acquired -= 100; t.Counts.Rejected += 100 }
	embeddedRow := fast
	embeddedRow.change = func(t *results.Trial) { t.NoFigures = true }
	broken := fast
	broken.verdict = results.Broken
	cellA, cellB := fast, slow
	cellA.cell, cellB.cell = "rate=100", "rate=200"
	for why, rows := range map[string][]row{"fewer acquired": {turnsAway, slow}, "embedded": {embeddedRow, slow}, "broken": {broken, slow}, "other cells": {cellA, cellB}} {
		if got := aheadOf(rows...); got != "" {
			t.Errorf("%s: %q", why, got)
		}
	}
}
