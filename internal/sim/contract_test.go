package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/lockertest"
)

func TestEveryStrategyKeepsTheContractOnVirtualNodes(t *testing.T) {
	for _, r := range lockertest.Rows() {
		t.Run(r.Label, func(t *testing.T) {
			for _, c := range lockertest.Checks(r.Entry()) {
				t.Run(c.Name, func(t *testing.T) {
					if _, err := inAWorld(t, r, r.Entry(), c); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

func TestEverySabotageBreaksTheContractOnVirtualNodes(t *testing.T) {
	for _, s := range strategies.Sabotages() {
		if s.Name == "client-retries" {
			continue // made by a client library, and none stands between a strategy and a virtual node
		}
		for _, r := range lockertest.Rows() {
			if s.AppliesTo(r.Name, r.Options) {
				t.Run(s.Name+"/"+r.Label, func(t *testing.T) { wantBroken(t, r, s.Name) })
			}
		}
	}
}

func wantBroken(t *testing.T, r lockertest.Row, sabotage string) {
	e := r.Sabotaged(sabotage)
	for _, c := range slices.Backward(lockertest.Checks(e)) { // the special ones, which are quick, come last
		if _, err := inAWorld(t, r, e, c); err != nil {
			t.Logf("%s: %v", c.Name, err)
			return
		}
	}
	t.Error("the contract did not notice")
}

// The checks of a strategy are long enough for an order that is not that of the seed to show.
func TestAContractWithEqualSeedsTakesEqualEvents(t *testing.T) {
	for _, r := range lockertest.Rows() {
		t.Run(r.Label, func(t *testing.T) {
			for _, c := range lockertest.Checks(r.Entry()) {
				first, _ := inAWorld(t, r, r.Entry(), c)
				again, _ := inAWorld(t, r, r.Entry(), c)
				if first != again {
					t.Errorf("%s: %s, then %s", c.Name, first, again)
				}
			}
		})
	}
}

// inAWorld runs one check on three servers that nobody else knows, and tells how the world ended.
func inAWorld(t *testing.T, r lockertest.Row, e strategies.Entry, c lockertest.Check) (end string, broken error) {
	t.Helper()
	w := NewWorld(1)
	nodes := threeNodes(w)
	if err := w.Run(func() { broken = c.Run(e, r.On(w.Clock(), nodes)) }); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d events in %v", w.Events(), w.Now()), broken
}

func threeNodes(w *World) []strategies.Node {
	engine, link := NewEngine(), Link{There: Always(50 * time.Microsecond), Back: Always(50 * time.Microsecond)}
	nodes := make([]strategies.Node, 3)
	for i := range nodes {
		s := NewServer(w, engine.NewKeyspace(), DefaultCosts())
		nodes[i] = NewNode(w, s, link, fmt.Sprintf("node-%d", i+1), time.Minute)
	}
	return nodes
}
