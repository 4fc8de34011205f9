package load

import (
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func schedule(o Open) []time.Duration { return slices.Collect(Arrivals(o)) }

// expected is the mean number of arrivals in the first d of the schedule, by numerical integration of the rate as the
// file describes it.
func expected(o Open, d time.Duration) float64 {
	rate := func(at time.Duration) float64 {
		if len(o.Stages) == 0 {
			return o.Rate
		}
		if at -= o.Warmup; at < 0 {
			return o.Stages[0].From
		}
		for _, s := range o.Stages {
			if at < s.For {
				return s.From + (s.To-s.From)*float64(at)/float64(s.For)
			}
			at -= s.For
		}
		return o.Stages[len(o.Stages)-1].To
	}
	const steps = 20_000
	sum := 0.0
	for i := range steps {
		sum += rate(time.Duration((float64(i) + 0.5) / steps * float64(d)))
	}
	return sum * d.Seconds() / steps
}

func TestConstantArrivalsAreEvenlySpaced(t *testing.T) {
	got := schedule(Open{Rate: 200, Measure: 23 * ms})
	if want := []time.Duration{0, 5 * ms, 10 * ms, 15 * ms, 20 * ms}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(schedule(Open{Rate: 333, Measure: 10 * time.Second})); n != 3330 {
		t.Errorf("333/s for 10 s: %d arrivals, want 3330", n)
	}
	if n := len(schedule(Open{Rate: 0.1, Measure: 10 * time.Second})); n != 1 {
		t.Errorf("0.1/s for 10 s: %d arrivals, want 1", n)
	}
}

// On a ramp from 0 to r over L the k-th arrival is due when r t^2 / 2L = k.
func TestARampInvertsTheCumulativeRate(t *testing.T) {
	got := schedule(Open{Stages: []Stage{{0, 100, 2 * time.Second}}, Measure: 2 * time.Second})
	if len(got) != 100 {
		t.Fatalf("%d arrivals, want 100", len(got))
	}
	for k, at := range got {
		want := math.Sqrt(float64(k) * 2 * 2 / 100)
		if math.Abs(at.Seconds()-want) > 2e-9 {
			t.Errorf("arrival %d at %v, want %.9f s", k, at, want)
		}
	}
}

func TestARampDownEndsInSilence(t *testing.T) {
	got := schedule(Open{Stages: []Stage{{100, 0, 2 * time.Second}}, Measure: 5 * time.Second})
	if last := got[len(got)-1]; len(got) != 100 || last > 2*time.Second {
		t.Errorf("%d arrivals, the last at %v; want 100 within 2 s", len(got), last)
	}
}

func TestWarmUpRunsAtTheFirstRateAndTheLastRateStays(t *testing.T) {
	o := Open{Stages: []Stage{{10, 10, time.Second}, {10, 30, time.Second}}, Warmup: 2 * time.Second, Measure: 4 * time.Second}
	got := schedule(o)
	check := func(from, to time.Duration, want int) {
		t.Helper()
		n := 0
		for _, at := range got {
			if from <= at && at < to {
				n++
			}
		}
		if n != want {
			t.Errorf("from %v to %v: %d arrivals, want %d", from, to, n, want)
		}
	}
	check(0, 2*time.Second, 20)
	check(2*time.Second, 3*time.Second, 10)
	check(3*time.Second, 4*time.Second, 20)
	check(4*time.Second, 6*time.Second, 60)
}

func TestStagesBeyondTheMeasurementAreCutOff(t *testing.T) {
	got := schedule(Open{Stages: []Stage{{10, 10, time.Hour}, {0, 1e9, time.Hour}}, Measure: time.Second})
	if len(got) != 10 {
		t.Errorf("%d arrivals, want 10", len(got))
	}
}

func TestNoRateIsNoArrival(t *testing.T) {
	if got := schedule(Open{Measure: time.Hour}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := schedule(Open{Rate: 10}); len(got) != 0 {
		t.Errorf("no time, but %v", got)
	}
	if got := schedule(Open{Stages: []Stage{{0, 0, time.Second}, {10, 10, time.Second}}, Measure: 1200 * ms}); !slices.Equal(got, []time.Duration{1000 * ms, 1100 * ms}) {
		t.Errorf("after a silent stage: %v", got)
	}
}

func TestBurstsComeOnTheHour(t *testing.T) {
	o := Open{Bursts: Bursts{Every: time.Second, Size: 3, Within: 30 * ms}, Warmup: time.Second, Measure: 1015 * ms}
	want := []time.Duration{0, 10 * ms, 20 * ms, 1000 * ms, 1010 * ms, 1020 * ms, 2000 * ms, 2010 * ms}
	if got := schedule(o); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	o.Bursts.Within, o.Measure = 0, 0
	if got := schedule(o); !slices.Equal(got, []time.Duration{0, 0, 0}) {
		t.Errorf("all at once: %v", got)
	}
}

func TestBurstsAddToTheSteadyLoad(t *testing.T) {
	o := Open{Rate: 100, Poisson: true, Seed: 1, Measure: 10 * time.Second}
	alone := schedule(o)
	o.Bursts = Bursts{Every: 3 * time.Second, Size: 50, Within: time.Second}
	both := schedule(o)
	if len(both) != len(alone)+200 || !slices.IsSorted(both) {
		t.Errorf("%d arrivals (in order: %v), want %d + 200", len(both), slices.IsSorted(both), len(alone))
	}
}

func TestPoissonGapsAreExponential(t *testing.T) {
	o := Open{Rate: 1000, Poisson: true, Seed: 9, Measure: 100 * time.Second}
	law := must[Dist](t)(Exponential(time.Millisecond))
	var gaps []time.Duration
	last := time.Duration(0)
	for at := range Arrivals(o) {
		gaps, last = append(gaps, at-last), at
	}
	slices.Sort(gaps)
	worst, n := 0.0, float64(len(gaps))
	for i, g := range gaps {
		worst = max(worst, math.Abs(law.CDF(g)-float64(i)/n))
	}
	if worst > 1.95/math.Sqrt(n) {
		t.Errorf("gaps are %.5f away from the exponential distribution", worst)
	}
}

// TestPoissonCountsVaryAsTheyShould: in each tenth of a ramp the count has mean and variance of its expectation.
func TestPoissonCountsVaryAsTheyShould(t *testing.T) {
	o := Open{Stages: []Stage{{50, 500, 2 * time.Second}}, Poisson: true, Measure: 2 * time.Second}
	const runs, slots = 400, 10
	var sum, squares [slots]float64
	for seed := range uint64(runs) {
		o.Seed = seed
		var n [slots]float64
		for at := range Arrivals(o) {
			n[int(at*slots/o.Measure)]++
		}
		for i := range n {
			sum[i] += n[i]
			squares[i] += n[i] * n[i]
		}
	}
	for i := range slots {
		want := expected(o, o.Measure*time.Duration(i+1)/slots) - expected(o, o.Measure*time.Duration(i)/slots)
		mean := sum[i] / runs
		variance := squares[i]/runs - mean*mean
		if math.Abs(mean-want) > 4*math.Sqrt(want/runs) || math.Abs(variance/want-1) > 4*math.Sqrt(2.0/runs) {
			t.Errorf("tenth %d: mean %.2f and variance %.2f, want both %.2f", i, mean, variance, want)
		}
	}
}

func anyOpen(t *rapid.T) Open {
	rate := rapid.Float64Range(0, 2000)
	span := func(name string, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
	}
	o := Open{
		Rate: rate.Draw(t, "rate"), Poisson: rapid.Bool().Draw(t, "poisson"), Seed: rapid.Uint64().Draw(t, "seed"),
		Warmup: span("warmup", time.Second), Measure: span("measure", 3*time.Second),
	}
	for range rapid.IntRange(0, 4).Draw(t, "stages") {
		o.Stages = append(o.Stages, Stage{rate.Draw(t, "from"), rate.Draw(t, "to"), span("for", time.Second)})
	}
	if rapid.Bool().Draw(t, "bursts") {
		every := span("every", time.Second) + ms
		o.Bursts = Bursts{every, rapid.IntRange(1, 50).Draw(t, "size"), min(every, span("within", time.Second))}
	}
	return o
}

func TestEveryScheduleIsOrderedInsideItsTimeAndOfTheRightSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOpen(t)
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		got := schedule(o)
		if !slices.IsSorted(got) {
			t.Fatal("not in order")
		}
		if len(got) > 0 && (got[0] < 0 || got[len(got)-1] >= o.Warmup+o.Measure) {
			t.Fatalf("from %v to %v, not in [0, %v)", got[0], got[len(got)-1], o.Warmup+o.Measure)
		}
		extra := 0
		if o.Bursts.Size > 0 {
			extra = len(slices.Collect(o.bursts()))
		}
		want, slack := expected(o, o.end()), 1.0
		if o.Poisson {
			slack += 6 * math.Sqrt(want+1)
		}
		if n := float64(len(got) - extra); math.Abs(n-want) > slack+1e-3*want {
			t.Errorf("%v steady arrivals, want %.1f", n, want)
		}
	})
}

