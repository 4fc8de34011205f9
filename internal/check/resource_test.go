package check

import (
	"sync"
	"testing"
)

func TestWritesOneAfterTheOtherAreAccepted(t *testing.T) {
	c := NewCounter(true)
	for fence := range uint64(3) {
		if got := c.Leave(c.Enter("k", fence+1)); got != (Result{}) {
			t.Errorf("write %d: %+v", fence, got)
		}
	}
}

func TestAWriteOverAnothersIsALostUpdate(t *testing.T) {
	c := NewCounter(false)
	first, second := c.Enter("k", 0), c.Enter("k", 0)
	if got := c.Leave(second); got != (Result{}) {
		t.Errorf("the first write: %+v", got)
	}
	if got := c.Leave(first); got != (Result{LostUpdate: true}) {
		t.Errorf("the second write: %+v, want a lost update", got)
	}
}

func TestWritesToOtherKeysDoNotCollide(t *testing.T) {
	c := NewCounter(false)
	first, second := c.Enter("k", 0), c.Enter("l", 0)
	if a, b := c.Leave(first), c.Leave(second); a != (Result{}) || b != (Result{}) {
		t.Errorf("got %+v and %+v", a, b)
	}
}

func TestAFencedResourceRefusesTheStaleHolder(t *testing.T) {
	c := NewCounter(true)
	stale, live := c.Enter("k", 33), c.Enter("k", 34)
	if got := c.Leave(stale); got != (Result{Refused: true}) {
		t.Errorf("the stale write: %+v, want refused", got)
	}
	if got := c.Leave(live); got != (Result{}) {
		t.Errorf("the live write: %+v, want accepted and nothing lost", got)
	}
}

func TestAResourceWithoutFenceAcceptsTheStaleHolder(t *testing.T) {
	c := NewCounter(false)
	stale, live := c.Enter("k", 33), c.Enter("k", 34)
	if got := c.Leave(live); got != (Result{}) {
		t.Errorf("the live write: %+v", got)
	}
	if got := c.Leave(stale); got != (Result{Stale: true, LostUpdate: true}) {
		t.Errorf("the stale write: %+v, want stale and a lost update", got)
	}
}

func TestHoldersOfDifferentKeysMayUseACounterAtOnce(t *testing.T) {
	c := NewCounter(true)
	var g sync.WaitGroup
	for _, key := range []string{"a", "b", "c", "d"} {
		g.Go(func() {
			for range 1000 {
				if got := c.Leave(c.Enter(key, 0)); got != (Result{}) {
					t.Errorf("key %s: %+v", key, got)
				}
			}
		})
	}
	g.Wait()
}

func BenchmarkCounter(b *testing.B) {
	b.ReportAllocs()
	c := NewCounter(true)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Leave(c.Enter("k", 0))
		}
	})
}
