package load

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Dist is a distribution of durations of zero or more. Values that a Duration cannot hold (292 years) become the
// longest Duration; nothing else is ever cut off.
type Dist interface {
	// Draw is one value. It depends only on the state of r.
	Draw(r *rand.Rand) time.Duration
	// Mean is the exact mean of the distribution, to the nanosecond. It is finite.
	Mean() time.Duration
	// Quantile is the least d with CDF(d) >= q, to the nanosecond. A q below 0 counts as 0, one above 1 as 1; where
	// the distribution has no end, Quantile(1) is the longest Duration.
	Quantile(q float64) time.Duration
	// CDF is the share of values that are d or less.
	CDF(d time.Duration) float64
}

// Constant is always d.
func Constant(d time.Duration) (Dist, error) {
	if d < 0 {
		return nil, fmt.Errorf("constant: need zero or more, got %v", d)
	}
	return constant(d), nil
}

type constant time.Duration

func (c constant) Draw(*rand.Rand) time.Duration  { return time.Duration(c) }
func (c constant) Mean() time.Duration            { return time.Duration(c) }
func (c constant) Quantile(float64) time.Duration { return time.Duration(c) }
func (c constant) CDF(d time.Duration) float64 {
	if d < time.Duration(c) {
		return 0
	}
	return 1
}

// Uniform is spread evenly over [low, high], both included.
func Uniform(low, high time.Duration) (Dist, error) {
	if low < 0 || high < low {
		return nil, fmt.Errorf("uniform: need 0 <= min <= max, got min %v and max %v", low, high)
	}
	return uniform{low, high}, nil
}

type uniform struct{ low, high time.Duration }

func (u uniform) Draw(r *rand.Rand) time.Duration {
	return u.low + time.Duration(r.Uint64N(uint64(u.high-u.low)+1))
}

func (u uniform) Mean() time.Duration { return u.low + (u.high-u.low)/2 }

func (u uniform) Quantile(q float64) time.Duration {
	return min(u.high, u.low+nearest(unit(q)*float64(u.high-u.low)))
}

func (u uniform) CDF(d time.Duration) float64 {
	if d >= u.high {
		return 1
	}
	return max(0, float64(d-u.low)/float64(u.high-u.low))
}

// Exponential has the given mean; it has no memory: what is left of a value that has lasted is distributed as a new
// one.
func Exponential(mean time.Duration) (Dist, error) {
	if mean <= 0 {
		return nil, fmt.Errorf("exponential: mean must be above zero, got %v", mean)
	}
	return exponential(mean), nil
}

type exponential time.Duration

func (e exponential) Draw(r *rand.Rand) time.Duration { return nearest(r.ExpFloat64() * float64(e)) }
func (e exponential) Mean() time.Duration             { return time.Duration(e) }
func (e exponential) Quantile(q float64) time.Duration {
	return nearest(-math.Log1p(-unit(q)) * float64(e))
}
func (e exponential) CDF(d time.Duration) float64 { return max(0, -math.Expm1(-float64(d)/float64(e))) }

// LognormalP50 is the lognormal distribution with this median and this 99th percentile.
func LognormalP50(p50, p99 time.Duration) (Dist, error) {
	if p50 <= 0 || p99 <= p50 {
		return nil, fmt.Errorf("lognormal: need 0 < p50 < p99, got p50 %v and p99 %v", p50, p99)
	}
	mu := math.Log(float64(p50))
	return lognormal{mu, (math.Log(float64(p99)) - mu) / z99}, nil
}

// LognormalMean is the lognormal distribution with this mean m and this 99th percentile q. With s for its sigma,
// ln q - ln m = z s - s^2/2, z = 2.326 being the 99th percentile of the normal distribution. There is a solution
// up to q/m = e^(z^2/2) = 14.97, and of the two the smaller s is taken. For q at or below the mean only an s above
// 4.65 would do, where the top percent makes up all of the mean: that is nobody's lock, and refused.
func LognormalMean(mean, p99 time.Duration) (Dist, error) {
	if mean <= 0 || p99 <= mean {
		return nil, fmt.Errorf("lognormal: need 0 < mean < p99, got mean %v and p99 %v", mean, p99)
	}
	ratio := math.Log(float64(p99)) - math.Log(float64(mean))
	root := z99*z99 - 2*ratio
	if root < 0 {
		return nil, fmt.Errorf("lognormal: none has its p99 at %.4g times its mean; the most is %.4g", math.Exp(ratio), math.Exp(z99*z99/2))
	}
	sigma := z99 - math.Sqrt(root)
	return lognormal{math.Log(float64(mean)) - sigma*sigma/2, sigma}, nil
}

// z99 is the 99th percentile of the standard normal distribution.
var z99 = normalQuantile(0.99)

func normalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

type lognormal struct{ mu, sigma float64 } // of the logarithm of nanoseconds

func (l lognormal) Draw(r *rand.Rand) time.Duration {
	return nearest(math.Exp(l.mu + l.sigma*r.NormFloat64()))
}
func (l lognormal) Mean() time.Duration { return nearest(math.Exp(l.mu + l.sigma*l.sigma/2)) }
func (l lognormal) Quantile(q float64) time.Duration {
	return nearest(math.Exp(l.mu + l.sigma*normalQuantile(unit(q))))
}
func (l lognormal) CDF(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return math.Erfc((l.mu-math.Log(float64(d)))/(l.sigma*math.Sqrt2)) / 2
}

// Pareto has the least value low and the 99th percentile p99; the share of values beyond d is (low/d)^alpha, with
// alpha = ln 100 / ln(p99/low). From p99 = 100 low on alpha is 1 or less and the mean infinite: no rate above zero
// could be served, no trial would settle, so that is refused.
func Pareto(low, p99 time.Duration) (Dist, error) {
	if low <= 0 || p99 <= low {
		return nil, fmt.Errorf("pareto: need 0 < min < p99, got min %v and p99 %v", low, p99)
	}
	alpha := math.Log(100) / (math.Log(float64(p99)) - math.Log(float64(low)))
	if float64(p99) >= 100*float64(low) {
		return nil, fmt.Errorf("pareto: p99 %v must be below 100 x min %v, from there on the mean is infinite", p99, low)
	}
	return pareto{low, alpha}, nil
}

type pareto struct {
	low   time.Duration
	alpha float64
}

func (p pareto) Draw(r *rand.Rand) time.Duration {
	return nearest(float64(p.low) * math.Exp(r.ExpFloat64()/p.alpha)) // ln(X/low) is exponential with rate alpha
}
func (p pareto) Mean() time.Duration { return nearest(float64(p.low) * p.alpha / (p.alpha - 1)) }
func (p pareto) Quantile(q float64) time.Duration {
	return nearest(float64(p.low) * math.Exp(-math.Log1p(-unit(q))/p.alpha))
}
func (p pareto) CDF(d time.Duration) float64 {
	if d <= p.low {
		return 0
	}
	return -math.Expm1(-p.alpha * math.Log(float64(d)/float64(p.low)))
}

// Part is one component of a mixture.
type Part struct {
	Share float64 // above 0; all shares add up to 1
	Dist  Dist
}

// Mixture draws from one of its parts, each with the probability of its share: 99 % quick calls and 1 % slow ones.
func Mixture(parts ...Part) (Dist, error) {
	if len(parts) == 0 {
		return nil, errors.New("mixture: need at least one part")
	}
	sum := 0.0
	for i, p := range parts {
		if !(p.Share > 0) || p.Dist == nil {
			return nil, fmt.Errorf("mixture: part %d needs a share above 0 and a distribution, got share %v", i+1, p.Share)
		}
		sum += p.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("mixture: shares add up to %.6g, not to 1", sum)
	}
	m := append(mixture(nil), parts...)
	for i := range m {
		m[i].Share /= sum // so that 33.3333 % three times is a third each
	}
	return m, nil
}

type mixture []Part

func (m mixture) Draw(r *rand.Rand) time.Duration {
	u, last := r.Float64(), len(m)-1
	for _, p := range m[:last] {
		if u < p.Share {
			return p.Dist.Draw(r)
		}
		u -= p.Share
	}
	return m[last].Dist.Draw(r)
}

func (m mixture) Mean() time.Duration {
	sum := 0.0
	for _, p := range m {
		sum += p.Share * float64(p.Dist.Mean())
	}
	return nearest(sum)
}

// Quantile has no closed form. It lies between the parts' own quantiles, and is found there by bisection.
func (m mixture) Quantile(q float64) time.Duration {
	q = unit(q)
	low, high := m[0].Dist.Quantile(q), m[0].Dist.Quantile(q)
	for _, p := range m[1:] {
		low, high = min(low, p.Dist.Quantile(q)), max(high, p.Dist.Quantile(q))
	}
	for low < high {
		middle := low + (high-low)/2
		if m.CDF(middle) >= q {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return high
}

func (m mixture) CDF(d time.Duration) float64 {
	sum := 0.0
	for _, p := range m {
		sum += p.Share * p.Dist.CDF(d)
	}
	return min(1, sum)
}

// nearest rounds x, in nanoseconds, to a Duration; what is too long becomes the longest.
func nearest(x float64) time.Duration {
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(x))
}

// unit brings a probability into [0, 1].
func unit(q float64) float64 { return min(1, max(0, q)) }
