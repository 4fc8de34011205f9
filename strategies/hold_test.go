package strategies

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// scripted is a Locker whose renewals answer as written, and ErrLost when the script ends. "" is success.
type scripted struct {
	Locker
	clock  *jumpClock
	script []error
	asked  []time.Duration
}

func (s *scripted) Renew(ctx context.Context, l Lease) (Lease, error) {
	s.asked = append(s.asked, s.clock.Now())
	if len(s.script) == 0 {
		return l, ErrLost
	}
	err := s.script[0]
	s.script = s.script[1:]
	if err == nil {
		l.Until = s.clock.Now() + l.TTL
	}
	return l, err
}

// untilCancelled is work that ends when it is told to.
func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestHoldRenewsEveryIntervalAndRetriesAFailureBeforeUntil(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name   string
		holder Holder
		script []error
		asked  []time.Duration
		report HoldReport
		ended  time.Duration
	}{
		{"lost at the third renewal", Holder{Every: 10 * second}, []error{nil, nil},
			[]time.Duration{10 * second, 20 * second, 30 * second}, HoldReport{Renewals: 2, Failed: 1, Lost: true}, 30 * second},
		{"an interval of a third of the TTL", Holder{}, nil, []time.Duration{10 * second}, HoldReport{Failed: 1, Lost: true}, 10 * second},
		{"a failure is retried after a quarter of the interval", Holder{Every: 20 * second}, []error{errGone, nil},
			[]time.Duration{20 * second, 25 * second, 45 * second}, HoldReport{Renewals: 1, Failed: 2, Lost: true}, 45 * second},
		{"failures until the lease ends", Holder{Every: 20 * second}, []error{errGone, errGone, errGone},
			[]time.Duration{20 * second, 25 * second}, HoldReport{Failed: 2, Lost: true}, 30 * second},
		{"a lease shorter than the interval is renewed in its middle", Holder{Every: 40 * second}, nil,
			[]time.Duration{15 * second}, HoldReport{Failed: 1, Lost: true}, 15 * second},
		{"a cap", Holder{Every: 10 * second, MaxLease: 25 * second}, []error{nil, nil, nil, nil},
			[]time.Duration{10 * second, 20 * second}, HoldReport{Renewals: 2, Lost: true}, 25 * second},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := &jumpClock{}
			s := &scripted{clock: clk, script: c.script}
			c.holder.Clock, c.holder.Locker = clk, s
			_, report, err := c.holder.Hold(t.Context(), Lease{Request: Request{TTL: 30 * second}, Until: 30 * second}, untilCancelled)
			if !errors.Is(err, ErrLost) {
				t.Errorf("error %v, want ErrLost", err)
			}
			if (report.Err != nil) != (report.Failed > 0) {
				t.Errorf("%d renewals failed, the last by %v", report.Failed, report.Err)
			}
			report.Err = nil
			if !slices.Equal(s.asked, c.asked) || report != c.report || clk.Now() != c.ended {
				t.Errorf("renewals at %v, %+v, ended at %v; want %v, %+v, %v", s.asked, report, clk.Now(), c.asked, c.report, c.ended)
			}
		})
	}
}

func TestHoldReturnsTheLastConfirmedLeaseAndTheWorksError(t *testing.T) {
	clk := &jumpClock{}
	s := &scripted{clock: clk, script: []error{nil, nil}}
	broken := errors.New("the work failed")
	l, _, err := Hold(t.Context(), clk, s, Lease{Request: Request{TTL: 3 * time.Second}, Until: 3 * time.Second}, 0,
		func(ctx context.Context) error { <-ctx.Done(); return broken })
	if !errors.Is(err, ErrLost) || !errors.Is(err, broken) {
		t.Errorf("error %v, want the work's and ErrLost", err)
	}
	if want := 5 * time.Second; l.Until != want {
		t.Errorf("the lease ends at %v, want %v", l.Until, want)
	}
}

func TestHoldDoesNotReportALossThatTheWorkDidNotSee(t *testing.T) {
	clk := &jumpClock{}
	_, report, err := Hold(t.Context(), clk, &scripted{clock: clk, script: make([]error, 1000)},
		Lease{Request: Request{TTL: time.Hour}, Until: time.Hour}, 0, func(context.Context) error { return nil })
	if err != nil || report.Lost {
		t.Errorf("error %v, %+v", err, report)
	}
}

func TestHoldStopsRenewingWhenTheWorkPanics(t *testing.T) {
	clk := &jumpClock{}
	s := &scripted{clock: clk, script: make([]error, 1<<20)}
	func() {
		defer func() { _ = recover() }()
		_, _, _ = Hold(t.Context(), clk, s, Lease{Request: Request{TTL: time.Second}, Until: time.Second}, 0,
			func(context.Context) error { panic("the work failed") })
	}()
	if n := len(s.asked); n == 1<<20+1 { // Hold has returned: reading is no race
		t.Error("renewals went on")
	}
}
