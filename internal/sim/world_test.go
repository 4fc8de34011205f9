package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

const ms = time.Millisecond

func TestSleepsAreExact(t *testing.T) {
	w := NewWorld(1)
	var woke []time.Duration
	live(t, w, func() {
		g := w.NewGroup()
		for _, d := range []time.Duration{30 * ms, 10 * ms, 20 * ms, 1} {
			g.Go(func() {
				_ = w.Sleep(background, d)
				woke = append(woke, w.Now())
			})
		}
		g.Wait()
	})
	if want := []time.Duration{1, 10 * ms, 20 * ms, 30 * ms}; !slices.Equal(woke, want) {
		t.Errorf("woke at %v, want %v", woke, want)
	}
}

func TestEventsOfOneMomentComeInTheOrderInWhichTheyWereScheduled(t *testing.T) {
	w := NewWorld(1)
	var got []string
	say := func(what string) func() { return func() { got = append(got, what) } }
	live(t, w, func() {
		g, s := w.NewGroup(), w.NewSignal()
		w.After(ms, say("timer 1"))
		g.Go(func() { _ = s.Wait(background); say("woken")() })
		g.Go(func() { _ = w.Sleep(background, ms); say("sleeper")() })
		w.After(ms, func() {
			say("timer 2")()
			s.Fire()
			w.After(0, say("timer 5"))
		})
		_ = w.Sleep(background, ms/2)
		w.After(ms/2, say("timer 3"))
		w.After(ms/2, func() { say("timer 4")(); g.Go(say("started")) })
		g.Wait()
	})
	want := "timer 1, timer 2, sleeper, timer 3, timer 4, woken, timer 5, started"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("order %s,\nwant  %s", all, want)
	}
}

func TestADeadlineInTheMomentOfTheEndOfASleepCounts(t *testing.T) {
	w := NewWorld(1)
	live(t, w, func() {
		ctx, cancel := w.WithTimeout(background, ms)
		defer cancel()
		check(t, "sleep as long as the timeout", w.Sleep(ctx, ms), context.DeadlineExceeded)
		ctx, cancel = w.WithTimeout(background, ms+1)
		defer cancel()
		check(t, "sleep a nanosecond less", w.Sleep(ctx, ms), nil)
	})
}

func TestASignalFiredInTheMomentOfTheDeadlineIsHeard(t *testing.T) {
	w := NewWorld(1)
	live(t, w, func() {
		ctx, cancel := w.WithTimeout(background, ms)
		defer cancel()
		before, after := w.NewSignal(), w.NewSignal()
		g := w.NewGroup()
		w.After(ms, before.Fire)
		g.Go(func() { check(t, "fired by an earlier event", before.Wait(ctx), nil) })
		g.Go(func() {
			check(t, "fired by a later event", after.Wait(ctx), context.DeadlineExceeded)
		})
		_ = w.Sleep(background, ms/2)
		w.After(ms/2, after.Fire)
		g.Wait()
	})
}

func TestACancelWakesInTheSameMoment(t *testing.T) {
	w := NewWorld(1)
	live(t, w, func() {
		ctx, cancel := w.WithCancel(background)
		child, cancelChild := w.WithTimeout(ctx, long)
		defer cancelChild()
		g := w.NewGroup()
		g.Go(func() {
			check(t, "sleep", w.Sleep(child, 2*long), context.Canceled)
			if w.Now() != ms {
				t.Errorf("woke at %v, want 1ms", w.Now())
			}
		})
		_ = w.Sleep(background, ms)
		cancel()
		g.Wait()
	})
}

func TestDeadlinesAreVirtualDates(t *testing.T) {
	w := NewWorld(1)
	live(t, w, func() {
		_ = w.Sleep(background, time.Minute)
		ctx, cancel := w.WithTimeout(background, time.Second)
		defer cancel()
		if at, _ := ctx.Deadline(); !at.Equal(w.Date(61 * time.Second)) {
			t.Errorf("deadline %v, want the date of 61s", at)
		}
		far, cancelFar := w.WithTimeout(background, 1<<63-1)
		defer cancelFar()
		check(t, "a timeout beyond all time", far.Err(), nil)
	})
}

func TestAFutureIsAwaited(t *testing.T) {
	w := NewWorld(1)
	live(t, w, func() {
		f := NewFuture[int](w, "the answer")
		w.After(ms, func() { f.Resolve(42) })
		ctx, cancel := w.WithTimeout(background, ms/2)
		defer cancel()
		_, err := f.Await(ctx)
		check(t, "too early", err, context.DeadlineExceeded)
		if v, err := f.Await(background); v != 42 || err != nil || !f.Resolved() {
			t.Errorf("%d, %v; want 42", v, err)
		}
		if f.Resolve(43) {
			t.Error("resolved twice")
		}
		if v, err := f.Await(ctx); v != 42 || err != nil {
			t.Errorf("%d, %v; want 42 although the context has ended", v, err)
		}
	})
}

