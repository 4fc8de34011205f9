// Package clock makes time an argument. Strategies, retry policies and load read the time, wait and run things
// side by side only through a Clock, so the same code runs against real servers in real time (Wall) and against
// simulated ones in virtual time. It does not know dates: Now is an offset from the start of the run.
package clock

import (
	"context"
	"time"
)

// Clock is the only source of time, deadlines and concurrency for code that must also run in virtual time.
type Clock interface {
	// Now is the time since the run began. It is monotonic.
	Now() time.Duration
	// Sleep waits for d, or until ctx ends; then it returns ctx.Err(). A d of zero or less returns at once.
	Sleep(ctx context.Context, d time.Duration) error
	// WithTimeout returns a context that ends after d of this clock's time.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	// WithCancel returns a context that ends when cancel is called.
	WithCancel(ctx context.Context) (context.Context, context.CancelFunc)
	// NewGroup starts functions side by side and waits for all of them.
	NewGroup() Group
	// NewSignal is an event that happens at most once.
	NewSignal() Signal
}

// Group runs functions concurrently. Wait returns when all that were started have returned.
type Group interface {
	Go(f func())
	Wait()
}

// Signal is a one-shot event: Fire may be called any number of times, by anybody; Wait returns nil at once
// after the first Fire, or ctx.Err() if ctx ends before.
type Signal interface {
	Fire()
	Wait(ctx context.Context) error
}
