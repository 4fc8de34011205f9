package load

import (
	"math"
	"testing"
)

// popularities is every kind, over few enough keys to test each key's count.
func popularities(t testing.TB) map[string]Keys {
	keys := must[Keys](t)
	return map[string]Keys{
		"uniform":     keys(UniformKeys(50)),
		"hot":         keys(Hot(50, 0.1, 0.9)),
		"zipf 0.3":    keys(Zipf(50, 0.3)),
		"zipf 0.8":    keys(Zipf(50, 0.8)),
		"zipf 1":      keys(Zipf(50, 1)),
		"zipf 1.0001": keys(Zipf(50, 1.0001)),
		"zipf 1.5":    keys(Zipf(50, 1.5)),
		"zipf 3":      keys(Zipf(6, 3)),
		"one key":     keys(Zipf(1, 0.8)),
	}
}

// TestPicksFollowTheirShares is the chi-square test with a fixed seed. Its bound is the mean of the statistic plus
// four standard deviations.
func TestPicksFollowTheirShares(t *testing.T) {
	const n = 500_000
	for name, k := range popularities(t) {
		r, counts := Stream(5, name, 0), make([]float64, k.Count())
		for range n {
			counts[k.Pick(r)]++
		}
		chi, freedom := 0.0, float64(k.Count()-1)
		for i, c := range counts {
			chi += (c - n*k.Share(i)) * (c - n*k.Share(i)) / (n * k.Share(i))
		}
		if chi > freedom+4*math.Sqrt(2*freedom)+1e-9 {
			t.Errorf("%s: chi-square is %.1f with %.0f degrees of freedom", name, chi, freedom)
		}
	}
}

func TestSharesAddUpToOne(t *testing.T) {
	all := popularities(t)
	for _, s := range []float64{0.01, 0.5, 0.99, 1, 1.7, 40} {
		all["zipf over many"] = must[Keys](t)(Zipf(200_000, s))
		for name, k := range all {
			sum := 0.0
			for i := k.Count() - 1; i >= 0; i-- {
				sum += k.Share(i)
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s (%v): shares add up to 1%+g", name, s, sum-1)
			}
		}
	}
}

// The shares of the hottest key are computed elsewhere.
func TestZipfSharesOfTheHottestKey(t *testing.T) {
	check := func(n int, s, want float64) {
		t.Helper()
		if got := must[Keys](t)(Zipf(n, s)).Share(0); math.Abs(got-want) > 5e-7 {
			t.Errorf("zipf over %d keys with s %v: %.6f, want %.6f", n, s, got, want)
		}
	}
	check(100, 0.99, 0.188873)
	check(1000, 0.99, 0.129384)
	check(1000, 1.2, 0.230640)
	check(10_000, 0.99, 0.097806)
}

func TestTenMillionKeysNeedNoTable(t *testing.T) {
	var k Keys
	allocated := testing.AllocsPerRun(10, func() { k = must[Keys](t)(Zipf(10_000_000, 0.8)) })
	if allocated > 10 {
		t.Errorf("%v allocations to build it", allocated)
	}
	r, hottest := Stream(1, "key", 0), 0
	const n = 300_000
	for range n {
		i := k.Pick(r)
		if i < 0 || i >= k.Count() {
			t.Fatalf("key %d of %d", i, k.Count())
		}
		if i < 1000 {
			hottest++
		}
	}
	want := harmonic(1000, 0.8) / harmonic(10_000_000, 0.8)
	if got := float64(hottest) / n; math.Abs(got-want) > 4*math.Sqrt(want/n) {
		t.Errorf("the first 1000 keys get %.4f, want %.4f", got, want)
	}
}

func TestHotKeysGetTheirOps(t *testing.T) {
	check := func(name string, k Keys, i int, want float64) {
		t.Helper()
		if got := k.Share(i); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: key %d has the share %v, want %v", name, i, got, want)
		}
	}
	k := must[Keys](t)(Hot(20, 0.1, 0.9))
	check("10 % of 20", k, 1, 0.45)
	check("10 % of 20", k, 2, 0.1/18)
	check("a share that rounds to none is one key", must[Keys](t)(Hot(5, 0.01, 0.9)), 0, 0.9)
	check("all keys hot", must[Keys](t)(Hot(4, 1, 0.9)), 3, 0.25)
	check("the only key", must[Keys](t)(Hot(1, 0.1, 0.5)), 0, 1)
}

func TestPopularityThatMakesNoSenseIsRefused(t *testing.T) {
	check := func(name string, _ Keys, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	k, err := UniformKeys(0)
	check("no key", k, err)
	k, err = Zipf(10, 0)
	check("zipf with s 0", k, err)
	k, err = Zipf(10, math.NaN())
	check("zipf with s NaN", k, err)
	k, err = Zipf(0, 1)
	check("zipf over no key", k, err)
	k, err = Hot(10, 0, 0.5)
	check("no hot keys", k, err)
	k, err = Hot(10, 0.1, 1.1)
	check("more than all ops", k, err)
	k, err = Hot(-1, 0.1, 0.5)
	check("hot over fewer than no key", k, err)
}

func BenchmarkPick(b *testing.B) {
	keys := must[Keys](b)
	for name, k := range map[string]Keys{
		"uniform": keys(UniformKeys(1e7)), "hot": keys(Hot(1e7, 0.1, 0.9)),
		"zipf-0.8": keys(Zipf(1e7, 0.8)), "zipf-1.2": keys(Zipf(1e7, 1.2)),
	} {
		b.Run(name, func(b *testing.B) {
			r := Stream(1, "key", 0)
			for b.Loop() {
				k.Pick(r)
			}
		})
	}
}

func BenchmarkZipfOverTenMillionKeysIsBuilt(b *testing.B) {
	for b.Loop() {
		must[Keys](b)(Zipf(1e7, 0.8))
	}
}
