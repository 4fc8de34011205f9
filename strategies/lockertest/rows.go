package lockertest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// Row is a strategy with options that the contract is tested with.
type Row struct {
	Label, Name string
	Options     strategies.Options
}

// Rows is every strategy that excludes, in all its modes. Node time limits are generous, for a busy machine is no fault
// of the strategy.
func Rows() []Row {
	return []Row{
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
}

// Entry is the row's strategy as the catalogue has it.
func (r Row) Entry() strategies.Entry {
	e, ok := strategies.Find(r.Name)
	if !ok {
		panic(fmt.Sprintf("lockertest: there is no strategy %q", r.Name))
	}
	return e
}

// Sabotaged is Entry with a deliberate fault.
func (r Row) Sabotaged(sabotage string) strategies.Entry {
	e := r.Entry()
	e.New = func(env strategies.Env, o strategies.Options) (strategies.Locker, error) {
		return strategies.Sabotaged(r.Name, sabotage, env, o)
	}
	return e
}

// On is the setup on as many of the nodes as the strategy needs. The servers are looked at through the same nodes.
func (r Row) On(c clock.Clock, nodes []strategies.Node) Setup {
	s := Setup{Options: r.Options, Env: strategies.Env{Clock: c, Rand: rand.New(rand.NewPCG(1, 2)), Drift: 0.01}}
	switch r.Entry().Needs {
	case strategies.NeedsSingle:
		s.Env.Nodes = nodes[:1]
	case strategies.NeedsIndependent:
		s.Env.Nodes = nodes
	}
	for _, n := range s.Env.Nodes {
		s.Servers = append(s.Servers, Through(n))
	}
	return s
}
