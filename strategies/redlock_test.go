package strategies

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

func fakes(n int) (nodes []Node, all []*fakeNode) {
	for range n {
		f := newFake(clock.Wall())
		nodes, all = append(nodes, f), append(all, f)
	}
	return nodes, all
}

func redlockOn(t *testing.T, nodes []Node, o Options) *redlock {
	t.Helper()
	k, err := New("redlock", Env{Clock: clock.Wall(), Nodes: nodes}, o)
	if err != nil {
		t.Fatal(err)
	}
	return k.(*redlock)
}

func lost([]any) error { return errGone }

func loading([]any) error {
	return &ServerError{Code: "LOADING", Message: "LOADING Redis is loading the dataset"}
}

func TestAFailedQuorumIsErrHeldOnlyWhereThatIsCertain(t *testing.T) {
	const held, down, refuses, free = "held", "down", "refuses", "free"
	for _, c := range []struct {
		nodes         []string
		held, refused bool
	}{
		{[]string{held, held, held}, true, false},
		{[]string{held, held, free}, true, false},
		{[]string{held, down, free}, true, false}, // at most one node can hold our key
		{[]string{down, down, held}, false, false},
		{[]string{down, down, down}, false, false},
		{[]string{refuses, refuses, free}, false, true},
		{[]string{refuses, refuses, held}, true, true},
		{[]string{refuses, down, down}, false, false},
	} {
		nodes, all := fakes(3)
		for i, state := range c.nodes {
			switch state {
			case held:
				all[i].keys[someRequest.Key] = fakeKey{value: "somebody else"}
			case down:
				all[i].fail = lost
			case refuses:
				all[i].fail = loading
			}
		}
		_, err := redlockOn(t, nodes, nil).Acquire(t.Context(), someRequest)
		var q *QuorumError
		var refused *ServerError
		if !errors.As(err, &q) || errors.Is(err, ErrHeld) != c.held || errors.As(err, &refused) != c.refused {
			t.Errorf("%v: %v; held %v, refused %v", c.nodes, err, errors.Is(err, ErrHeld), errors.As(err, &refused))
		}
	}
}

func TestReleaseOfAQuorumWeighsTheNodes(t *testing.T) {
	const ours, other, none, down = "ours", "other", "none", "down"
	for _, c := range []struct {
		nodes []string
		want  Outcome
	}{
		{[]string{ours, ours, ours}, Released},
		{[]string{ours, ours, down}, Released},
		{[]string{ours, ours, other}, Released},
		{[]string{ours, down, none}, Unknown},
		{[]string{other, other, ours}, Stolen},
		{[]string{other, down, none}, Unknown},
		{[]string{none, none, none}, Expired},
		{[]string{ours, none, other}, Expired},
		{[]string{down, down, down}, Unknown},
	} {
		for _, mode := range []string{waitAll, atQuorum, sequential} {
			nodes, all := fakes(3)
			for i, state := range c.nodes {
				switch state {
				case ours:
					all[i].keys[someRequest.Key] = fakeKey{value: someRequest.Owner}
				case other:
					all[i].keys[someRequest.Key] = fakeKey{value: "somebody else"}
				case down:
					all[i].fail = lost
				}
			}
			got, err := redlockOn(t, nodes, Options{"mode": mode}).Release(t.Context(), Lease{Request: someRequest})
			if got != c.want || (err == nil) != (got != Unknown) {
				t.Errorf("%s %v: %s, %v; want %s", mode, c.nodes, got, err, c.want)
			}
		}
	}
}

func TestRenewalOfAQuorumIsLostOnlyWhenNoQuorumIsLeft(t *testing.T) {
	for _, c := range []struct {
		lost, down int
		want       string
	}{{0, 0, "renewed"}, {0, 1, "renewed"}, {1, 0, "renewed"}, {1, 1, "doubt"}, {0, 2, "doubt"}, {2, 0, "lost"}, {2, 1, "lost"}, {3, 0, "lost"}} {
		nodes, all := fakes(3)
		k := redlockOn(t, nodes, nil)
		l, err := k.Acquire(t.Context(), someRequest)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.lost {
			delete(all[i].keys, someRequest.Key)
		}
		for i := range c.down {
			all[2-i].fail = lost
		}
		_, err = k.Renew(t.Context(), l)
		got := map[bool]string{true: "lost", false: "doubt"}[errors.Is(err, ErrLost)]
		if err == nil {
			got = "renewed"
		}
		if got != c.want {
			t.Errorf("%d lost, %d down: %s (%v), want %s", c.lost, c.down, got, err, c.want)
		}
	}
}

