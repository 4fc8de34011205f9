// Package lockertest is the contract that every Locker keeps, as a test suite. It runs on any servers, simulated ones
// included: it waits, measures time and runs things side by side through the Clock of the Env only.
//
// A strategy that is wrong on purpose says so in its catalogue entry; there the check is turned round, and the weakness
// must show.
package lockertest

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// Setup is what a strategy is tested on.
type Setup struct {
	Env     strategies.Env
	Servers []Server           // behind the nodes of Env, in the same order
	Options strategies.Options // of the strategy; sharded needs shards: 1, for the contract contends for one key
}

// Server is the other side of a node: the test's own view of the keys, and its way to change them behind the
// strategy's back.
type Server interface {
	// Look tells whether key exists and its TTL, negative if it has none.
	Look(ctx context.Context, key string) (exists bool, ttl time.Duration, err error)
	Delete(ctx context.Context, key string) error
	// Set gives key a value that is no owner token of the test.
	Set(ctx context.Context, key, value string, ttl time.Duration) error
}

// Limit on one check, by the Env's clock. Only a check that fails comes near it.
const Limit = time.Minute

// Check is one sentence of the contract.
type Check struct {
	Name string
	run  func(context.Context, *rig) error
}

// Run is nil if the strategy keeps this sentence.
func (c Check) Run(e strategies.Entry, s Setup) error {
	r, err := newRig(e, s, c.Name)
	if err != nil {
		return err
	}
	ctx, cancel := s.Env.Clock.WithTimeout(context.Background(), Limit)
	defer cancel()
	return c.run(ctx, r)
}

// Checks is the part of the contract that applies to a strategy. One that excludes nobody has no contract.
func Checks(e strategies.Entry) []Check {
	if e.Excludes == strategies.ExcludesNone {
		return nil
	}
	checks := append(exclusion(), releasing(e)...)
	checks = append(checks, renewing(e)...)
	checks = append(checks, holding(e)...)
	if e.Native {
		checks = append(checks, waiting()...)
	}
	if e.Needs == strategies.NeedsNothing {
		return checks
	}
	checks = append(checks, expiring(e)...)
	checks = append(checks, doubt(e)...)
	if e.Needs == strategies.NeedsIndependent {
		checks = append(checks, quorum()...)
	}
	return checks
}

// Run tests a strategy. env is called for every check; the servers may be shared by all.
func Run(t *testing.T, e strategies.Entry, env func(t *testing.T) Setup) {
	checks := Checks(e)
	if len(checks) == 0 {
		t.Skipf("%s excludes nobody", e.Name)
	}
	for _, c := range checks {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(e, env(t)); err != nil {
				t.Error(err)
			}
		})
	}
}
