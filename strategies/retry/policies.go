package retry

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// FailFast gives up after the first attempt.
func FailFast() Policy {
	return func(Failed) (time.Duration, bool) { return 0, false }
}

// Fixed waits d before every attempt. It keeps waiters that began together together: see the jittered policies.
func Fixed(d time.Duration) (Policy, error) {
	if d < 0 {
		return nil, fmt.Errorf("fixed: a wait of %v is negative", d)
	}
	return always(func(Failed) time.Duration { return d }), nil
}

// Uniform waits a time drawn evenly from [low, high]. Its mean is (low+high)/2.
func Uniform(low, high time.Duration) (Policy, error) {
	if low < 0 || high < low {
		return nil, fmt.Errorf("uniform: need 0 <= min <= max, got min %v and max %v", low, high)
	}
	return always(func(f Failed) time.Duration { return between(f.Rand, low, high) }), nil
}

// Linear goes from one wait to the other in equal strides: the first wait is from, the steps-th and all later ones
// are to. It may go down as well as up.
func Linear(from, to time.Duration, steps int) (Policy, error) {
	if from < 0 || to < 0 {
		return nil, fmt.Errorf("linear: need waits of zero or more, got from %v to %v", from, to)
	}
	if steps < 2 || steps > maxSteps {
		return nil, fmt.Errorf("linear: need 2 to %d steps to go from one wait to another, got %d", maxSteps, steps)
	}
	strides := time.Duration(steps - 1)
	stride, rest := (to-from)/strides, (to-from)%strides
	return always(func(f Failed) time.Duration {
		done := time.Duration(min(retries(f), steps) - 1)
		return from + done*stride + done*rest/strides
	}), nil
}

// maxSteps keeps the arithmetic of Linear far from overflow.
const maxSteps = 1_000_000

// Stage is a number of equal waits.
type Stage struct {
	Wait  time.Duration
	Times int
}

// Stages waits by the first stage, then by the second, and so on. The last one repeats for ever.
func Stages(stages ...Stage) (Policy, error) {
	if len(stages) == 0 {
		return nil, errors.New("stages: need at least one")
	}
	for i, s := range stages {
		if s.Wait < 0 || s.Times < 1 {
			return nil, fmt.Errorf("stages: need a wait of zero or more at least once, got %v x%d in place %d", s.Wait, s.Times, i+1)
		}
	}
	stages = append([]Stage(nil), stages...)
	return always(func(f Failed) time.Duration {
		left := retries(f)
		for _, s := range stages {
			if left <= s.Times {
				return s.Wait
			}
			left -= s.Times
		}
		return stages[len(stages)-1].Wait
	}), nil
}

// Exponential waits min(cap, base * 2^(n-1)) after the n-th attempt.
func Exponential(base, most time.Duration) (Policy, error) {
	if err := checkBackoff("exponential", base, most); err != nil {
		return nil, err
	}
	return always(func(f Failed) time.Duration { return doubled(base, most, retries(f)) }), nil
}

// FullJitter waits a time drawn evenly from [0, e], e being the wait of Exponential; its mean is e/2.
// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
func FullJitter(base, most time.Duration) (Policy, error) {
	if err := checkBackoff("full-jitter", base, most); err != nil {
		return nil, err
	}
	return always(func(f Failed) time.Duration { return between(f.Rand, 0, doubled(base, most, retries(f))) }), nil
}

// EqualJitter waits a time drawn evenly from [e/2, e], e being the wait of Exponential; its mean is 3e/4.
// Source: as FullJitter.
func EqualJitter(base, most time.Duration) (Policy, error) {
	if err := checkBackoff("equal-jitter", base, most); err != nil {
		return nil, err
	}
	return always(func(f Failed) time.Duration {
		e := doubled(base, most, retries(f))
		return between(f.Rand, e/2, e)
	}), nil
}

// Decorrelated waits min(cap, u), u being drawn evenly from [base, 3 * previous wait]; before the first wait the
// previous one counts as base. It depends on the last wait, not on the number of attempts. Source: as FullJitter.
func Decorrelated(base, most time.Duration) (Policy, error) {
	if err := checkBackoff("decorrelated", base, most); err != nil {
		return nil, err
	}
	return always(func(f Failed) time.Duration {
		return min(most, between(f.Rand, base, tripled(max(f.Prev, base))))
	}), nil
}

// Limit allows at most n attempts in all: after the n-th it gives up, before it asks p. An n below 1 is 1, because
// a policy is asked only after an attempt.
func Limit(n int, p Policy) Policy {
	return func(f Failed) (time.Duration, bool) {
		if f.N >= n {
			return 0, false
		}
		return p(f)
	}
}

// Within gives up when the next attempt would begin later than d after the first was sent, that is when
// Elapsed + wait > d. It gives up at once then and does not wait for a moment at which nothing will be tried;
// an attempt that begins in time may end after d.
func Within(d time.Duration, p Policy) Policy {
	return func(f Failed) (time.Duration, bool) {
		wait, ok := p(f)
		if !ok || wait > d-f.Elapsed {
			return 0, false
		}
		return wait, true
	}
}

// always is a policy that never gives up by itself.
func always(wait func(Failed) time.Duration) Policy {
	return func(f Failed) (time.Duration, bool) { return wait(f), true }
}

// retries is the number of the wait that follows f, from 1.
func retries(f Failed) int { return max(f.N, 1) }

// between draws evenly from [low, high], both included.
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	width := uint64(high-low) + 1 // unsigned: the widest range overflows an int64
	return low + time.Duration(r.Uint64N(width))
}

// doubled is min(most, base * 2^(n-1)) for n >= 1, without overflow.
func doubled(base, most time.Duration, n int) time.Duration {
	if n > 63 || base > most>>(n-1) {
		return most
	}
	return base << (n - 1)
}

// tripled is 3d, or the longest Duration where that overflows.
func tripled(d time.Duration) time.Duration {
	if d > math.MaxInt64/3 {
		return math.MaxInt64
	}
	return 3 * d
}

func checkBackoff(name string, base, most time.Duration) error {
	if base <= 0 {
		return fmt.Errorf("%s: base must be above zero, got %v", name, base)
	}
	if most < base {
		return fmt.Errorf("%s: cap %v is below base %v", name, most, base)
	}
	return nil
}
