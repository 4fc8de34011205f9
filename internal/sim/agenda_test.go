package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// note is a happening that can be dropped.
type note struct{ number uint64 }

func (n *note) stands(number uint64) bool { return n.number == number }
func (n *note) happen()                   {}

// TestTheAgendaIsASortedListOfWhatStands plays random pushes, drops and pops against a sorted slice.
func TestTheAgendaIsASortedListOfWhatStands(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var a agenda
		var model []event
		now := time.Duration(0)
		for range 20_000 {
			switch k := r.IntN(10); {
			case k < 5:
				at, n := now+time.Duration(r.IntN(50)), &note{}
				n.number = a.push(at, at == now, n)
				model = append(model, event{at, n.number, n})
			case k < 7 && len(model) > 0:
				i := r.IntN(len(model))
				a.drop(&model[i].what.(*note).number)
				model = slices.Delete(model, i, i+1)
			case k >= 7:
				e, ok := a.pop()
				if ok != (len(model) > 0) {
					t.Fatalf("pop: %v with %d due", ok, len(model))
				}
				if !ok {
					continue
				}
				first := slices.MinFunc(model, func(x, y event) int {
					if x.before(&y) {
						return -1
					}
					return 1
				})
				if e != first {
					t.Fatalf("seed %d: popped %v number %d, want %v number %d", seed, e.at, e.number, first.at, first.number)
				}
				now = e.at
				model = slices.DeleteFunc(model, func(x event) bool { return x.number == e.number })
			}
		}
	}
}

func TestDroppedEventsDoNotPileUp(t *testing.T) {
	var a agenda
	for i := range 1_000_000 {
		n := &note{}
		n.number = a.push(time.Duration(1+i), false, n)
		a.drop(&n.number)
	}
	if len(a.heap) > 200 {
		t.Errorf("%d events are kept, none is due", len(a.heap))
	}
}
