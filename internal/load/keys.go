package load

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Keys says which of a number of keys a session asks for. Keys are numbered from 0; where some are hotter than
// others, the lowest numbers are the hottest. (A cluster spreads names by their hash, so neighbours in number are no
// neighbours in slot.)
type Keys interface {
	// Pick is a key. It depends only on the state of r.
	Pick(r *rand.Rand) int
	// Share is the exact share of the sessions that ask for key i, 0 <= i < Count.
	Share(i int) float64
	// Count is the number of keys.
	Count() int
}

// UniformKeys asks for each of n keys equally often.
func UniformKeys(n int) (Keys, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	return uniformKeys(n), nil
}

type uniformKeys int

func (u uniformKeys) Pick(r *rand.Rand) int { return r.IntN(int(u)) }
func (u uniformKeys) Share(int) float64     { return 1 / float64(u) }
func (u uniformKeys) Count() int            { return int(u) }

// Hot sends the share hotOps of the sessions to the first hotKeys x n keys, rounded but at least one, and the rest to
// the others; within each group all are alike. Where rounding leaves no others, all keys are alike.
func Hot(n int, hotKeys, hotOps float64) (Keys, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	if !(hotKeys > 0 && hotKeys <= 1 && hotOps >= 0 && hotOps <= 1) {
		return nil, fmt.Errorf("keys: hot needs a share of keys above 0 and a share of ops, both up to 1, got %v and %v", hotKeys, hotOps)
	}
	hot := max(1, int(math.Round(hotKeys*float64(n))))
	if hot >= n {
		return uniformKeys(n), nil
	}
	return hotKeysOf{n, hot, hotOps}, nil
}

type hotKeysOf struct {
	n, hot int
	ops    float64
}

func (h hotKeysOf) Pick(r *rand.Rand) int {
	if r.Float64() < h.ops {
		return r.IntN(h.hot)
	}
	return h.hot + r.IntN(h.n-h.hot)
}

func (h hotKeysOf) Share(i int) float64 {
	if i < h.hot {
		return h.ops / float64(h.hot)
	}
	return (1 - h.ops) / float64(h.n-h.hot)
}

func (h hotKeysOf) Count() int { return h.n }

// Zipf asks for key i in proportion to (i+1)^-s, for any s above 0. It is exact and keeps no table, so ten million
// keys cost what ten cost: draws are by rejection-inversion (about one and a half uniform numbers each), the
// normalising sum is by Euler-Maclaurin.
//
// Source: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
// distributions", ACM TOMACS 6(3), 1996. math/rand/v2.Zipf uses it too, but only for s above 1, and popularity of
// keys in practice lies below.
func Zipf(n int, s float64) (Keys, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	if !(s > 0 && s <= maxExponent) {
		return nil, fmt.Errorf("keys: the exponent of zipf must be above 0 and at most %d, got %v", maxExponent, s)
	}
	z := zipf{n: n, s: s, sum: harmonic(n, s)}
	z.from, z.to = z.area(1.5)-1, z.area(float64(n)+0.5)
	z.sure = 2 - z.place(z.area(2.5)-z.weight(2))
	return z, nil
}

// At an exponent of 100 all but 1 in 10^30 sessions ask for the first key: beyond, there is nothing to tell apart.
const maxExponent = 100

type zipf struct {
	n        int
	s, sum   float64
	from, to float64 // the range of areas that uniform numbers are spread over
	sure     float64 // a rank this far or less above the place drawn needs no second look
}

func (z zipf) Pick(r *rand.Rand) int {
	for {
		u := z.to + r.Float64()*(z.from-z.to)
		x := z.place(u)
		rank := min(max(math.Round(x), 1), float64(z.n))
		if rank-x <= z.sure || u >= z.area(rank+0.5)-z.weight(rank) {
			return int(rank) - 1
		}
	}
}

func (z zipf) Share(i int) float64 { return z.weight(float64(i+1)) / z.sum }
func (z zipf) Count() int          { return z.n }

// weight is x^-s.
func (z zipf) weight(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

// area is the integral of weight from 1 to x: (x^(1-s) - 1) / (1-s), and ln x where s is 1.
func (z zipf) area(x float64) float64 {
	log := math.Log(x)
	return ratio(math.Expm1, (1-z.s)*log) * log
}

// place is the inverse of area.
func (z zipf) place(area float64) float64 {
	t := max(-1, area*(1-z.s)) // below -1 only by rounding
	return math.Exp(ratio(math.Log1p, t) * area)
}

// ratio is f(x)/x for f = expm1 or log1p, whose limit at 0 is 1.
func ratio(f func(float64) float64, x float64) float64 {
	if x == 0 {
		return 1
	}
	return f(x) / x
}

// harmonic is the sum of i^-s for i = 1..n: the first terms one by one, the rest by the Euler-Maclaurin formula, whose
// first omitted term is about 1e-15 of the sum.
func harmonic(n int, s float64) float64 {
	const direct = 1000
	sum := 0.0
	for i := min(n, direct); i > 0; i-- { // the small ones first, for the sake of the last digits
		sum += math.Pow(float64(i), -s)
	}
	if n <= direct {
		return sum
	}
	a, b := float64(direct), float64(n)
	fa, fb := math.Pow(a, -s), math.Pow(b, -s)
	z := zipf{s: s}
	return sum + z.area(b) - z.area(a) + (fb-fa)/2 + s/12*(fa/a-fb/b)
}

func checkCount(n int) error {
	if n < 1 {
		return fmt.Errorf("keys: need at least one, got %d", n)
	}
	return nil
}
