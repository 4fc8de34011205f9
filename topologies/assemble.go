package topologies

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench/strategies"
)

// Client is a pool of connections to one server, as the owner of a Redis library makes it.
type Client interface {
	strategies.Node
	Traffic() strategies.Traffic
	Warm(ctx context.Context, conns int, scripts []*strategies.Script) error
	Cold() error
	Close() error
}

// controls is the size of a control connection's pool: sampling once a second and an audit beside it.
const controls = 2

// Assemble makes a Topology of servers that answer at addresses, in the order of their names node-1, node-2, ...
// open makes a client of at most size connections, 0 being the library's default. The Close of the result closes the
// clients; a provider that started something wraps it.
func Assemble(s Spec, provider string, addresses []string, open func(address string, size int) Client) *Topology {
	t := &Topology{Shape: s.Shape, Provider: provider, Endpoints: map[string]string{}, Config: s.Config}
	var clients []Client
	for i, address := range addresses {
		load, control := open(address, s.PoolSize), open(address, controls)
		clients = append(clients, load, control)
		name := fmt.Sprintf("node-%d", i+1)
		t.Keyspaces = append(t.Keyspaces, load)
		t.Endpoints[name] = address
		t.Servers = append(t.Servers, Server{
			Name: name, Address: address, Control: control, Traffic: load.Traffic, Warm: load.Warm, Cold: load.Cold,
		})
	}
	t.Check = t.pingAll
	once := sync.OnceValue(func() error { return closeAll(clients) })
	t.Close = func(context.Context) error { return once() }
	return t
}

func closeAll(clients []Client) error {
	var errs []error
	for _, c := range clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// pingAll is the Check of servers of which nothing is known but their answers.
func (t *Topology) pingAll(ctx context.Context) error {
	var errs []error
	for _, s := range t.Servers {
		if _, err := s.Ping(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Count is the number of servers that s asks for.
func (s Spec) Count() int {
	if s.Shape == Independent && s.Nodes > 0 {
		return s.Nodes
	}
	return 1
}

// CheckShape refuses what no provider of this build can start.
func (s Spec) CheckShape() error {
	if s.Shape == Single || s.Shape == Independent {
		return nil
	}
	return fmt.Errorf("shape %s is not supported; single and independent are", s.Shape)
}
