package clock

import (
	"context"
	"errors"
	"sort"
	"testing"
	"time"
)

func TestSleepNeverReturnsEarly(t *testing.T) {
	c := Wall()
	for _, d := range []time.Duration{time.Microsecond, 50 * time.Microsecond, time.Millisecond, 3 * time.Millisecond} {
		for range 20 {
			from := c.Now()
			if err := c.Sleep(context.Background(), d); err != nil {
				t.Fatal(err)
			}
			if slept := c.Now() - from; slept < d {
				t.Fatalf("slept %v, want at least %v", slept, d)
			}
		}
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	c := Wall()
	for _, d := range []time.Duration{time.Hour, Short - 1} {
		ctx, cancel := c.WithCancel(context.Background())
		cancel()
		if err := c.Sleep(ctx, d); d == time.Hour && !errors.Is(err, context.Canceled) {
			t.Fatalf("Sleep(%v) = %v, want canceled", d, err)
		}
	}
	ctx, cancel := c.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := SleepUntil(ctx, c, c.Now()+time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("SleepUntil = %v, want deadline exceeded", err)
	}
}

func TestManySleepersWakeInAnyOrderOfArrival(t *testing.T) {
	c := Wall()
	g := c.NewGroup()
	for i := range 500 {
		g.Go(func() {
			d := time.Duration((i*37)%1900) * time.Microsecond
			ctx, cancel := c.WithCancel(context.Background())
			defer cancel()
			if i%3 == 0 {
				go cancel()
			}
			if err := c.Sleep(ctx, d); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	g.Wait()
}

func TestFiredSignalBeatsAnEndedContext(t *testing.T) {
	c := Wall()
	ctx, cancel := c.WithCancel(context.Background())
	cancel()
	s := c.NewSignal()
	if err := s.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Wait before Fire = %v, want canceled", err)
	}
	s.Fire()
	s.Fire()
	if err := s.Wait(ctx); err != nil {
		t.Fatalf("Wait after Fire = %v, want nil", err)
	}
}

// BenchmarkLateness reports how late waits end, in microseconds.
func BenchmarkLateness(b *testing.B) {
	c := Wall()
	for _, d := range []time.Duration{50 * time.Microsecond, 500 * time.Microsecond, 1900 * time.Microsecond, 5 * time.Millisecond} {
		b.Run(d.String(), func(b *testing.B) {
			late := make([]time.Duration, 0, b.N)
			for b.Loop() {
				from := c.Now()
				_ = SleepUntil(context.Background(), c, from+d)
				late = append(late, c.Now()-from-d)
			}
			sort.Slice(late, func(i, j int) bool { return late[i] < late[j] })
			b.ReportMetric(float64(late[len(late)/2].Microseconds()), "p50-us-late")
			b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "p99-us-late")
		})
	}
}
