package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

var simpleCosts = Costs{Cycle: 2 * time.Microsecond, Wake: 20 * time.Microsecond, Deep: 100 * time.Microsecond, Command: 10 * time.Microsecond, Script: 5 * time.Microsecond, Inner: time.Microsecond}

// simulated runs main beside a server and one node whose link takes 50 us a direction.
func simulated(t *testing.T, main func(w *World, s *Server, n *Node)) *Server {
	t.Helper()
	w := NewWorld(1)
	s := NewServer(w, NewKeyspace(), simpleCosts)
	n := NewNode(w, s, Link{Always(50 * time.Microsecond), Always(50 * time.Microsecond)}, "node-1", time.Second)
	if err := w.Run(func() { main(w, s, n) }); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestALoneCommandPaysForTheWakeUp(t *testing.T) {
	s := simulated(t, func(w *World, s *Server, n *Node) {
		w.Sleep(context.Background(), time.Millisecond)
		from := w.Now()
		if r, err := n.Do(context.Background(), "SET", "k", "v", "NX", "PX", 1000); err != nil || r.Text != "OK" {
			t.Errorf("SET = %+v, %v", r, err)
		}
		if took := w.Now() - from; took != 132*time.Microsecond {
			t.Errorf("round trip of %v, want 50 + 20 + 2 + 10 + 50 us", took)
		}
	})
	if s.cpu != 32*time.Microsecond {
		t.Errorf("CPU %v, want 32 us", s.cpu)
	}
}

func TestCommandsThatAreReadyTogetherShareACycle(t *testing.T) {
	s := simulated(t, func(w *World, s *Server, n *Node) {
		w.Sleep(context.Background(), time.Millisecond)
		g := w.NewGroup()
		for range 10 {
			g.Go(func() { n.Do(context.Background(), "INCR", "k") })
		}
		g.Wait()
	})
	// The first wakes the server; the nine that came in the same moment share the next cycle.
	if want := 20 + 2 + 10 + 2 + 9*10; s.cpu != time.Duration(want)*time.Microsecond {
		t.Errorf("CPU %v, want %d us", s.cpu, want)
	}
}

func TestScriptsPayForWhatTheyRun(t *testing.T) {
	script := &strategies.Script{Name: "two", Lua: "redis.call('SET', KEYS[1], 1) return redis.call('GET', KEYS[1])"}
	s := simulated(t, func(w *World, s *Server, n *Node) {
		if err := n.Warm(context.Background(), 1, []*strategies.Script{script}); err != nil {
			t.Error(err)
		}
		s.cpu = 0
		if r, err := n.Eval(context.Background(), script, []string{"k"}); err != nil || r.Text != "1" {
			t.Errorf("EVAL = %+v, %v", r, err)
		}
		if got := n.Traffic(); got.Commands["evalsha"] != 1 || got.Inner != 2 || got.Bytes == 0 {
			t.Errorf("traffic %+v", got)
		}
	})
	if want := 20 + 2 + 10 + 5 + 2; s.cpu != time.Duration(want)*time.Microsecond {
		t.Errorf("CPU %v, want %d us", s.cpu, want)
	}
}

func TestACommandWhoseCallerHasGoneIsStillExecuted(t *testing.T) {
	simulated(t, func(w *World, s *Server, n *Node) {
		ctx, cancel := w.WithTimeout(context.Background(), 60*time.Microsecond)
		defer cancel()
		if _, err := n.Do(ctx, "SET", "k", "v"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want deadline exceeded", err)
		}
		w.Sleep(context.Background(), time.Millisecond)
		if r, err := n.Do(context.Background(), "GET", "k"); err != nil || r.Text != "v" {
			t.Errorf("GET = %+v, %v; the SET was under way", r, err)
		}
	})
}

func TestAScriptThatTheServerForgotIsSentAsText(t *testing.T) {
	script := &strategies.Script{Name: "one", Lua: "return 1"}
	simulated(t, func(w *World, s *Server, n *Node) {
		if r, err := n.Eval(context.Background(), script, nil); err != nil || r.Int != 1 {
			t.Errorf("EVAL = %+v, %v", r, err)
		}
		if got := n.Traffic().Commands; got["evalsha"] != 1 || got["eval"] != 1 {
			t.Errorf("sent %v, want one of each", got)
		}
	})
}
