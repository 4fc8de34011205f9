package lockertest_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/strategies/lockertest"
)

// A row is a strategy with options. Node time limits are generous, for a busy machine is no fault of the strategy.
type row struct {
	label, name string
	options     strategies.Options
}

var rows = []row{
	{"noop", "noop", nil},
	{"local-mutex", "local-mutex", nil},
	{"setnx", "setnx", nil},
	{"setnx-expire", "setnx-expire", nil},
	{"set-px-del", "set-px-del", nil},
	{"set-px-check-del", "set-px-check-del", nil},
	{"set-px-lua", "set-px-lua", nil},
	{"watchdog", "watchdog", nil},
	{"redlock", "redlock", strategies.Options{"node_timeout": 5 * time.Second}},
	{"redlock-at-quorum", "redlock", strategies.Options{"node_timeout": 5 * time.Second, "mode": "at-quorum"}},
	{"redlock-sequential", "redlock", strategies.Options{"node_timeout": 5 * time.Second, "mode": "sequential"}},
	{"sharded", "sharded", strategies.Options{"shards": 1}},
	{"sharded-least-of-2", "sharded", strategies.Options{"shards": 1, "pick": "least-of-2", "base": "set-px-check-del"}},
}

func TestEveryStrategyKeepsTheContractOnEmbeddedServers(t *testing.T) {
	nodes := embedded(t, 3)
	for _, r := range append(rows, row{"set-px-lua-delex", "set-px-lua", strategies.Options{"delex": true}}) {
		t.Run(r.label, func(t *testing.T) {
			t.Parallel() // most of a check is waiting
			lockertest.Run(t, r.entry(t), r.on(nodes))
		})
	}
}

func TestEveryStrategyKeepsTheContractOnRealRedis(t *testing.T) {
	nodes := realRedis(t, 3)
	for _, r := range rows {
		t.Run(r.label, func(t *testing.T) {
			t.Parallel() // most of a check is waiting
			lockertest.Run(t, r.entry(t), r.on(nodes))
		})
	}
}

func TestEveryStrategyThatExcludesIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, r := range rows {
		tested[r.name] = true
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
		for _, r := range rows {
			if s.AppliesTo(r.name, r.options) {
				t.Run(s.Name+"/"+r.label, func(t *testing.T) {
					t.Parallel()
					r.wantBroken(t, s.Name, nodes)
				})
			}
		}
	}
}

func (r row) wantBroken(t *testing.T, sabotage string, nodes []strategies.Node) {
	e := r.entry(t)
	e.New = func(env strategies.Env, o strategies.Options) (strategies.Locker, error) {
		return strategies.Sabotaged(r.name, sabotage, env, o)
	}
	for _, c := range slices.Backward(lockertest.Checks(e)) { // the special ones, which are quick, come last
		if err := c.Run(e, r.on(nodes)(t)); err != nil {
			t.Logf("%s: %v", c.Name, err)
			return
		}
	}
	t.Error("the contract did not notice")
}

func (r row) entry(t *testing.T) strategies.Entry {
	t.Helper()
	e, ok := strategies.Find(r.name)
	if !ok {
		t.Fatalf("there is no strategy %q", r.name)
	}
	return e
}

// on builds the setup on as many of the nodes as the strategy needs.
func (r row) on(nodes []strategies.Node) func(*testing.T) lockertest.Setup {
	return func(t *testing.T) lockertest.Setup {
		s := lockertest.Setup{Options: r.options,
			Env: strategies.Env{Clock: clock.Wall(), Rand: rand.New(rand.NewPCG(1, 2)), Drift: 0.01}}
		switch r.entry(t).Needs {
		case strategies.NeedsSingle:
			s.Env.Nodes = nodes[:1]
		case strategies.NeedsIndependent:
			s.Env.Nodes = nodes
		}
		for _, n := range s.Env.Nodes {
			s.Servers = append(s.Servers, lockertest.Through(n))
		}
		return s
	}
}