// Worker processes make the schedule each for itself and take every n-th arrival.
func TestTheUnionOfTheSharesIsTheWholeSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOpen(t)
		shares := rapid.IntRange(1, 5).Draw(t, "processes")
		var all iter.Seq[time.Duration] = func(func(time.Duration) bool) {}
		for i := range shares {
			all = Merge(all, everyNth(Arrivals(o), i, shares))
		}
		if got, want := slices.Collect(all), schedule(o); !slices.Equal(got, want) {
			t.Errorf("%d arrivals in %d shares, %d as a whole", len(got), shares, len(want))
		}
	})
}

func everyNth(at iter.Seq[time.Duration], i, n int) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		k := 0
		for t := range at {
			if k%n == i && !yield(t) {
				return
			}
			k++
		}
	}
}

func TestAScheduleCanBeLeftAtAnyPoint(t *testing.T) {
	o := Open{Rate: 1000, Bursts: Bursts{Every: 10 * ms, Size: 5, Within: 7 * ms}, Measure: 100 * ms}
	whole := schedule(o)
	for n := range whole {
		var got []time.Duration
		for at := range Arrivals(o) {
			if got = append(got, at); len(got) > n {
				break
			}
		}
		if !slices.Equal(got, whole[:n+1]) {
			t.Fatalf("the first %d are %v, want %v", n+1, got, whole[:n+1])
		}
	}
}