func TestATimerCanBeMovedAndStopped(t *testing.T) {
	w := NewWorld(1)
	var rang []time.Duration
	live(t, w, func() {
		timer := w.NewTimer(func() { rang = append(rang, w.Now()) })
		timer.Reset(ms)
		timer.Reset(3 * ms)
		_ = w.Sleep(background, 2*ms)
		timer.Reset(2 * ms)
		_ = w.Sleep(background, 3*ms)
		timer.Reset(ms)
		if !timer.Stop() || timer.Stop() {
			t.Error("Stop should have stopped one call")
		}
		_ = w.Sleep(background, 2*ms)
	})
	if !slices.Equal(rang, []time.Duration{4 * ms}) {
		t.Errorf("rang at %v, want 4ms", rang)
	}
}

func TestASecondRunGoesOnWhereTheFirstEnded(t *testing.T) {
	w := NewWorld(1)
	rang := false
	live(t, w, func() {
		w.After(3*ms, func() { rang = true })
		_ = w.Sleep(background, ms)
	})
	if w.Now() != ms || rang {
		t.Fatalf("now %v, rang %v; want 1ms and not", w.Now(), rang)
	}
	live(t, w, func() { _ = w.Sleep(background, 4*ms) })
	if w.Now() != 5*ms || !rang {
		t.Errorf("now %v, rang %v; want 5ms and yes", w.Now(), rang)
	}
}

// history is a random life: sleeps, cancels, deadlines, signals, groups, callbacks. It returns a hash of who did what
// when.
func history(seed, events uint64) (hash, happened uint64) {
	w := NewWorld(seed)
	h := fnv.New64a()
	note := func(who int, what string) { fmt.Fprintln(h, w.Now(), who, what) }
	err := w.Run(func() {
		life, end := w.WithCancel(background)
		g, signals := w.NewGroup(), make([]clock.Signal, 16)
		for i := range signals {
			signals[i] = w.NewSignal()
		}
		for i := range 100 {
			g.Go(func() {
				for r := w.Stream("process", uint64(i)); life.Err() == nil; {
					if w.Events() > events {
						end()
					}
					act(w, life, signals, r, func(what string) { note(i, what) })
				}
			})
		}
		g.Wait()
	})
	note(-1, fmt.Sprint(err))
	return h.Sum64(), w.Events()
}

func act(w *World, life context.Context, signals []clock.Signal, r *rand.Rand, note func(string)) {
	d := func() time.Duration { return time.Duration(r.IntN(20)) * ms } // coarse: many ties
	ctx, cancel := w.WithTimeout(life, d())
	defer cancel()
	switch k := r.IntN(len(signals)); r.IntN(6) {
	case 0:
		note(fmt.Sprint("slept ", w.Sleep(ctx, d())))
	case 1:
		note(fmt.Sprint("heard ", signals[k].Wait(ctx)))
	case 2:
		signals[k].Fire()
		signals[k] = w.NewSignal()
	case 3:
		w.After(d(), func() { note("called"); cancel() })
		note(fmt.Sprint("slept ", w.Sleep(ctx, d()+d())))
	case 4:
		g := w.NewGroup()
		for j := range 3 {
			g.Go(func() { note(fmt.Sprint("child ", j, w.Sleep(ctx, d()))) })
		}
		g.Wait()
	case 5:
		note(fmt.Sprint("slept ", w.Sleep(life, d())))
	}
}

func TestEqualSeedsMakeEqualRuns(t *testing.T) {
	const events = 100_000
	want, happened := history(7, events)
	if happened < events {
		t.Fatalf("%d events, want %d", happened, events)
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, procs := range []int{1, 2, 4, before} {
		runtime.GOMAXPROCS(procs)
		if got, _ := history(7, events); got != want {
			t.Errorf("another history with GOMAXPROCS %d", procs)
		}
	}
	if got, _ := history(8, events); got == want {
		t.Error("another seed made the same history")
	}
}

func TestADeadlockTellsWhoWaitsForWhat(t *testing.T) {
	w := NewWorld(1)
	undone := 0
	err := w.Run(func() {
		g, s, f := w.NewGroup(), w.NewSignal(), NewFuture[int](w, "the reply of node 2")
		for range 3 {
			g.Go(func() { defer func() { undone++ }(); _ = s.Wait(background) })
		}
		g.Go(func() { _, _ = f.Await(background) })
		_ = w.Sleep(background, ms)
		g.Wait()
	})
	if !errors.Is(err, ErrDeadlock) {
		t.Fatalf("%v, want a deadlock", err)
	}
	for _, want := range []string{"at 1ms", "1 waiting for a group at", "3 waiting for a signal at", "1 waiting for the reply of node 2 at", "world_test.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the report lacks %q: %v", want, err)
		}
	}
	if undone != 3 {
		t.Errorf("%d deferred calls ran, want 3", undone)
	}
	if again := w.Run(func() {}); !errors.Is(again, ErrDeadlock) {
		t.Errorf("a dead world ran on: %v", again)
	}
	t.Log(err)
}

