package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// promises are what every clock.Clock keeps. They run on the wall and in virtual time, so they measure nothing that
// the load of a machine could change: no wait ends early, and every one ends.
var promises = map[string]func(*testing.T, clock.Clock){
	"no sleep ends early":                           noSleepEndsEarly,
	"no time to sleep is no sleep":                  noTimeToSleepIsNoSleep,
	"an ended context ends a sleep":                 anEndedContextEndsASleep,
	"a cancel wakes a sleeper":                      aCancelWakesASleeper,
	"a deadline ends a sleep":                       aDeadlineEndsASleep,
	"a deadline is inherited, and the first counts": aDeadlineIsInherited,
	"a timeout of nothing has passed":               aTimeoutOfNothingHasPassed,
	"a cancel reaches children and no parent":       aCancelReachesChildren,
	"the first reason to end stays":                 theFirstReasonStays,
	"WithoutCancel cuts the end off":                withoutCancelCuts,
	"values pass":                                   valuesPass,
	"Done is closed at the end":                     doneIsClosed,
	"a child of package context ends too":           aStandardChildEnds,
	"a group waits for all":                         aGroupWaitsForAll,
	"a group in a group":                            aGroupInAGroup,
	"an empty group does not wait":                  anEmptyGroupDoesNotWait,
	"a signal wakes all":                            aSignalWakesAll,
	"a fired signal beats an ended context":         aFiredSignalBeatsAnEndedContext,
	"a context ends the wait for a signal":          aContextEndsTheWaitForASignal,
	"time never goes back":                          timeNeverGoesBack,
	"SleepUntil":                                    sleepUntil,
}

func TestTheWallKeepsItsPromises(t *testing.T) {
	for name, promise := range promises {
		t.Run(name, func(t *testing.T) { promise(t, clock.Wall()) })
	}
}

func TestVirtualTimeKeepsTheSamePromises(t *testing.T) {
	for name, promise := range promises {
		t.Run(name, func(t *testing.T) {
			w := NewWorld(1)
			live(t, w, func() { promise(t, w.Clock()) })
		})
	}
}

// live runs main in w to its end.
func live(t testing.TB, w *World, main func()) {
	t.Helper()
	if err := w.Run(main); err != nil {
		t.Fatal(err)
	}
}

var background = context.Background()

// long is a wait that a test never sits out.
const long = time.Hour