func TestSchedulesAreTheSameForEver(t *testing.T) {
	o := Open{
		Stages: []Stage{{100, 400, time.Second}}, Poisson: true, Seed: 42, Warmup: 10 * ms, Measure: time.Second,
		Bursts: Bursts{Every: 500 * ms, Size: 2, Within: 10 * ms},
	}
	got := schedule(o)
	want := []time.Duration{0, 2131686, 5 * ms, 7081871, 36252858, 44430586, 47431089, 54833435}
	if len(got) != 249 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("%d arrivals, the first %v, want 249 and %v", len(got), got[:len(want)], want)
	}
}

func TestLoadsThatMakeNoSenseAreRefused(t *testing.T) {
	check := func(name string, o Open) {
		t.Helper()
		if o.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	check("a negative rate", Open{Rate: -1, Measure: time.Second})
	check("a rate that is no number", Open{Rate: math.NaN(), Measure: time.Second})
	check("an infinite rate", Open{Rate: math.Inf(1), Measure: time.Second})
	check("a ramp below zero", Open{Stages: []Stage{{1, -1, time.Second}}})
	check("a stage of negative length", Open{Stages: []Stage{{1, 1, -1}}})
	check("a negative warm-up", Open{Rate: 1, Warmup: -1})
	check("bursts that never come", Open{Rate: 1, Bursts: Bursts{Size: 1}})
	check("bursts that overlap", Open{Rate: 1, Bursts: Bursts{Every: 1, Size: 1, Within: 2}})
	check("bursts of less than none", Open{Rate: 1, Bursts: Bursts{Every: 1, Size: -1}})
}

func BenchmarkArrivals(b *testing.B) {
	for name, o := range map[string]Open{
		"constant":            {Rate: 1e6},
		"poisson":             {Rate: 1e6, Poisson: true},
		"poisson-ramp":        {Stages: []Stage{{1e6, 2e6, time.Hour}}, Poisson: true},
		"poisson-with-bursts": {Rate: 1e6, Poisson: true, Bursts: Bursts{Every: 10 * ms, Size: 100, Within: ms}},
	} {
		b.Run(name, func(b *testing.B) {
			o.Measure = time.Hour
			n := 0
			for range Arrivals(o) {
				if n++; n >= b.N {
					break
				}
			}
		})
	}
}