func TestWhatNobodyCanRecoverUnwindsADeadlock(t *testing.T) {
	w := NewWorld(1)
	err := w.Run(func() {
		for {
			func() {
				defer func() { _ = recover() }()
				defer func() { _ = w.NewSignal().Wait(background) }()
				_ = w.NewSignal().Wait(background)
			}()
		}
	})
	if !errors.Is(err, ErrDeadlock) {
		t.Fatalf("%v, want a deadlock", err)
	}
}

func TestAPanicGoesOnInTheCallerOfRun(t *testing.T) {
	for name, run := range map[string]func(w *World, g clock.Group){
		"in a process":  func(w *World, g clock.Group) { g.Go(func() { _ = w.Sleep(background, ms); panic(ErrDeadlock) }) },
		"in a callback": func(w *World, g clock.Group) { w.After(ms, func() { panic(ErrDeadlock) }) },
	} {
		t.Run(name, func(t *testing.T) {
			w, undone := NewWorld(1), false
			defer func() {
				if got := recover(); got != any(ErrDeadlock) {
					t.Errorf("recovered %v, want the panic's own value", got)
				}
				if !undone {
					t.Error("another process was not unwound")
				}
				if w.Run(func() {}) == nil {
					t.Error("the world ran on")
				}
			}()
			_ = w.Run(func() {
				g := w.NewGroup()
				g.Go(func() { defer func() { undone = true }(); _ = w.Sleep(background, long) })
				run(w, g)
				g.Wait()
			})
			t.Error("Run returned")
		})
	}
}

func TestGoexitInAProcessIsGoexitOfTheCaller(t *testing.T) {
	returned, gone := false, make(chan struct{})
	go func() {
		defer close(gone)
		w := NewWorld(1)
		_ = w.Run(func() {
			g := w.NewGroup()
			g.Go(runtime.Goexit)
			g.Wait()
		})
		returned = true
	}()
	<-gone
	if returned {
		t.Error("Run returned")
	}
}

func TestACallbackMustNotWait(t *testing.T) {
	w := NewWorld(1)
	defer func() {
		if got := recover(); got == nil || !strings.Contains(fmt.Sprint(got), "callback must not wait") {
			t.Errorf("recovered %v", got)
		}
	}()
	_ = w.Run(func() {
		w.After(ms, func() { _ = w.Sleep(background, ms) })
		_ = w.Sleep(background, 2*ms)
	})
}

func TestALoopWithoutTimeIsNotEndless(t *testing.T) {
	for name, body := range map[string]func(w *World){
		"sleeps of no length": func(w *World) {
			for {
				_ = w.Sleep(background, 0)
			}
		},
		"callbacks": func(w *World) {
			var again func()
			again = func() { w.After(0, again) }
			again()
			_ = w.NewSignal().Wait(background)
		},
		"processes": func(w *World) {
			for {
				g := w.NewGroup()
				g.Go(func() {})
				g.Wait()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWorld(1)
			w.MaxStandstill = 50_000
			err := w.Run(func() { _ = w.Sleep(background, ms); body(w) })
			if !errors.Is(err, ErrStandstill) || !strings.Contains(err.Error(), "at 1ms") {
				t.Errorf("%v, want a standstill at 1ms", err)
			}
			t.Log(err)
		})
	}
}

func TestTooManyEventsEndTheRun(t *testing.T) {
	for _, clients := range []int{1, 5} {
		w := NewWorld(1)
		w.MaxEvents = 20_000
		err := w.Run(func() {
			g := w.NewGroup()
			for range clients {
				g.Go(func() {
					for {
						_ = w.Sleep(background, ms)
					}
				})
			}
			g.Wait()
		})
		if !errors.Is(err, ErrTooManyEvents) || w.Events() > w.MaxEvents+glance {
			t.Errorf("%v after %d events, want a little over %d", err, w.Events(), w.MaxEvents)
		}
	}
}

