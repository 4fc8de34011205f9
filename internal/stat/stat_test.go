package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The ranks are those of the table of the sign-test interval, Conover, table A3 read for p = 1/2.
func TestMedianIntervalUsesThePublishedRanks(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 1, 7: 1, 8: 1, 9: 2, 10: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 40: 14, 50: 18, 100: 40} {
		if got := rank(n); got != want {
			t.Errorf("n = %d: rank %d, want %d", n, got, want)
		}
	}
}

// From golang.org/x/perf/benchmath, TestSummaryNone.
func TestMedianOfSixHasTheExtremesAsInterval(t *testing.T) {
	median, lo, hi, ok := Median([]float64{-10, 6, 3, 4, 5, 2})
	if median != 3.5 || lo != -10 || hi != 6 || !ok {
		t.Fatalf("got %v [%v, %v] %v, want 3.5 [-10, 6] true", median, lo, hi, ok)
	}
}

func TestMedianBelowSixHasNoInterval(t *testing.T) {
	median, _, _, ok := Median([]float64{5, 1, 3, 2, 4})
	if median != 3 || ok {
		t.Fatalf("got %v %v, want 3 without interval", median, ok)
	}
	if median, _, _, ok := Median(nil); !math.IsNaN(median) || ok {
		t.Fatalf("an empty sample has the median %v", median)
	}
}

func TestMedianLeavesItsSampleAlone(t *testing.T) {
	sample := []float64{3, 1, 2}
	Median(sample)
	if sample[0] != 3 {
		t.Fatal("the sample was sorted in place")
	}
}

func TestMedianLiesInItsInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 6, 200).Draw(t, "sample")
		median, lo, hi, ok := Median(sample)
		if !ok || lo > median || median > hi {
			t.Fatalf("median %v, interval [%v, %v] %v", median, lo, hi, ok)
		}
	})
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want)) }

// Norris of the NIST Statistical Reference Datasets (linear regression), certified B0 and B1.
func TestLineAgreesWithNIST(t *testing.T) {
	x := []float64{0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0, 447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3, 229.2, 669.1, 448.9, 0.5}
	y := []float64{0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3, 448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6, 228.9, 668.4, 449.2, 0.2}
	intercept, slope := Line(x, y)
	if !near(intercept, -0.262323073774029) || !near(slope, 1.00211681802045) {
		t.Fatalf("got %v + %v x, want -0.262323073774029 + 1.00211681802045 x", intercept, slope)
	}
}

func TestLineThroughOneXIsFlat(t *testing.T) {
	if intercept, slope := Line([]float64{2, 2}, []float64{1, 3}); intercept != 2 || slope != 0 {
		t.Fatalf("got %v + %v x, want 2 + 0 x", intercept, slope)
	}
}

// The example of the paper: of 100 shares, 20 get everything and 80 nothing, so the index is 0.2.
func TestJainIsTheShareOfTheFavoured(t *testing.T) {
	shares := make([]float64, 100)
	for i := range 20 {
		shares[i] = 5
	}
	if got := Jain(shares); !near(got, 0.2) {
		t.Errorf("got %v, want 0.2", got)
	}
	if got := Jain([]float64{7, 7, 7}); !near(got, 1) {
		t.Errorf("equal shares: got %v, want 1", got)
	}
	if got := Jain(nil); !math.IsNaN(got) {
		t.Errorf("no shares: got %v, want NaN", got)
	}
}
