package load

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func must[T any](t interface {
	Helper()
	Fatal(...any)
}) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// samples is one distribution of every kind, and a mixture of some.
func samples(t testing.TB) map[string]Dist {
	dist := must[Dist](t)
	slow := dist(LognormalP50(300*ms, 900*ms))
	return map[string]Dist{
		"constant":          dist(Constant(5 * ms)),
		"uniform":           dist(Uniform(2*ms, 9*ms)),
		"exponential":       dist(Exponential(5 * ms)),
		"lognormal by p50":  dist(LognormalP50(5*ms, 80*ms)),
		"lognormal by mean": dist(LognormalMean(10*ms, 80*ms)),
		"pareto":            dist(Pareto(1*ms, 20*ms)),
		"mixture":           dist(Mixture(Part{0.9, dist(Exponential(5 * ms))}, Part{0.1, slow})),
		"mixture of atoms":  dist(Mixture(Part{0.25, dist(Constant(0))}, Part{0.75, dist(Uniform(1*ms, 2*ms))})),
	}
}

// TestDrawsFollowTheirDistribution is the Kolmogorov-Smirnov test with a fixed seed: at 1.95/sqrt(n) one right
// distribution in a thousand would fail, and then for ever.
func TestDrawsFollowTheirDistribution(t *testing.T) {
	const n = 100_000
	for name, d := range samples(t) {
		r, x := Stream(3, name, 0), make([]time.Duration, n)
		for i := range x {
			x[i] = d.Draw(r)
		}
		slices.Sort(x)
		worst := 0.0
		for i := range x {
			if i == 0 || x[i] != x[i-1] {
				worst = max(worst, math.Abs(d.CDF(x[i]-1)-float64(i)/n))
			}
			if i == n-1 || x[i] != x[i+1] {
				worst = max(worst, math.Abs(d.CDF(x[i])-float64(i+1)/n))
			}
		}
		if worst > 1.95/math.Sqrt(n) {
			t.Errorf("%s: draws are %.5f away from the distribution", name, worst)
		}
	}
}

func TestMeanIsTheAreaAboveTheCDF(t *testing.T) {
	for name, d := range samples(t) {
		// The mean is the integral of the quantile over [0,1]; near 1 it is taken on a logarithmic grid, since tails
		// carry weight there: q = 1 - e^-y, so that mean = integral of Quantile(1-e^-y) e^-y dy.
		const step, end = 1e-3, 33.0
		sum := 0.0
		for y := step / 2; y < end; y += step {
			sum += float64(d.Quantile(-math.Expm1(-y))) * math.Exp(-y) * step
		}
		if got := float64(d.Mean()); math.Abs(sum-got) > 2e-3*got {
			t.Errorf("%s: mean %v, but its quantiles have the mean %v", name, d.Mean(), time.Duration(sum))
		}
	}
}

func TestQuantileInvertsTheCDF(t *testing.T) {
	all := samples(t)
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "distribution")
		q := rapid.Float64Range(0, 0.9999).Draw(t, "q")
		d, x := all[name], all[name].Quantile(q)
		const rounding = 2 // ns
		if above := d.CDF(x + rounding); above < q-1e-12 {
			t.Errorf("%s: quantile(%v) = %v, above which the CDF is still %v", name, q, x, above)
		}
		if below := d.CDF(x - rounding); below >= q+1e-12 && q > 0 {
			t.Errorf("%s: quantile(%v) = %v, below which the CDF is already %v", name, q, x, below)
		}
	})
}