func check(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || want == nil && got != nil {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func noSleepEndsEarly(t *testing.T, c clock.Clock) {
	g := c.NewGroup()
	for i := range 2000 {
		g.Go(func() {
			d := time.Duration(i*37%4000) * time.Microsecond
			from := c.Now()
			check(t, "sleep", c.Sleep(background, d), nil)
			if slept := c.Now() - from; slept < d {
				t.Errorf("slept %v, want at least %v", slept, d)
			}
		})
	}
	g.Wait()
}

func noTimeToSleepIsNoSleep(t *testing.T, c clock.Clock) {
	ctx, cancel := c.WithCancel(background)
	for _, d := range []time.Duration{0, -1, -long} {
		check(t, "sleep", c.Sleep(ctx, d), nil)
	}
	cancel()
	for _, d := range []time.Duration{0, -1, -long} {
		check(t, "sleep with an ended context", c.Sleep(ctx, d), context.Canceled)
	}
}

func anEndedContextEndsASleep(t *testing.T, c clock.Clock) {
	ctx, cancel := c.WithCancel(background)
	cancel()
	check(t, "sleep", c.Sleep(ctx, long), context.Canceled)
}

func aCancelWakesASleeper(t *testing.T, c clock.Clock) {
	ctx, cancel := c.WithCancel(background)
	g := c.NewGroup()
	for range 50 {
		g.Go(func() { check(t, "sleep", c.Sleep(ctx, long), context.Canceled) })
	}
	check(t, "sleep", c.Sleep(background, time.Millisecond), nil)
	cancel()
	g.Wait()
}

func aDeadlineEndsASleep(t *testing.T, c clock.Clock) {
	from := c.Now()
	ctx, cancel := c.WithTimeout(background, 3*time.Millisecond)
	defer cancel()
	check(t, "sleep", c.Sleep(ctx, long), context.DeadlineExceeded)
	check(t, "after", ctx.Err(), context.DeadlineExceeded)
	if took := c.Now() - from; took < 3*time.Millisecond {
		t.Errorf("ended after %v, want 3ms or more", took)
	}
}

func aDeadlineIsInherited(t *testing.T, c clock.Clock) {
	near, cancel := c.WithTimeout(background, 2*time.Millisecond)
	defer cancel()
	far, cancelFar := c.WithTimeout(near, long)
	defer cancelFar()
	child, cancelChild := c.WithCancel(far)
	defer cancelChild()
	want, _ := near.Deadline()
	if got, ok := child.Deadline(); !ok || !got.Equal(want) {
		t.Errorf("the child's deadline is %v, %v; want %v", got, ok, want)
	}
	if at, ok := background.Deadline(); ok {
		t.Errorf("no deadline reads %v", at)
	}
	check(t, "sleep", c.Sleep(child, long), context.DeadlineExceeded)

	near, cancelNear := c.WithTimeout(background, long)
	defer cancelNear()
	nearer, cancelNearer := c.WithTimeout(near, time.Millisecond)
	defer cancelNearer()
	check(t, "sleep", c.Sleep(nearer, long), context.DeadlineExceeded)
	check(t, "the parent", near.Err(), nil)
}

func aTimeoutOfNothingHasPassed(t *testing.T, c clock.Clock) {
	for _, d := range []time.Duration{0, -time.Second} {
		ctx, cancel := c.WithTimeout(background, d)
		check(t, "timeout", ctx.Err(), context.DeadlineExceeded)
		cancel()
		check(t, "timeout, cancelled", ctx.Err(), context.DeadlineExceeded)
	}
}

func aCancelReachesChildren(t *testing.T, c clock.Clock) {
	parent, cancel := c.WithCancel(background)
	child, cancelChild := c.WithTimeout(parent, long)
	grandchild, cancelGrandchild := c.WithCancel(child)
	defer cancelGrandchild()
	sister, cancelSister := c.WithCancel(parent)
	defer cancelSister()
	cancelChild()
	check(t, "parent", parent.Err(), nil)
	check(t, "sister", sister.Err(), nil)
	check(t, "child", child.Err(), context.Canceled)
	check(t, "grandchild", grandchild.Err(), context.Canceled)
	cancel()
	check(t, "sister", sister.Err(), context.Canceled)
	late, cancelLate := c.WithTimeout(parent, long)
	defer cancelLate()
	check(t, "a child born later", late.Err(), context.Canceled)
}

func theFirstReasonStays(t *testing.T, c clock.Clock) {
	ctx, cancel := c.WithTimeout(background, time.Millisecond)
	check(t, "sleep", c.Sleep(ctx, long), context.DeadlineExceeded)
	cancel()
	check(t, "cancelled after its deadline", ctx.Err(), context.DeadlineExceeded)
	ctx, cancel = c.WithTimeout(background, long)
	cancel()
	cancel()
	check(t, "cancelled", ctx.Err(), context.Canceled)
}

func withoutCancelCuts(t *testing.T, c clock.Clock) {
	parent, cancel := c.WithTimeout(background, long)
	cut := context.WithoutCancel(parent)
	within, cancelWithin := c.WithTimeout(cut, long)
	defer cancelWithin()
	briefly, cancelBriefly := c.WithTimeout(cut, 2*time.Millisecond)
	defer cancelBriefly()
	cancel()
	if at, ok := cut.Deadline(); ok {
		t.Errorf("the deadline stayed: %v", at)
	}
	check(t, "sleep with what was cut off", c.Sleep(cut, time.Millisecond), nil)
	check(t, "a child of what was cut off", within.Err(), nil)
	check(t, "sleep", c.Sleep(briefly, long), context.DeadlineExceeded)
}

type name struct{}

func valuesPass(t *testing.T, c clock.Clock) {
	top, cancel := c.WithCancel(context.WithValue(background, name{}, "a"))
	named := context.WithValue(top, name{}, "b")
	child, cancelChild := c.WithTimeout(named, long)
	defer cancelChild()
	if got := [2]any{top.Value(name{}), child.Value(name{})}; got != [2]any{"a", "b"} {
		t.Errorf("values %v, want a and b", got)
	}
	g := c.NewGroup()
	g.Go(func() { check(t, "sleep with a value", c.Sleep(named, long), context.Canceled) })
	check(t, "sleep", c.Sleep(background, time.Millisecond), nil)
	cancel()
	check(t, "child of a value", child.Err(), context.Canceled)
	g.Wait()
}

func doneIsClosed(t *testing.T, c clock.Clock) {
	closed := func(ctx context.Context) bool {
		select {
		case <-ctx.Done():
			return true
		default:
			return false
		}
	}
	ctx, cancel := c.WithTimeout(background, 500*time.Millisecond)
	defer cancel()
	child, cancelChild := c.WithCancel(ctx)
	defer cancelChild()
	if closed(ctx) || closed(child) {
		t.Error("closed before the end")
	}
	check(t, "sleep", c.Sleep(child, long), context.DeadlineExceeded)
	check(t, "let others learn it", c.Sleep(background, time.Millisecond), nil)
	if !closed(ctx) || !closed(child) {
		t.Error("open after the end")
	}
	early, cancelEarly := c.WithCancel(background)
	cancelEarly()
	if !closed(early) {
		t.Error("open although it had ended before it was asked for")
	}
}

func aStandardChildEnds(t *testing.T, c clock.Clock) {
	parent, cancel := c.WithTimeout(background, 3*time.Millisecond)
	defer cancel()
	child, cancelChild := context.WithCancel(parent)
	defer cancelChild()
	check(t, "sleep with it", c.Sleep(child, long), context.DeadlineExceeded)
	check(t, "after", child.Err(), context.DeadlineExceeded)
}

func aGroupWaitsForAll(t *testing.T, c clock.Clock) {
	var done atomic.Int64
	g := c.NewGroup()
	for i := range 5000 {
		g.Go(func() {
			check(t, "sleep", c.Sleep(background, time.Duration(i)*time.Microsecond), nil)
			done.Add(1)
		})
	}
	g.Wait()
	if done.Load() != 5000 {
		t.Errorf("%d of 5000 were done", done.Load())
	}
	g.Go(func() { done.Add(1) })
	g.Wait()
	if done.Load() != 5001 {
		t.Error("the group does not wait a second time")
	}
}

func aGroupInAGroup(t *testing.T, c clock.Clock) {
	var done atomic.Int64
	g := c.NewGroup()
	for range 10 {
		g.Go(func() {
			inner := c.NewGroup()
			for range 10 {
				inner.Go(func() {
					check(t, "sleep", c.Sleep(background, time.Millisecond), nil)
					g.Go(func() { done.Add(1) })
				})
			}
			inner.Wait()
			done.Add(1)
		})
	}
	g.Wait()
	if done.Load() != 110 {
		t.Errorf("%d of 110 were done", done.Load())
	}
}

func anEmptyGroupDoesNotWait(_ *testing.T, c clock.Clock) { c.NewGroup().Wait() }

func aSignalWakesAll(t *testing.T, c clock.Clock) {
	s, g := c.NewSignal(), c.NewGroup()
	for range 1000 {
		g.Go(func() { check(t, "wait", s.Wait(background), nil) })
	}
	check(t, "sleep", c.Sleep(background, time.Millisecond), nil)
	g.Go(s.Fire)
	g.Go(s.Fire)
	g.Wait()
	check(t, "a wait after it", s.Wait(background), nil)
}

func aFiredSignalBeatsAnEndedContext(t *testing.T, c clock.Clock) {
	ctx, cancel := c.WithCancel(background)
	cancel()
	s := c.NewSignal()
	check(t, "before Fire", s.Wait(ctx), context.Canceled)
	s.Fire()
	check(t, "after Fire", s.Wait(ctx), nil)
}

func aContextEndsTheWaitForASignal(t *testing.T, c clock.Clock) {
	timeout, cancel := c.WithTimeout(background, 2*time.Millisecond)
	defer cancel()
	never := c.NewSignal()
	check(t, "deadline", never.Wait(timeout), context.DeadlineExceeded)
	ctx, cancel := c.WithCancel(background)
	g := c.NewGroup()
	for range 20 {
		g.Go(func() { check(t, "cancel", never.Wait(ctx), context.Canceled) })
	}
	check(t, "sleep", c.Sleep(background, time.Millisecond), nil)
	cancel()
	g.Wait()
	never.Fire()
}

func timeNeverGoesBack(t *testing.T, c clock.Clock) {
	var latest atomic.Int64
	g := c.NewGroup()
	for i := range 200 {
		g.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			last := c.Now()
			for range 20 {
				check(t, "sleep", c.Sleep(background, time.Duration(r.IntN(200))*time.Microsecond), nil)
				now := c.Now()
				if now < last {
					t.Errorf("%v after %v", now, last)
				}
				last = now
			}
			latest.Store(max(latest.Load(), int64(last)))
		})
	}
	g.Wait()
	if now := c.Now(); now < time.Duration(latest.Load()) {
		t.Errorf("%v after %v", now, time.Duration(latest.Load()))
	}
}

func sleepUntil(t *testing.T, c clock.Clock) {
	at := c.Now() + 5*time.Millisecond
	check(t, "wait", clock.SleepUntil(background, c, at), nil)
	if c.Now() < at {
		t.Errorf("woke at %v, want %v", c.Now(), at)
	}
	check(t, "wait for the past", clock.SleepUntil(background, c, at-1), nil)
}
