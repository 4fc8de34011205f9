package strategies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// HoldReport is how the renewals around one piece of work went.
type HoldReport struct {
	Renewals int           // confirmed
	Failed   int           // sent and not confirmed
	Lost     bool          // the lease ended under the work, whose context was cancelled
	LateMax  time.Duration // the most that a renewal was sent after it was due
	Err      error         // why the last of the failed renewals failed
}

// Hold runs work and renews l every interval (0: a third of the TTL) until work returns. See Holder.
func Hold(ctx context.Context, c clock.Clock, k Locker, l Lease, every time.Duration, work func(context.Context) error) (Lease, HoldReport, error) {
	return Holder{Clock: c, Locker: k, Every: every}.Hold(ctx, l, work)
}

// Holder keeps a lease alive while work runs.
type Holder struct {
	Clock    clock.Clock
	Locker   Locker
	Every    time.Duration // between renewals; 0: a third of the TTL
	MaxLease time.Duration // most time under the lease, from Hold's call: a work that hangs must not hold for ever; 0: none
}

// Hold runs work in the caller's goroutine. Work's context is cancelled when a renewal finds the lease lost
// (ErrLost), at the lease's Until, or at MaxLease; work should return soon after. A renewal that fails otherwise is
// tried again while the lease lasts. Each has a time limit of half of what remains, so that a second one fits.
//
// When Hold returns, no renewal is under way and none will be sent; one that was under way when work returned has
// been cancelled. The lease that it returns is the last one confirmed. The error is work's, joined with ErrLost if
// the lease ended first. When ctx ends, renewing ends too: the lease is the caller's, and so is its end.
func (h Holder) Hold(ctx context.Context, l Lease, work func(context.Context) error) (Lease, HoldReport, error) {
	if h.Every <= 0 {
		h.Every = l.TTL / 3
	}
	within, cancel := h.Clock.WithCancel(ctx)
	defer cancel()
	renewing, stop := h.Clock.WithCancel(ctx)
	w := &keeper{Holder: h, lease: l, began: h.Clock.Now()}
	g := h.Clock.NewGroup()
	g.Go(func() {
		if w.renew(renewing) {
			cancel()
		}
	})
	err := func() error {
		defer func() { stop(); g.Wait() }() // also when work panics
		return work(within)
	}()
	if w.report.Lost {
		err = errors.Join(fmt.Errorf("hold %q: %w", l.Key, ErrLost), err)
	}
	return w.lease, w.report, err
}

// keeper is the renewing side of one Hold.
type keeper struct {
	Holder
	lease  Lease
	began  time.Duration
	report HoldReport
}

// renew renews until ctx ends (false) or the lease does (true).
func (w *keeper) renew(ctx context.Context) (lost bool) {
	for due := w.next(w.began); ; {
		if due >= w.end() {
			w.report.Lost = w.sleepUntil(ctx, w.end()) == nil
			return w.report.Lost
		}
		if w.sleepUntil(ctx, due) != nil {
			return false
		}
		sent := w.Clock.Now()
		if sent >= w.end() { // the process slept through it
			w.report.Lost = true
			return true
		}
		w.report.LateMax = max(w.report.LateMax, sent-due)
		err := w.once(ctx, sent)
		switch {
		case err == nil:
			w.report.Renewals++
			due = w.next(sent)
		case ctx.Err() != nil:
			return false
		case errors.Is(err, ErrLost):
			w.report.Failed++
			w.report.Err = err
			w.report.Lost = true
			return true
		default:
			w.report.Failed++
			w.report.Err = err
			due = w.Clock.Now() + max(w.Every/4, time.Millisecond)
		}
	}
}

// next is when the renewal after one at sent is due: an interval later, or, where the lease is shorter than that, in
// the middle of it.
func (w *keeper) next(sent time.Duration) time.Duration {
	if due := sent + w.Every; due < w.lease.Until {
		return due
	}
	return sent + (w.lease.Until-sent)/2
}

// end is when the holder has to stop.
func (w *keeper) end() time.Duration {
	if w.MaxLease > 0 {
		return min(w.lease.Until, w.began+w.MaxLease)
	}
	return w.lease.Until
}

func (w *keeper) sleepUntil(ctx context.Context, at time.Duration) error {
	return w.Clock.Sleep(ctx, at-w.Clock.Now())
}

func (w *keeper) once(ctx context.Context, sent time.Duration) error {
	ctx, cancel := w.Clock.WithTimeout(ctx, (w.lease.Until-sent)/2)
	defer cancel()
	l, err := w.Locker.Renew(ctx, w.lease)
	if err == nil {
		w.lease = l
	}
	return err
}
