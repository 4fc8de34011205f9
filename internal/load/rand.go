// Package load turns an offered load into the moments at which sessions should start, and into what each of them
// asks for: which key, and how long it holds it. It does not know what a session does.
//
// Everything random comes from Stream, so the same seed gives the same schedule for ever.
package load

import "math/rand/v2"

// Stream is the random stream of one purpose ("arrivals", "hold", ...) and one index within it (a session, a
// client, a trial). Streams of different purposes or indexes are independent, so that one part can draw more or less
// without moving another: two policies see the same demand.
func Stream(seed uint64, purpose string, index uint64) *rand.Rand {
	return rand.New(rand.NewPCG(words(seed, purpose, index)))
}

// Reseed makes p the source of Stream(seed, purpose, index), for a caller that opens many short streams one after
// another: a rand.Rand on p then gives the same numbers, without an allocation.
func Reseed(p *rand.PCG, seed uint64, purpose string, index uint64) {
	p.Seed(words(seed, purpose, index))
}

// words is the initial state of a stream. PCGs that start from neighbouring numbers are correlated, so both words are
// hashed. For one seed and purpose the first is a bijection of index: no two streams of a purpose are equal.
func words(seed uint64, purpose string, index uint64) (uint64, uint64) {
	h := mix(seed ^ mix(fnv1a(purpose)))
	return mix(h + index*golden), mix(^h ^ mix(index))
}

// golden is 2^64 divided by the golden ratio, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix is a step of SplitMix64. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014;
// constants of its reference implementation by S. Vigna.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fnv1a is the 64-bit FNV-1a hash of s, written out because hash/fnv allocates.
func fnv1a(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}
