package load

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestStreamsAreTheSameForEver(t *testing.T) {
	check := func(seed uint64, purpose string, index uint64, want ...uint64) {
		t.Helper()
		r := Stream(seed, purpose, index)
		for i, w := range want {
			if got := r.Uint64(); got != w {
				t.Errorf("stream(%d, %s, %d): number %d is %#x, want %#x", seed, purpose, index, i, got, w)
			}
		}
	}
	check(42, "arrivals", 0, 0x35362d82202f8393, 0xb736bf725471b6a4)
	check(42, "hold", 0, 0xdcf471dd4849145a, 0x412ab4f4e09b884f)
	check(42, "hold", 1, 0x19e4d84f9f398bac, 0x5c81c4dd4642562b)
	check(43, "hold", 1, 0xdef169fda7ea2b17, 0xd3a305e5c65ce64f)
}

func TestHashesAreTheOnesTheyAreNamedAfter(t *testing.T) {
	// First output of SplitMix64 from state 0, and FNV-1a of "a", as their authors publish them.
	if got := mix(0); got != 0xe220a8397b1dcdaf {
		t.Errorf("SplitMix64 of 0 is %#x", got)
	}
	if got := fnv1a("a"); got != 0xaf63dc4c8601ec8c {
		t.Errorf("FNV-1a of a is %#x", got)
	}
}

func TestReseedOpensTheSameStreamWithoutAllocation(t *testing.T) {
	var p rand.PCG
	r := rand.New(&p)
	for i := range uint64(5) {
		Reseed(&p, 7, "key", i)
		if got, want := r.Uint64(), Stream(7, "key", i).Uint64(); got != want {
			t.Errorf("stream %d starts with %#x, want %#x", i, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Reseed(&p, 7, "key", 9) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestNeighbouringStreamsHaveNothingInCommon(t *testing.T) {
	const n = 20_000
	different := 0
	first := make([]uint64, n)
	for i := range first {
		first[i] = Stream(1, "hold", uint64(i)).Uint64()
		different += bits.OnesCount64(first[i] ^ Stream(1, "hold", uint64(i+1)).Uint64())
		different += bits.OnesCount64(first[i] ^ Stream(2, "hold", uint64(i)).Uint64())
		different += bits.OnesCount64(first[i] ^ Stream(1, "key", uint64(i)).Uint64())
	}
	// Half of 3 x 64 x n bits differ; four standard deviations of the binomial, doubled for the shared terms.
	const all = 3 * 64 * n
	if off := different - all/2; off*off > 8*8*all/4 {
		t.Errorf("%d of %d bits differ, want about half", different, all)
	}
	slices.Sort(first)
	if len(slices.Compact(first)) != n {
		t.Error("two streams of one purpose start with the same number")
	}
}
