package sim

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/retry"
)

// visit is one session at a lock.
type visit struct {
	intended, decided time.Duration
	hold              time.Duration
}

// queueing is sessions that come as a Poisson process of rate per second, wait for one FIFO lock by its own means, hold
// it and release it: the strategy, the loop and the plan that also run against servers.
func queueing(t *testing.T, seed uint64, rate float64, hold load.Dist, sessions int) (*World, []visit) {
	t.Helper()
	w := NewWorld(seed)
	locker, err := strategies.New("noop", strategies.Env{Clock: w.Clock()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	loop := retry.Loop{Clock: w.Clock(), Locker: locker, Mode: retry.Block, Timeout: 1000 * time.Hour}
	length := time.Duration(float64(sessions) / rate * float64(time.Second))
	plan := load.OpenLoop(load.Arrivals(load.Open{Rate: rate, Poisson: true, Measure: length, Seed: seed}), 0)
	visits := make([]visit, 0, sessions+sessions/10)
	live(t, w, func() {
		plan(background, w.Clock(), 0, func(a load.Arrival) {
			visits = append(visits, visit{intended: a.Intended})
			rnd := load.Stream(seed, "session", uint64(a.N))
			held := hold.Draw(rnd)
			got := loop.Acquire(background, strategies.Request{Key: "k", TTL: time.Hour}, rnd)
			if got.Err != nil {
				t.Errorf("session %d: %v", a.N, got.Err)
			}
			visits[a.N].decided, visits[a.N].hold = got.Decided, held
			_ = w.Sleep(background, held)
			if o, err := locker.Release(background, got.Lease); o != strategies.Released || err != nil {
				t.Errorf("session %d released: %v, %v", a.N, o, err)
			}
		})
	})
	return w, visits
}

// sojourn is the mean time from intended start to the end of the hold.
func sojourn(visits []visit) time.Duration {
	sum := time.Duration(0)
	for _, v := range visits {
		sum += v.decided + v.hold - v.intended
	}
	return sum / time.Duration(len(visits))
}

func exponential(t *testing.T, mean time.Duration) load.Dist { return dist(t)(load.Exponential(mean)) }
func constant(t *testing.T, d time.Duration) load.Dist       { return dist(t)(load.Constant(d)) }

func dist(t *testing.T) func(load.Dist, error) load.Dist {
	return func(d load.Dist, err error) load.Dist {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// TestALockIsAnMG1Queue compares the mean with the formula of Pollaczek and Khinchine: with S the hold, c^2 its squared
// coefficient of variation and rho = rate x E[S], the mean time in the system is
// E[S] + rho/(1-rho) x (1+c^2)/2 x E[S].
func TestALockIsAnMG1Queue(t *testing.T) {
	const sessions = 220_000
	mean := 10 * ms
	for _, rho := range []float64{0.5, 0.8} {
		for _, hold := range []struct {
			name string
			dist load.Dist
			c2   float64
		}{{"exponential", exponential(t, mean), 1}, {"constant", constant(t, mean), 0}} {
			t.Run(fmt.Sprintf("%s at %v", hold.name, rho), func(t *testing.T) {
				t.Parallel()
				w, visits := queueing(t, 1, rho/mean.Seconds(), hold.dist, sessions)
				want := mean + time.Duration(rho/(1-rho)*(1+hold.c2)/2*float64(mean))
				got := sojourn(visits)
				if off := math.Abs(float64(got-want)) / float64(want); off > 0.05 {
					t.Errorf("mean response %v, want %v within 5 %%", got, want)
				}
				t.Logf("%d sessions, %d events: mean response %v, by the formula %v", len(visits), w.Events(), got, want)
			})
		}
	}
}

// TestALockFollowsLindleysRecursion holds every single wait against W[n+1] = max(0, W[n] + S[n] - A[n]), with S[n] the
// hold and A[n] the time to the next arrival. Virtual time has no noise: to the nanosecond.
func TestALockFollowsLindleysRecursion(t *testing.T) {
	t.Parallel()
	_, visits := queueing(t, 2, 80, exponential(t, 10*ms), 50_000)
	wait := time.Duration(0)
	for n, v := range visits {
		if got := v.decided - v.intended; got != wait {
			t.Fatalf("session %d waited %v, want %v", n, got, wait)
		}
		if n+1 < len(visits) {
			wait = max(0, wait+v.hold-(visits[n+1].intended-v.intended))
		}
	}
}

// TestReplicationsAgreeWithTheVector holds 20 independent replications against M/M/1 at 80/s and 10 ms, whose mean
// wait is 40 ms, with the gate |z| <= 4.
func TestReplicationsAgreeWithTheVector(t *testing.T) {
	t.Parallel()
	const replications = 20
	var sum, squares float64
	for seed := range uint64(replications) {
		_, visits := queueing(t, 100+seed, 80, exponential(t, 10*ms), 20_000)
		wait := 0.0
		for _, v := range visits[len(visits)/20:] { // it starts empty
			wait += (v.decided - v.intended).Seconds() * 1000
		}
		wait /= float64(len(visits) - len(visits)/20)
		sum += wait
		squares += wait * wait
	}
	mean := sum / replications
	deviation := math.Sqrt((squares/replications - mean*mean) / (replications - 1))
	if z := (mean - 40) / deviation; math.Abs(z) > 4 {
		t.Errorf("mean wait %.2f ms with a standard error of %.2f, want 40: z = %.1f", mean, deviation, z)
	}
	t.Logf("mean wait %.2f +- %.2f ms", mean, 2.09*deviation)
}

// TestPollingClientsAreAFiniteRetrialQueue runs the polling loop under a closed load against the vector of a finite
// retrial queue: think 100 ms, hold 10 ms, retry 50 ms, all exponential, 10 clients: 57.5588 sessions a second.
// Source: the balance equations of the states (free or held, clients that retry), solved numerically.
func TestPollingClientsAreAFiniteRetrialQueue(t *testing.T) {
	t.Parallel()
	const clients, length = 10, 2000 * time.Second
	w := NewWorld(3)
	locker, err := strategies.New("noop", strategies.Env{Clock: w.Clock()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	think, hold, pause := exponential(t, 100*ms), exponential(t, 10*ms), exponential(t, 50*ms)
	policy := func(f retry.Failed) (time.Duration, bool) { return pause.Draw(f.Rand), true }
	loop := retry.Loop{Clock: w.Clock(), Locker: locker, Mode: retry.Poll, Policy: policy, Timeout: 1000 * time.Hour}
	done, attempts := 0, 0
	live(t, w, func() {
		load.ClosedLoop(clients, think, length, 3)(background, w.Clock(), 0, func(a load.Arrival) {
			rnd := load.Stream(3, "session", uint64(a.N))
			got := loop.Acquire(background, strategies.Request{Key: "k", TTL: time.Hour}, rnd)
			_ = w.Sleep(background, hold.Draw(rnd))
			_, _ = locker.Release(background, got.Lease)
			done++
			attempts += got.Attempts
		})
	})
	near := func(what string, got, want float64) {
		if math.Abs(got-want)/want > 0.01 {
			t.Errorf("%s %.4f, want %.4f within 1 %%", what, got, want)
		}
		t.Logf("%s %.4f, vector %.4f", what, got, want)
	}
	near("sessions a second", float64(done)/length.Seconds(), 57.5588)
	near("commands a session", float64(attempts)/float64(done)+1, 3.27471)
}

// TestRenewalsComeOnTheDot holds a lease of 30 ms for 100 ms.
func TestRenewalsComeOnTheDot(t *testing.T) {
	w := NewWorld(1)
	locker, err := strategies.New("noop", strategies.Env{Clock: w.Clock()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	live(t, w, func() {
		lease, err := locker.Acquire(background, strategies.Request{Key: "k", Owner: "o", TTL: 30 * ms})
		check(t, "acquire", err, nil)
		lease, report, err := strategies.Hold(background, w.Clock(), locker, lease, 0, func(ctx context.Context) error {
			return w.Sleep(ctx, 95*ms)
		})
		check(t, "hold", err, nil)
		if want := (strategies.HoldReport{Renewals: 9}); report != want {
			t.Errorf("report %+v, want %+v", report, want)
		}
		if lease.Until != 120*ms || w.Now() != 95*ms {
			t.Errorf("the lease ends at %v and the work at %v, want 120ms and 95ms", lease.Until, w.Now())
		}
	})
}

func BenchmarkSessions(b *testing.B) {
	for _, clients := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			w := NewWorld(1)
			locker, err := strategies.New("noop", strategies.Env{Clock: w.Clock()}, nil)
			if err != nil {
				b.Fatal(err)
			}
			policy := func(f retry.Failed) (time.Duration, bool) { return time.Duration(f.Rand.Int64N(int64(50 * ms))), true }
			loop := retry.Loop{Clock: w.Clock(), Locker: locker, Policy: policy, Timeout: time.Second}
			b.ReportAllocs()
			var m runtime.MemStats
			live(b, w, func() {
				g := w.NewGroup()
				w.After(time.Second, func() { runtime.ReadMemStats(&m) })
				for i := range clients {
					g.Go(func() {
						rnd := w.Stream("session", uint64(i))
						for w.Events() < uint64(b.N) {
							if got := loop.Acquire(background, strategies.Request{Key: "k", TTL: time.Hour}, rnd); got.Err == nil {
								_ = w.Sleep(background, ms)
								_, _ = locker.Release(background, got.Lease)
							}
							_ = w.Sleep(background, time.Duration(1+rnd.Int64N(int64(100*ms))))
						}
					})
				}
				g.Wait()
			})
			b.ReportMetric(float64(w.Events())/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(m.StackInuse+m.HeapInuse)/(1<<20), "MiB")
		})
	}
}
