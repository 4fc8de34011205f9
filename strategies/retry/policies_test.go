package retry

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, ^n)) }

// waits asks p as the loop would, n times or until it gives up.
func waits(p Policy, n int, r *rand.Rand) []time.Duration {
	var all []time.Duration
	f := Failed{N: 1, Rand: r}
	for len(all) < n {
		w, ok := p(f)
		if !ok {
			break
		}
		all = append(all, w)
		f = Failed{N: f.N + 1, Prev: w, Elapsed: f.Elapsed + w, Rand: r}
	}
	return all
}

func must(t testing.TB) func(Policy, error) Policy {
	return func(p Policy, err error) Policy {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func TestPoliciesWithoutJitterWaitExactly(t *testing.T) {
	check := func(name string, p Policy, err error, want ...time.Duration) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := waits(p, len(want), nil); !slices.Equal(got, want) {
			t.Errorf("%s waits %v, want %v", name, got, want)
		}
	}
	p, err := Fixed(10 * ms)
	check("fixed", p, err, 10*ms, 10*ms, 10*ms)
	p, err = Linear(50*ms, 500*ms, 10)
	check("linear up", p, err, 50*ms, 100*ms, 150*ms, 200*ms, 250*ms, 300*ms, 350*ms, 400*ms, 450*ms, 500*ms, 500*ms)
	p, err = Linear(3*ms, 1*ms, 2)
	check("linear down", p, err, 3*ms, 1*ms, 1*ms)
	p, err = Linear(0, 1*ms, 4)
	check("linear of uneven strides", p, err, 0, 333333, 666666, 1*ms)
	p, err = Stages(Stage{5 * ms, 2}, Stage{7 * ms, 1})
	check("stages", p, err, 5*ms, 5*ms, 7*ms, 7*ms, 7*ms)
	p, err = Exponential(2*ms, 15*ms)
	check("exponential", p, err, 2*ms, 4*ms, 8*ms, 15*ms, 15*ms)
}

func TestFailFastGivesUpAfterTheFirstAttempt(t *testing.T) {
	if got := waits(FailFast(), 5, nil); len(got) != 0 {
		t.Errorf("waits %v, want none", got)
	}
}

func TestPoliciesThatMakeNoSenseAreRefused(t *testing.T) {
	check := func(name string, _ Policy, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	p, err := Fixed(-1)
	check("a negative wait", p, err)
	p, err = Uniform(2*ms, 1*ms)
	check("max below min", p, err)
	p, err = Uniform(-1, 1*ms)
	check("a negative min", p, err)
	p, err = Linear(0, 1*ms, 1)
	check("linear of one step", p, err)
	p, err = Linear(-1, 1*ms, 3)
	check("linear from below zero", p, err)
	p, err = Stages()
	check("no stage", p, err)
	p, err = Stages(Stage{1 * ms, 0})
	check("a stage of no times", p, err)
	for name, build := range backoffs {
		p, err = build(2*ms, 1*ms)
		check(name+" with cap below base", p, err)
		p, err = build(0, 1*ms)
		check(name+" from zero", p, err)
	}
}

var backoffs = map[string]func(base, most time.Duration) (Policy, error){
	"exponential": Exponential, "full-jitter": FullJitter, "equal-jitter": EqualJitter, "decorrelated": Decorrelated,
}

// anyFailed is what a policy may be asked at any point of an acquisition, the absurd included.
func anyFailed(t *rapid.T) Failed {
	return Failed{
		N:       rapid.IntRange(1, math.MaxInt).Draw(t, "n"),
		Prev:    time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "prev")),
		Elapsed: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "elapsed")),
	}
}

func TestEveryBackoffStaysInItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "base"))
		most := time.Duration(rapid.Int64Range(int64(base), math.MaxInt64).Draw(t, "cap"))
		f := anyFailed(t)
		f.N = min(f.N, rapid.IntRange(1, 80).Draw(t, "small n"))
		f.Rand = seeded(rapid.Uint64().Draw(t, "seed"))
		e := closedForm(base, most, f.N)
		low := map[string]time.Duration{"exponential": e, "full-jitter": 0, "equal-jitter": e / 2, "decorrelated": base}
		high := map[string]time.Duration{"exponential": e, "full-jitter": e, "equal-jitter": e, "decorrelated": most}
		for name, build := range backoffs {
			p, err := build(base, most)
			if err != nil {
				t.Fatal(err)
			}
			if w, ok := p(f); !ok || w < low[name] || w > high[name] {
				t.Errorf("%s{%d, %d} after attempt %d: %d %v, want [%d, %d]", name, base, most, f.N, w, ok, low[name], high[name])
			}
		}
	})
}

// closedForm is min(cap, base * 2^(n-1)) by repeated addition, to compare with the shift in the code.
func closedForm(base, most time.Duration, n int) time.Duration {
	e := base
	for i := 1; i < n; i++ {
		if e > most-e {
			return most
		}
		e += e
	}
	return e
}

func TestUniformLinearAndStagesStayInTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "a"))
		b := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "b"))
		f := anyFailed(t)
		f.Rand = seeded(rapid.Uint64().Draw(t, "seed"))
		inside := func(name string, p Policy, err error) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if w, ok := p(f); !ok || w < min(a, b) || w > max(a, b) {
				t.Errorf("%s of %d and %d: %d %v", name, a, b, w, ok)
			}
		}
		p, err := Uniform(min(a, b), max(a, b))
		inside("uniform", p, err)
		p, err = Linear(a, b, rapid.IntRange(2, maxSteps).Draw(t, "steps"))
		inside("linear", p, err)
		p, err = Stages(Stage{a, rapid.IntRange(1, math.MaxInt).Draw(t, "times")}, Stage{b, 1})
		inside("stages", p, err)
	})
}

func TestMeansOfJitterAreThoseOfTheClosedForms(t *testing.T) {
	const draws = 200_000
	check := func(name string, p Policy, f Failed, want time.Duration) {
		t.Helper()
		f.Rand = seeded(11)
		var sum, squares float64
		for range draws {
			w, _ := p(f)
			sum += float64(w)
			squares += float64(w) * float64(w)
		}
		mean := sum / draws
		// Four standard errors: a fixed seed makes it pass or fail for ever, a wrong formula is far outside.
		if bound := 4 * math.Sqrt((squares/draws-mean*mean)/draws); math.Abs(mean-float64(want)) > bound {
			t.Errorf("%s: mean %v, want %v within %v", name, time.Duration(mean), want, time.Duration(bound))
		}
	}
	check("uniform", must(t)(Uniform(50*ms, 200*ms)), Failed{N: 1}, 125*ms)
	full := must(t)(FullJitter(2*ms, 64*ms))
	check("full-jitter, third wait", full, Failed{N: 3}, 4*ms)
	check("full-jitter at its cap", full, Failed{N: 30}, 32*ms)
	check("equal-jitter", must(t)(EqualJitter(2*ms, 64*ms)), Failed{N: 3}, 6*ms)
	decorrelated := must(t)(Decorrelated(2*ms, 64*ms))
	check("decorrelated, first wait", decorrelated, Failed{N: 1}, 4*ms)
	check("decorrelated, after 10 ms", decorrelated, Failed{N: 2, Prev: 10 * ms}, 16*ms)
	// E[min(cap, U[b, 3p])] = ((cap^2-b^2)/2 + cap(3p-cap)) / (3p-b) = (2046 + 7424) / 178 ms for b=2, p=60, cap=64.
	check("decorrelated, cut by its cap", decorrelated, Failed{N: 3, Prev: 60 * ms}, 53202247)
}

func TestAPolicyIsAPureFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(Catalogue()).Draw(t, "policy")
		p, _, err := New(e.Name, example[e.Name], rapid.IntRange(0, 5).Filter(func(n int) bool { return e.Mode != Block || n == 0 }).Draw(t, "limit"), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, seed := anyFailed(t), rapid.Uint64().Draw(t, "seed")
		ask := func() (time.Duration, bool) {
			f.Rand = seeded(seed)
			return p(f)
		}
		wait, ok := ask()
		p(Failed{N: 7, Prev: time.Second, Rand: seeded(seed + 1)}) // another acquisition in between
		if w, again := ask(); w != wait || again != ok {
			t.Errorf("%s said %v %v, then %v %v", e.Name, wait, ok, w, again)
		}
		if wait < 0 {
			t.Errorf("%s waits %v", e.Name, wait)
		}
	})
}

func TestAcquisitionsWithStreamsOfTheirOwnDoNotStayInStep(t *testing.T) {
	p := must(t)(FullJitter(10*ms, 10*ms))
	const n = 2000
	a, b := waits(p, n, seeded(1)), waits(p, n, seeded(2))
	var ab, aa, bb float64
	for i := range n {
		x, y := float64(a[i]-5*ms), float64(b[i]-5*ms)
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if r := ab / math.Sqrt(aa*bb); math.Abs(r) > 4/math.Sqrt(n) {
		t.Errorf("waits of two acquisitions correlate by %.3f", r)
	}
}

func TestLimitAllowsThatManyAttempts(t *testing.T) {
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 0, 2: 1, 10: 9} {
		if got := len(waits(Limit(n, must(t)(Fixed(ms))), 100, nil)); got != want {
			t.Errorf("limit of %d attempts: %d waits, want %d", n, got, want)
		}
	}
}

func TestWithinGivesUpRatherThanBeginTooLate(t *testing.T) {
	p := Within(25*ms, must(t)(Fixed(10*ms)))
	check := func(elapsed time.Duration, want bool) {
		t.Helper()
		if w, ok := p(Failed{N: 1, Elapsed: elapsed}); ok != want || (!ok && w != 0) {
			t.Errorf("after %v: %v %v, want %v", elapsed, w, ok, want)
		}
	}
	check(0, true)
	check(15*ms, true) // the next attempt begins exactly at 25 ms
	check(15*ms+1, false)
	check(time.Hour, false)
	check(math.MaxInt64, false)
}

func TestWithinKeepsTheRefusalOfItsPolicy(t *testing.T) {
	if _, ok := Within(time.Hour, FailFast())(Failed{N: 1}); ok {
		t.Error("fail-fast goes on")
	}
}
