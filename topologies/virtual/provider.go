// Package virtual runs a topology as a simulation: servers as queues and networks as delays, in virtual time, with the
// strategy, retry and load code that real servers see. Its figures are predictions.
package virtual

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/topologies"
)

// Note stands beside every figure of a simulation.
const Note = "virtual time: predicted by a simulation, not measured"

// delay is the default of each direction of a link. With the costs of a lone command at the server it gives the round
// trip that a client on loopback sees on the machine of sim.DefaultCosts, most of it the waking of idle processors.
const delay = 110 * time.Microsecond

// Provider of simulated servers.
type Provider struct{}

// Name implements topologies.Provider.
func (Provider) Name() string { return topologies.Virtual }

// Can implements topologies.Provider.
func (Provider) Can(_ context.Context, s topologies.Spec) error {
	if s.CPU != "" || len(s.Config) > 0 {
		return errors.New("a simulated server has neither topology.cpu nor topology.config")
	}
	return s.CheckShape()
}

// Reason implements topologies.Reasoner.
func (Provider) Reason(context.Context, topologies.Spec) string {
	return "a simulation in virtual time"
}

// Start implements topologies.Provider. Nothing runs until a trial asks for its world.
func (Provider) Start(_ context.Context, s topologies.Spec) (*topologies.Topology, error) {
	return &topologies.Topology{
		Shape: s.Shape, Provider: topologies.Virtual, Why: "a simulation in virtual time", Notes: []string{Note},
		Simulate: func(seed uint64) topologies.Simulation { return simulate(s, seed) },
		Close:    func(context.Context) error { return nil },
	}, nil
}

// simulate makes a world with the servers of s.
func simulate(s topologies.Spec, seed uint64) topologies.Simulation {
	w := sim.NewWorld(seed)
	t := &topologies.Topology{
		Shape: s.Shape, Provider: topologies.Virtual, Notes: []string{Note}, Endpoints: map[string]string{},
		Close: func(context.Context) error { return nil },
	}
	engine := sim.NewEngine()
	for i := range s.Nodes {
		t.Keyspaces, t.Servers = add(w, engine, s, i, t.Keyspaces, t.Servers)
	}
	return topologies.Simulation{Clock: w.Clock(), Topology: t, Run: w.Run}
}

func add(w *sim.World, e *sim.Engine, s topologies.Spec, i int, keyspaces []strategies.Node, servers []topologies.Server) ([]strategies.Node, []topologies.Server) {
	name := fmt.Sprintf("node-%d", i+1)
	server := sim.NewServer(w, e.NewKeyspace(), sim.DefaultCosts())
	link := sim.Link{There: sim.Always(delay), Back: sim.Always(delay)}
	load := sim.NewNode(w, server, link, name, s.Timeout)
	control := sim.NewNode(w, server, link, name+" control", s.Timeout)
	return append(keyspaces, load), append(servers, topologies.Server{
		Name: name, Address: name, Control: control, Now: w.Now, Traffic: load.Traffic, Warm: load.Warm,
		Cold: func() error { return nil }, // connections cost nothing here
	})
}
