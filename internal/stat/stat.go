// Package stat holds the statistics that summaries and charts need: pure functions over plain numbers. It never
// averages percentiles and never assumes a normal distribution; benchmark figures are not.
package stat

import (
	"math"
	"slices"
)

// Confidence of the intervals.
const Confidence = 0.95

// Median is the sample median with its distribution-free interval at Confidence. ok is false where there are too few
// values for an interval: below 6, as 2 x 0.5^5 > 0.05. An empty sample has the median NaN.
//
// The interval runs from the k-th smallest to the k-th largest value, k the largest number for which the chance that
// fewer than k of n values lie below the true median, P(X < k) with X ~ Binomial(n, 1/2), is at most 2.5 % a side.
// Source: W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2 (confidence interval for a
// quantile); for n = 6 to 8 it is what golang.org/x/perf/benchmath calls AssumeNothing.
func Median(sample []float64) (median, lo, hi float64, ok bool) {
	s := slices.Sorted(slices.Values(sample))
	n := len(s)
	if n == 0 {
		return math.NaN(), 0, 0, false
	}
	median = (s[(n-1)/2] + s[n/2]) / 2
	k := rank(n)
	if k == 0 {
		return median, 0, 0, false
	}
	return median, s[k-1], s[n-k], true
}

// rank is the k of Median, 0 where there is none.
func rank(n int) int {
	below := 0.0 // P(X < k+1)
	for k := 0; k < n; k++ {
		below += binomialHalf(n, k)
		if below > (1-Confidence)/2 {
			return k
		}
	}
	return 0
}

// binomialHalf is P(X = k) for X ~ Binomial(n, 1/2), by logarithms so that n may be large.
func binomialHalf(n, k int) float64 {
	return math.Exp(logGamma(n+1) - logGamma(k+1) - logGamma(n-k+1) - float64(n)*math.Ln2)
}

func logGamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}

// Line is the least-squares line y = intercept + slope x. A line through fewer than two different x is flat: slope 0.
// Source: any textbook; here in the centred form, which does not lose digits when x is far from 0.
func Line(x, y []float64) (intercept, slope float64) {
	meanX, meanY := Mean(x), Mean(y)
	var xy, xx float64
	for i := range x {
		xy += (x[i] - meanX) * (y[i] - meanY)
		xx += (x[i] - meanX) * (x[i] - meanX)
	}
	if xx > 0 {
		slope = xy / xx
	}
	return meanY - slope*meanX, slope
}

// Mean of a sample; NaN where it is empty.
func Mean(sample []float64) float64 {
	var sum float64
	for _, v := range sample {
		sum += v
	}
	return sum / float64(len(sample))
}

// Jain is the fairness index (sum x)^2 / (n sum x^2): 1 where all shares are equal, 1/n where one takes all. It is NaN
// where there are no shares or all are 0.
// Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984.
func Jain(shares []float64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(shares)) * squares)
}
