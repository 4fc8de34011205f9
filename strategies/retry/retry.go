// Package retry joins one-attempt lock strategies with waiting. A Policy is a pure function from what failed to the
// next wait; Loop drives a Locker through it. The loop is the only place that sleeps between attempts.
package retry

import (
	"math/rand/v2"
	"time"
)

// Policy says how long to wait after a failed attempt, or that it gives up. It is pure: all state comes in f.
type Policy func(f Failed) (wait time.Duration, ok bool)

// Failed is what a policy knows of an acquisition so far.
type Failed struct {
	N       int           // attempts made, at least 1
	Prev    time.Duration // the wait before the last attempt; 0 after the first
	Elapsed time.Duration // since the first attempt was sent
	Rand    *rand.Rand    // this acquisition's own stream
}

// Mode is how the loop waits.
type Mode string

const (
	Poll  Mode = "poll"  // sleep, then attempt
	Block Mode = "block" // the Locker's Blocker waits by its own means
)