func TestTheQuorumIsOfTheConfiguredNodes(t *testing.T) {
	for nodes, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 7: 4} {
		all, _ := fakes(nodes)
		if got := redlockOn(t, all, nil).quorum; got != want {
			t.Errorf("quorum of %d nodes: %d, want %d", nodes, got, want)
		}
	}
}

func TestNodeTimeoutIsATwentiethOfTheTTLAndAtMost50ms(t *testing.T) {
	all, _ := fakes(3)
	k := redlockOn(t, all, nil)
	for ttl, want := range map[time.Duration]time.Duration{
		30 * time.Second: 50 * time.Millisecond, 400 * time.Millisecond: 20 * time.Millisecond, time.Millisecond: time.Millisecond,
	} {
		if got := k.nodeTimeout(ttl); got != want {
			t.Errorf("TTL %v: %v, want %v", ttl, got, want)
		}
	}
	if got := redlockOn(t, all, Options{"node_timeout": time.Second}).nodeTimeout(time.Second); got != time.Second {
		t.Errorf("node_timeout 1s: %v", got)
	}
}

func TestSequentialStopsWhenTheQuorumIsOutOfReach(t *testing.T) {
	nodes, all := fakes(5)
	for _, n := range all[:3] {
		n.keys[someRequest.Key] = fakeKey{value: "somebody else"}
	}
	if _, err := redlockOn(t, nodes, Options{"mode": sequential}).Acquire(t.Context(), someRequest); !errors.Is(err, ErrHeld) {
		t.Errorf("answered %v", err)
	}
	for i, n := range all[3:] {
		if len(n.sent) != 1 || n.sent[0][0] != "release" {
			t.Errorf("node %d was sent %v, want the clean-up alone", i+4, n.sent)
		}
	}
}

func TestAnAcquireWhoseContextHasEndedCleansUpAllTheSame(t *testing.T) {
	for _, mode := range []string{waitAll, atQuorum, sequential} {
		nodes, all := fakes(3)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, n := range all {
			n.lose = func(args []any) error {
				if args[0] == "SET" {
					cancel()
					return errGone
				}
				return nil
			}
		}
		k := redlockOn(t, nodes, Options{"mode": mode, "node_timeout": time.Minute})
		if _, err := k.Acquire(ctx, someRequest); !errors.Is(err, context.Canceled) || errors.Is(err, ErrHeld) {
			t.Errorf("%s: answered %v", mode, err)
		}
		if err := k.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, n := range all {
			if n.has(someRequest.Key) {
				t.Errorf("%s: the key is still on node %d", mode, i+1)
			}
		}
	}
}

func TestAnAcquireWhoseContextHasEndedBeforeSendsNothing(t *testing.T) {
	nodes, all := fakes(3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := redlockOn(t, nodes, nil).Acquire(ctx, someRequest); !errors.Is(err, context.Canceled) {
		t.Errorf("answered %v", err)
	}
	for i, n := range all {
		if len(n.sent) != 0 {
			t.Errorf("node %d was sent %v", i+1, n.sent)
		}
	}
}

func TestTheLedgerIsEmptyAfterDrain(t *testing.T) {
	nodes, _ := fakes(3)
	k := redlockOn(t, nodes, Options{"mode": atQuorum, "node_timeout": time.Minute})
	for range 20 {
		l, err := k.Acquire(t.Context(), someRequest)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := k.Release(t.Context(), l); found != Released {
			t.Fatal(found, err)
		}
	}
	if err := k.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.ledger.open.Len() != 0 || len(k.ledger.takes) != 0 {
		t.Errorf("%d ballots and %d acquisitions are left", k.ledger.open.Len(), len(k.ledger.takes))
	}
}

func TestQuorumErrorSaysWhatEachNodeDid(t *testing.T) {
	nodes, all := fakes(3)
	all[1].fail = lost
	all[2].keys[someRequest.Key] = fakeKey{value: "somebody else"}
	_, err := redlockOn(t, nodes, nil).Acquire(t.Context(), someRequest)
	for _, part := range []string{`acquire "lock:1"`, "1 of 2 nodes needed granted, 1 held", "node 2: ", "connection lost"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
