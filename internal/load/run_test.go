package load

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// bubbleClock is a Clock on the time of a synctest bubble, where waiting costs nothing and is exact. stall is how
// much longer than asked the next Sleep takes: a generator that does not get the processor.
type bubbleClock struct {
	clock.Clock // what the plans must not use
	began       time.Time
	stall       atomic.Int64
}

func (c *bubbleClock) Now() time.Duration { return time.Since(c.began) }

func (c *bubbleClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d + time.Duration(c.stall.Swap(0))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *bubbleClock) NewGroup() clock.Group { return &sync.WaitGroup{} }

// seen is what a session was told, and when it began by the clock.
type seen struct {
	Arrival
	at time.Duration
}

type log struct {
	mu  sync.Mutex
	all []seen
}

func (l *log) add(s seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, s)
}

// run plays p in a bubble from the reading `start` on, with sessions that take `hold`, and returns them in order of
// their number.
func run(t *testing.T, p Plan, start, hold time.Duration, prepare func(*bubbleClock, context.CancelFunc)) (sessions []seen, end time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &bubbleClock{began: time.Now()}
		stop, cancel := context.WithCancel(t.Context())
		defer cancel()
		if prepare != nil {
			prepare(c, cancel)
		}
		var l log
		p(stop, c, start, func(a Arrival) {
			l.add(seen{a, c.Now()})
			if !a.Dropped {
				time.Sleep(hold)
			}
		})
		sessions, end = l.all, c.Now()
	})
	slices.SortFunc(sessions, func(a, b seen) int { return int(a.N - b.N) })
	return sessions, end
}

func every(d time.Duration, n int) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i := range n {
			if !yield(time.Duration(i) * d) {
				return
			}
		}
	}
}

func TestAnOpenLoopDoesNotWaitForSessions(t *testing.T) {
	got, end := run(t, OpenLoop(every(10*ms, 100), 0), time.Second, time.Minute, nil)
	if len(got) != 100 {
		t.Fatalf("%d sessions, want 100", len(got))
	}
	for i, s := range got {
		want := Arrival{N: int64(i), Client: -1, Intended: time.Second + time.Duration(i)*10*ms}
		if s.Arrival != want || s.at != want.Intended {
			t.Errorf("session %+v at %v, want %+v at its intended time", s.Arrival, s.at, want)
		}
	}
	if want := got[99].at + time.Minute; end != want {
		t.Errorf("the plan returned at %v, want %v, when the last session did", end, want)
	}
}

func TestArrivalsBeyondTheBoundAreDroppedAndCounted(t *testing.T) {
	got, _ := run(t, OpenLoop(every(10*ms, 100), 3), 0, 45*ms, nil)
	if len(got) != 100 {
		t.Fatalf("%d arrivals reported, want all 100", len(got))
	}
	dropped := 0
	for i, s := range got {
		if s.Dropped {
			dropped++
		}
		if s.N != int64(i) || s.at != time.Duration(i)*10*ms {
			t.Errorf("arrival %d has number %d and is reported at %v", i, s.N, s.at)
		}
	}
	// Three begin at 0, 10 and 20 ms; the first of them ends at 45 ms, so those of 30 and 40 ms are dropped: 2 of 5.
	if dropped != 40 {
		t.Errorf("%d dropped, want 40", dropped)
	}
}

func TestAStallShowsInEachIntendedTimeAndIsCaughtUpAtOnce(t *testing.T) {
	stalled := func(c *bubbleClock, _ context.CancelFunc) { c.stall.Store(int64(95 * ms)) }
	got, _ := run(t, OpenLoop(every(10*ms, 20), 0), 5*ms, ms, stalled)
	for i, s := range got {
		intended := 5*ms + time.Duration(i)*10*ms
		if want := max(intended, 100*ms); s.Intended != intended || s.at != want {
			t.Errorf("session %d intended at %v began at %v, want %v and %v", i, s.Intended, s.at, intended, want)
		}
	}
}

func TestStopEndsTheScheduleButNotTheSessions(t *testing.T) {
	at := func(d time.Duration) func(*bubbleClock, context.CancelFunc) {
		return func(_ *bubbleClock, cancel context.CancelFunc) { time.AfterFunc(d, cancel) }
	}
	got, end := run(t, OpenLoop(every(10*ms, 100), 0), 0, time.Second, at(35*ms))
	if want := 30*ms + time.Second; len(got) != 4 || end != want {
		t.Errorf("open loop: %d sessions, the end at %v; want 4 and %v", len(got), end, want)
	}
	got, end = run(t, ClosedLoop(5, constant(0), time.Hour, 1), 0, time.Second, at(1500*ms))
	if want := 2 * time.Second; len(got) != 10 || end != want {
		t.Errorf("closed loop: %d sessions, the end at %v; want 10 and %v", len(got), end, want)
	}
}

