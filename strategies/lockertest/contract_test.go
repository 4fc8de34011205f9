package lockertest_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/strategies/lockertest"
)

func TestEveryStrategyKeepsTheContractOnEmbeddedServers(t *testing.T) {
	nodes := embedded(t, 3)
	delex := lockertest.Row{Label: "set-px-lua-delex", Name: "set-px-lua", Options: strategies.Options{"delex": true}}
	for _, r := range append(lockertest.Rows(), delex) {
		t.Run(r.Label, func(t *testing.T) {
			t.Parallel() // most of a check is waiting
			lockertest.Run(t, r.Entry(), on(r, nodes))
		})
	}
}

func TestEveryStrategyKeepsTheContractOnRealRedis(t *testing.T) {
	nodes := realRedis(t, 3)
	for _, r := range lockertest.Rows() {
		t.Run(r.Label, func(t *testing.T) {
			t.Parallel() // most of a check is waiting
			lockertest.Run(t, r.Entry(), on(r, nodes))
		})
	}
}

func TestEveryStrategyThatExcludesIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, r := range lockertest.Rows() {
		tested[r.Name] = true
	}
	for _, e := range strategies.Catalogue() {
		if want := e.Excludes != strategies.ExcludesNone; want != tested[e.Name] {
			t.Errorf("%s excludes %s, tested: %v", e.Name, e.Excludes, tested[e.Name])
		}
	}
}

func TestAStrategyThatExcludesNobodyHasNoContract(t *testing.T) {
	e, _ := strategies.Find("ping")
	if n := len(lockertest.Checks(e)); n != 0 {
		t.Errorf("%d checks for ping, want none", n)
	}
}

func TestEverySabotageBreaksTheContract(t *testing.T) {
	nodes := embedded(t, 3)
	for _, s := range strategies.Sabotages() {
		if s.Name == "client-retries" {
			continue // made by the client library, tested with it
		}
		for _, r := range lockertest.Rows() {
			if s.AppliesTo(r.Name, r.Options) {
				t.Run(s.Name+"/"+r.Label, func(t *testing.T) {
					t.Parallel()
					wantBroken(t, r, s.Name, nodes)
				})
			}
		}
	}
}

func wantBroken(t *testing.T, r lockertest.Row, sabotage string, nodes []strategies.Node) {
	e := r.Sabotaged(sabotage)
	for _, c := range slices.Backward(lockertest.Checks(e)) { // the special ones, which are quick, come last
		if err := c.Run(e, on(r, nodes)(t)); err != nil {
			t.Logf("%s: %v", c.Name, err)
			return
		}
	}
	t.Error("the contract did not notice")
}

// on is a setup for every check, in real time.
func on(r lockertest.Row, nodes []strategies.Node) func(*testing.T) lockertest.Setup {
	return func(*testing.T) lockertest.Setup { return r.On(clock.Wall(), nodes) }
}