func TestWhatPeopleKnowComesBack(t *testing.T) {
	check := func(name string, got, want time.Duration) {
		t.Helper()
		if diff := got - want; diff < -10 || diff > 10 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low := time.Duration(rapid.Int64Range(1000, int64(time.Minute)).Draw(t, "low"))
		factor := rapid.Float64Range(1.01, 14.9).Draw(t, "factor")
		high := time.Duration(float64(low) * factor)
		near := func(name string, got, want time.Duration) {
			if math.Abs(float64(got-want)) > 1+1e-9*float64(want) {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		lognormal := must[Dist](t)(LognormalP50(low, high))
		near("p50", lognormal.Quantile(0.5), low)
		near("p99", lognormal.Quantile(0.99), high)
		lognormal = must[Dist](t)(LognormalMean(low, high))
		near("mean", lognormal.Mean(), low)
		near("p99 beside the mean", lognormal.Quantile(0.99), high)
		pareto := must[Dist](t)(Pareto(low, high))
		near("min", pareto.Quantile(0), low)
		near("p99 beside the min", pareto.Quantile(0.99), high)
	})
	d := samples(t)
	check("mean of exponential", d["exponential"].Mean(), 5*ms)
	check("p99 of exponential", d["exponential"].Quantile(0.99), 23025851)
	check("mean of uniform", d["uniform"].Mean(), 5500*time.Microsecond)
	check("max of uniform", d["uniform"].Quantile(1), 9*ms)
}

// The figures are computed elsewhere: a lognormal with median 50 ms and sigma 1, and Pareto tails with alpha 2, where
// m times the p99 is exceeded by 0.01 m^-2.
func TestTailsAreThoseOfTheClosedForms(t *testing.T) {
	check := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%s: %.9g, want %.9g", name, got, want)
		}
	}
	hold := must[Dist](t)(LognormalP50(50*ms, 512023656)) // p99 = 50 ms x e^2.3263
	check("lognormal beyond 500 ms", 1-hold.CDF(500*ms), 0.01065110)
	check("lognormal beyond 1 s", 1-hold.CDF(time.Second), 0.001368934)
	check("mean of lognormal, 50 ms x e^(1/2)", float64(hold.Mean()), 50e6*math.Exp(0.5))
	tail := must[Dist](t)(Pareto(25*ms, 250*ms))
	check("pareto beyond 5 x p99", 1-tail.CDF(1250*ms), 4e-4)
	check("mean of pareto, alpha 2", float64(tail.Mean()), 50e6)
	// Kingman and Pollaczek-Khinchine need c^2 of the hold: mean 10 ms with c^2 = 2 has sigma^2 = ln 3.
	sigma := math.Sqrt(math.Log(3))
	p99 := time.Duration(10e6 * math.Exp(z99*sigma-sigma*sigma/2))
	got := must[Dist](t)(LognormalMean(10*ms, p99)).(lognormal)
	check("sigma of lognormal by mean and p99", got.sigma, sigma)
}

func TestNoSolutionIsSaid(t *testing.T) {
	check := func(want string, _ Dist, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
	d, err := LognormalMean(10*ms, 151*ms)
	check("none has its p99 at 15.1 times its mean; the most is 14.97", d, err)
	d, err = LognormalMean(10*ms, 10*ms)
	check("0 < mean < p99", d, err)
	d, err = LognormalP50(10*ms, 5*ms)
	check("0 < p50 < p99", d, err)
	d, err = Pareto(1*ms, 100*ms)
	check("mean is infinite", d, err)
	d, err = Pareto(1*ms, 1*ms)
	check("0 < min < p99", d, err)
	d, err = Constant(-1)
	check("zero or more", d, err)
	d, err = Uniform(2, 1)
	check("min <= max", d, err)
	d, err = Exponential(0)
	check("above zero", d, err)
	d, err = Mixture()
	check("at least one part", d, err)
	d, err = Mixture(Part{0.5, constant(1)}, Part{0.4, constant(2)})
	check("add up to 0.9", d, err)
	d, err = Mixture(Part{1.5, constant(1)}, Part{-0.5, constant(2)})
	check("part 2 needs a share", d, err)
	d, err = Mixture(Part{math.NaN(), constant(1)})
	check("part 1 needs a share", d, err)
}

func TestWhatADurationCannotHoldIsTheLongest(t *testing.T) {
	all := samples(t)
	for _, name := range []string{"exponential", "lognormal by p50", "pareto", "mixture"} {
		if got := all[name].Quantile(1); got != math.MaxInt64 {
			t.Errorf("%s: quantile(1) = %v", name, got)
		}
	}
	wide := must[Dist](t)(Uniform(0, math.MaxInt64))
	if got := wide.Draw(Stream(1, "hold", 0)); got < 0 {
		t.Errorf("the widest uniform draws %v", got)
	}
}

func BenchmarkDraw(b *testing.B) {
	for name, d := range samples(b) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			r := Stream(1, "hold", 0)
			for b.Loop() {
				d.Draw(r)
			}
		})
	}
}