func TestStopEndsAnOpenLoopThatIsBehind(t *testing.T) {
	stopped := func(_ *bubbleClock, cancel context.CancelFunc) { cancel() }
	if got, _ := run(t, OpenLoop(every(0, 100), 0), 0, ms, stopped); len(got) != 0 {
		t.Errorf("%d sessions begin after stop", len(got))
	}
}

func TestAClosedLoopWithoutThinkKeepsAllClientsBusy(t *testing.T) {
	const clients = 7
	got, end := run(t, ClosedLoop(clients, constant(0), time.Second, 1), time.Second, 30*ms, nil)
	// Sessions begin at 0, 30, ... 990 ms.
	if len(got) != clients*34 || end != 2020*ms {
		t.Fatalf("%d sessions until %v, want %d until 2.02s", len(got), end, clients*34)
	}
	for _, s := range got {
		round := time.Duration(s.N / clients)
		if int64(s.Client) != s.N%clients || s.at != time.Second+round*30*ms || s.Intended != s.at {
			t.Errorf("%+v at %v", s.Arrival, s.at)
		}
	}
}

func TestClientsThinkFromTheEndOfTheirSession(t *testing.T) {
	const clients, hold, think = 20, 5 * ms, 50 * ms
	got, _ := run(t, ClosedLoop(clients, constant(think), time.Second, 1), 0, hold, nil)
	first := map[int32]time.Duration{}
	for _, s := range got {
		if _, known := first[s.Client]; !known {
			first[s.Client] = s.Intended
		}
		round := time.Duration(s.N / clients)
		if want := first[s.Client] + round*(hold+think); s.Intended != want || s.at != want {
			t.Errorf("session %d of client %d at %v, want %v", round, s.Client, s.Intended, want)
		}
	}
	starts := map[time.Duration]bool{}
	for client, at := range first {
		if at < 0 || at > think {
			t.Errorf("client %d begins at %v, want within its first think of %v", client, at, think)
		}
		starts[at] = true
	}
	if len(starts) < clients {
		t.Errorf("%d clients begin at only %d moments", clients, len(starts))
	}
}

func TestAClientsLatenessShowsInItsIntendedTime(t *testing.T) {
	stalled := func(c *bubbleClock, _ context.CancelFunc) { c.stall.Store(int64(40 * ms)) }
	got, _ := run(t, ClosedLoop(1, constant(10*ms), 30*ms, 1), 0, 0, stalled)
	if late := got[0].at - got[0].Intended; late != 40*ms {
		t.Errorf("began %v late, want 40ms", late)
	}
}

func TestAClosedLoopOfOneSeedWishesForTheSame(t *testing.T) {
	think := must[Dist](t)(Exponential(20 * ms))
	a, _ := run(t, ClosedLoop(5, think, time.Second, 7), 0, ms, nil)
	b, _ := run(t, ClosedLoop(5, think, time.Second, 7), 0, ms, nil)
	if !slices.Equal(a, b) {
		t.Error("two runs of one seed differ")
	}
	c, _ := run(t, ClosedLoop(5, think, time.Second, 8), 0, ms, nil)
	if slices.Equal(a, c) {
		t.Error("runs of two seeds are equal")
	}
}

// Little's law: N clients that think Z and hold the session for R have N/(Z+R) sessions a second.
func TestAClosedLoopObeysLittlesLaw(t *testing.T) {
	think := must[Dist](t)(Exponential(30 * ms))
	got, _ := run(t, ClosedLoop(20, think, 100*time.Second, 3), 0, 10*ms, nil)
	if rate := float64(len(got)) / 100; rate < 495 || rate > 505 {
		t.Errorf("%.1f sessions a second, want 500 within 1 %%", rate)
	}
}

func TestAThinkLongerThanTheRunEndsIt(t *testing.T) {
	if got, end := run(t, ClosedLoop(3, constant(1<<63-1), time.Second, 1), time.Second, ms, nil); len(got) != 0 || end != 0 {
		t.Errorf("%d sessions, the end at %v", len(got), end)
	}
}

func TestPlansRunOnTheWallClock(t *testing.T) {
	c := clock.Wall()
	check := func(name string, p Plan, least int) {
		t.Helper()
		var l log
		p(t.Context(), c, c.Now()+ms, func(a Arrival) { l.add(seen{a, c.Now()}) })
		if len(l.all) < least {
			t.Errorf("%s: %d sessions, want at least %d", name, len(l.all), least)
		}
		for _, s := range l.all {
			if s.at < s.Intended {
				t.Errorf("%s: session %d began %v early", name, s.N, s.Intended-s.at)
			}
		}
	}
	check("open loop", OpenLoop(every(200*time.Microsecond, 100), 0), 100)
	check("closed loop", ClosedLoop(3, constant(ms), 20*ms, 1), 1)
}

func BenchmarkOpenLoopReleases(b *testing.B) {
	c := clock.Wall()
	b.ReportAllocs()
	OpenLoop(every(0, b.N), 0)(context.Background(), c, 0, func(Arrival) {})
}
