package clock

import (
	"context"
	"sync"
	"time"
)

// Short is the wait below which the runtime's timers are too coarse: its poller rounds to whole milliseconds.
// Shorter waits use an alarm of their own.
const Short = 2 * time.Millisecond

// Wall is real time. Its zero is that of CLOCK_MONOTONIC, so that all processes of a host agree.
//
// Waits under Short, and the last part of SleepUntil, wait for one kernel timer that the runtime's network poller
// watches like a socket: it wakes a goroutine within tens of microseconds and costs no thread and no spinning. A
// locked thread in nanosleep was tried before: its goroutine has to queue for a processor after every wake-up.
func Wall() Clock { return wall }

var wall = newWallClock()

type wallClock struct {
	anchor time.Time     // a reading of the runtime's monotonic clock ...
	offset time.Duration // ... and CLOCK_MONOTONIC at the same moment
	alarm  *alarm
}

func newWallClock() *wallClock {
	w := &wallClock{}
	w.anchor, w.offset = anchor()
	w.alarm = newAlarm(w.Now)
	return w
}

func (w *wallClock) Now() time.Duration { return w.offset + time.Since(w.anchor) }

var timers = sync.Pool{New: func() any { t := time.NewTimer(time.Hour); t.Stop(); return t }}

func (w *wallClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if d < Short {
		return w.alarm.wait(ctx, w.Now()+d)
	}
	return coarse(ctx, d)
}

func coarse(ctx context.Context, d time.Duration) error {
	t := timers.Get().(*time.Timer)
	defer timers.Put(t)
	t.Reset(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SleepUntil waits for the reading at, precisely even where it is far away.
func (w *wallClock) SleepUntil(ctx context.Context, at time.Duration) error {
	if d := at - w.Now(); d > 2*Short {
		if err := coarse(ctx, d-Short); err != nil {
			return err
		}
	}
	if at <= w.Now() {
		return ctx.Err()
	}
	return w.alarm.wait(ctx, at)
}

// SleepUntil waits until c reads at, or ctx ends. A clock whose long waits are coarse may have a precise way of its
// own: pacing needs it, and a retry does not.
func SleepUntil(ctx context.Context, c Clock, at time.Duration) error {
	if p, ok := c.(interface {
		SleepUntil(context.Context, time.Duration) error
	}); ok {
		return p.SleepUntil(ctx, at)
	}
	return c.Sleep(ctx, at-c.Now())
}

func (w *wallClock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func (w *wallClock) WithCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (w *wallClock) NewGroup() Group { return &sync.WaitGroup{} }

func (w *wallClock) NewSignal() Signal { return &wallSignal{fired: make(chan struct{})} }

type wallSignal struct {
	once  sync.Once
	fired chan struct{}
}

func (s *wallSignal) Fire() { s.once.Do(func() { close(s.fired) }) }

// Wait prefers a signal that has fired to a context that has ended, so that a hand-over is never lost.
func (s *wallSignal) Wait(ctx context.Context) error {
	select {
	case <-s.fired:
		return nil
	default:
	}
	select {
	case <-s.fired:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
