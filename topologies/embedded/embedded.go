// Package embedded serves lock commands inside this process, where neither a Redis nor Docker is at hand. It is for
// trying a scenario out: its figures are those of an emulation in Go that shares the processors with the load, so no
// topology of it may be shown as a measurement.
package embedded

import (
	"context"
	"errors"
	"sync"

	"github.com/lockbench/lockbench/strategies/goredis"
	"github.com/lockbench/lockbench/topologies"
)

// Note stands beside every figure.
const Note = "embedded server: not a performance figure"

// Provider of servers inside this process.
type Provider struct{}

// Name implements topologies.Provider.
func (Provider) Name() string { return topologies.Embedded }

// Can implements topologies.Provider.
func (Provider) Can(_ context.Context, s topologies.Spec) error {
	if s.CPU != "" || len(s.Config) > 0 {
		return errors.New("the embedded server has neither topology.cpu nor topology.config")
	}
	return s.CheckShape()
}

// Reason implements topologies.Reasoner.
func (Provider) Reason(context.Context, topologies.Spec) string {
	return "an emulation inside this process; install redis-server or start Docker for figures that count"
}

// Start implements topologies.Provider.
func (Provider) Start(_ context.Context, s topologies.Spec) (*topologies.Topology, error) {
	var servers []*server
	var addresses []string
	for range s.Count() {
		srv, err := startServer()
		if err != nil {
			closeAll(servers)
			return nil, err
		}
		servers = append(servers, srv)
		addresses = append(addresses, srv.redis.Addr())
	}
	t := topologies.Assemble(s, topologies.Embedded, addresses, func(address string, size int) topologies.Client {
		return goredis.Open(goredis.Options{
			Address: address, PoolSize: size, ConnectTimeout: s.ConnectTimeout, Timeout: s.Timeout, MaxRetries: s.MaxRetries,
		})
	})
	t.NoFigures = true
	t.Notes = []string{Note}
	t.Why = "an emulation inside this process"
	disconnect := t.Close
	once := sync.OnceValue(func() error {
		err := disconnect(context.Background())
		closeAll(servers)
		return err
	})
	t.Close = func(context.Context) error { return once() }
	return t, nil
}

func closeAll(servers []*server) {
	for _, s := range servers {
		s.close()
	}
}

var _ topologies.Provider = Provider{}
var _ topologies.Reasoner = Provider{}