func TestAContextFromOutsideEndsWaitsBetweenEvents(t *testing.T) {
	outer, interrupt := context.WithCancel(background)
	defer interrupt()
	w := NewWorld(1)
	live(t, w, func() {
		g := w.NewGroup()
		inner, cancel := w.WithTimeout(outer, 1000*long)
		defer cancel()
		g.Go(func() { check(t, "sleep with it", w.Sleep(outer, 1000*long), context.Canceled) })
		g.Go(func() { check(t, "sleep with a child", w.Sleep(inner, 1000*long), context.Canceled) })
		g.Go(func() { check(t, "wait with a child", w.NewSignal().Wait(inner), context.Canceled) })
		g.Go(func() {
			for i := 0; inner.Err() == nil; i++ {
				if i == 10 {
					interrupt()
				}
				_ = w.Sleep(background, ms)
			}
			if w.Events() > 2*glance {
				t.Errorf("noticed after %d events", w.Events())
			}
		})
		g.Wait()
	})
	if n := len(w.outside.known) + len(w.outside.all); n > 2 {
		t.Errorf("%d contexts are still looked at", n)
	}
}

func TestAContextFromOutsideIsLookedAtBeforeADeadlockIsCalled(t *testing.T) {
	outer, interrupt := context.WithCancel(background)
	w := NewWorld(1)
	live(t, w, func() {
		g, s := w.NewGroup(), w.NewSignal()
		g.Go(func() { check(t, "wait", s.Wait(outer), context.Canceled) })
		_ = w.Sleep(background, ms)
		interrupt()
		g.Wait()
	})
}

func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, ending := range []func(w *World){
		func(*World) {},
		func(w *World) { _ = w.NewSignal().Wait(background) },
		func(w *World) { panic("an end") },
		func(w *World) { w.NewGroup().Go(func() {}); panic("an end, and a process that never began") },
	} {
		func() {
			defer func() { _ = recover() }()
			w := NewWorld(1)
			_ = w.Run(func() {
				g := w.NewGroup()
				for range 1000 {
					g.Go(func() { _ = w.Sleep(background, ms) })
				}
				g.Wait()
				ending(w)
			})
		}()
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestAMillionWaitsLeaveMemoryFlat(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	w := NewWorld(1)
	live(t, w, func() {
		sleeps := func(n int) {
			g := w.NewGroup()
			for i := range 100 {
				g.Go(func() {
					for range n / 100 {
						ctx, cancel := w.WithTimeout(background, long)
						_ = w.Sleep(ctx, time.Duration(1+i))
						_ = w.NewSignal().Wait(expired(w, ctx))
						cancel()
					}
				})
			}
			g.Wait()
		}
		sleeps(10_000)
		before := heap()
		sleeps(500_000)
		if after := heap(); after > before+1<<20 {
			t.Errorf("%d KiB of heap before a million waits, %d after", before>>10, after>>10)
		}
	})
}

// expired is a child of ctx with a nanosecond to live.
func expired(w *World, ctx context.Context) context.Context {
	child, cancel := w.WithTimeout(ctx, 1)
	w.After(2, cancel)
	return child
}

func BenchmarkEvents(b *testing.B) {
	rate := func(b *testing.B, w *World) {
		b.ReportMetric(float64(w.Events())/b.Elapsed().Seconds(), "events/s")
	}
	for _, clients := range []int{1, 10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("sleepers=%d", clients), func(b *testing.B) {
			w := NewWorld(1)
			b.ReportAllocs()
			live(b, w, func() {
				g := w.NewGroup()
				for i := range clients {
					g.Go(func() {
						r := w.Stream("sleep", uint64(i))
						for w.Events() < uint64(b.N) {
							_ = w.Sleep(background, time.Duration(1+r.IntN(1_000_000)))
						}
					})
				}
				g.Wait()
			})
			rate(b, w)
		})
	}
	b.Run("callbacks=1000", func(b *testing.B) {
		w := NewWorld(1)
		b.ReportAllocs()
		live(b, w, func() {
			all := w.NewSignal()
			r := w.Stream("callback", 0)
			for range 1000 {
				var again func()
				again = func() {
					if w.Events() >= uint64(b.N) {
						all.Fire()
						return
					}
					w.After(time.Duration(1+r.IntN(1_000_000)), again)
				}
				again()
			}
			_ = all.Wait(background)
		})
		rate(b, w)
	})
	b.Run("calls=1000", func(b *testing.B) { // a deadline, a request, a reply: four events, two changes of process
		w := NewWorld(1)
		b.ReportAllocs()
		live(b, w, func() {
			g := w.NewGroup()
			for i := range 1000 {
				g.Go(func() {
					r := w.Stream("call", uint64(i))
					delay := func() time.Duration { return time.Duration(1 + r.IntN(1_000_000)) }
					for w.Events() < uint64(b.N) {
						ctx, cancel := w.WithTimeout(background, time.Second)
						f := NewFuture[int](w, "a reply")
						w.After(delay(), func() { w.After(delay(), func() { f.Resolve(1) }) })
						_, _ = f.Await(ctx)
						cancel()
					}
				})
			}
			g.Wait()
		})
		rate(b, w)
	})
}
