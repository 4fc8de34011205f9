package strategies

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

func shardedOn(t *testing.T, o Options) (*sharded, *fakeNode) {
	t.Helper()
	n := newFake(&jumpClock{})
	k, err := New("sharded", Env{Clock: n.clock, Nodes: []Node{n}, Rand: rand.New(rand.NewPCG(1, 2))}, o)
	if err != nil {
		t.Fatal(err)
	}
	return k.(*sharded), n
}

func owned(i int) Request {
	r := someRequest
	r.Owner = fmt.Sprintf("%032x", i)
	return r
}

func TestShardedHasAsManyHoldersAsStripesAndNoMore(t *testing.T) {
	for _, pick := range []string{pickRandom, pickHash, pickLeastOf2} {
		k, _ := shardedOn(t, Options{"shards": 4, "pick": pick})
		keys := map[string]bool{}
		for i := range 400 {
			switch l, err := k.Acquire(t.Context(), owned(i)); {
			case err == nil && keys[l.Key]:
				t.Fatalf("%s: %s was granted twice", pick, l.Key)
			case err == nil:
				keys[l.Key] = true
			case !errors.Is(err, ErrHeld):
				t.Fatal(err)
			}
		}
		for i := range 4 {
			if key := StripeKey(someRequest.Key, i); !keys[key] {
				t.Errorf("%s: %s was never granted", pick, key)
			}
		}
	}
}

func TestLeastOf2AvoidsTheBusyStripe(t *testing.T) {
	k, _ := shardedOn(t, Options{"shards": 2, "pick": pickLeastOf2})
	k.counter(someRequest.Key, 0).Store(5)
	if got := k.lesser(someRequest.Key, 0, 1); got != 1 {
		t.Errorf("picked stripe %d", got)
	}
	if got := k.lesser(someRequest.Key, 1, 0); got != 1 {
		t.Errorf("picked stripe %d", got)
	}
}

func TestLeastOf2CountsDownAgain(t *testing.T) {
	k, _ := shardedOn(t, Options{"shards": 2, "pick": pickLeastOf2})
	for i := range 50 {
		l, err := k.Acquire(t.Context(), owned(i))
		if err != nil {
			continue
		}
		for range 2 { // twice: it must not go below zero
			if _, err := k.Release(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range k.busy {
		if n := k.busy[i].Load(); n != 0 {
			t.Errorf("counter %d is at %d with nobody inside", i, n)
		}
	}
}

func TestAnAttemptOfUnknownFateIsReleasedByItsLogicalKey(t *testing.T) {
	k, n := shardedOn(t, Options{"shards": 4})
	n.lose = func(args []any) error {
		if args[0] == "SET" {
			return errGone
		}
		return nil
	}
	l, err := k.Acquire(t.Context(), someRequest)
	if !errors.Is(err, errGone) || len(n.keys) != 1 {
		t.Fatalf("%v, %d keys", err, len(n.keys))
	}
	if _, ok := n.keys[l.Key]; !ok {
		t.Errorf("the lease beside the error names %q, which is not the key that was taken", l.Key)
	}
	if found, err := k.Release(t.Context(), Lease{Request: someRequest}); found != Released || err != nil || len(n.keys) != 0 {
		t.Errorf("%s, %v, %d keys are left", found, err, len(n.keys))
	}
	if found, err := k.Release(t.Context(), Lease{Request: someRequest}); found != Expired || err != nil {
		t.Errorf("again: %s, %v", found, err)
	}
}

func TestShardedNeedsRandomnessUnlessItHashes(t *testing.T) {
	e := Env{Clock: &jumpClock{}, Nodes: []Node{newFake(&jumpClock{})}}
	if _, err := New("sharded", e, nil); err == nil {
		t.Error("pick random without a source of randomness was accepted")
	}
	if _, err := New("sharded", e, Options{"pick": pickHash}); err != nil {
		t.Error(err)
	}
}
