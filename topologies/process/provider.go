// Package process starts redis-server or valkey-server from PATH as children of this process: on the loopback
// address, in a private temporary directory, keeping nothing. They end with this process, however it ends.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockbench/lockbench/strategies/goredis"
	"github.com/lockbench/lockbench/topologies"
)

// Provider of local servers. Dirs is where their directories are made; "": the system's directory for temporary files.
type Provider struct{ Dirs string }

const (
	// launches bounds how often a start is tried anew because somebody took a port.
	launches = 5
	// patience bounds one launch: a server answers after some 20 ms, a loaded machine may need far longer.
	patience = 20 * time.Second
)

// Name implements topologies.Provider.
func (p Provider) Name() string { return topologies.Process }

// Can implements topologies.Provider.
func (p Provider) Can(ctx context.Context, s topologies.Spec) error {
	if err := s.CheckShape(); err != nil {
		return err
	}
	if s.CPU != "" {
		return errors.New("topology.cpu needs containers")
	}
	if err := topologies.CheckConfig(s.Config); err != nil {
		return err
	}
	_, err := locate(ctx)
	return err
}

// Reason implements topologies.Reasoner.
func (p Provider) Reason(ctx context.Context, _ topologies.Spec) string {
	b, err := locate(ctx)
	if err != nil {
		return err.Error()
	}
	return b.String() + " on PATH"
}

// Start implements topologies.Provider.
func (p Provider) Start(ctx context.Context, s topologies.Spec) (*topologies.Topology, error) {
	b, err := locate(ctx)
	if err != nil {
		return nil, err
	}
	p.RemoveOrphans(ctx) // logs of killed runs; that some cannot be removed is told by `doctor --cleanup`
	dir, err := p.makeDir()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", b.name, err)
	}
	servers, err := launchAnew(ctx, b, s, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", b.name, err), os.RemoveAll(dir))
	}
	return assemble(s, b, servers, dir), nil
}

// launchAnew launches until the ports stay ours.
func launchAnew(ctx context.Context, b binary, s topologies.Spec, dir string) ([]*server, error) {
	for try := 1; ; try++ {
		servers, err := launch(ctx, b, s, dir)
		if !errors.Is(err, topologies.ErrPortTaken) || try == launches {
			return servers, err
		}
	}
}

// launch starts all servers and returns when all are ready, or none runs.
func launch(ctx context.Context, b binary, s topologies.Spec, dir string) ([]*server, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ports, release, err := topologies.Reserve(s.Count())
	if err != nil {
		return nil, err
	}
	release()
	servers, errs := make([]*server, len(ports)), make([]error, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() {
			servers[i], errs[i] = b.start(ctx, port, filepath.Join(dir, fmt.Sprintf("node-%d", i+1)), s.Config)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, stopAll(servers))
	}
	return servers, nil
}

func assemble(s topologies.Spec, b binary, servers []*server, dir string) *topologies.Topology {
	var addresses []string
	for _, srv := range servers {
		addresses = append(addresses, srv.address)
	}
	t := topologies.Assemble(s, topologies.Process, addresses, func(address string, size int) topologies.Client {
		return goredis.Open(goredis.Options{
			Address: address, PoolSize: size, ConnectTimeout: s.ConnectTimeout, Timeout: s.Timeout, MaxRetries: s.MaxRetries,
		})
	})
	t.Why = b.String() + " on PATH"
	t.Check = func(context.Context) error { return checkAll(servers) }
	disconnect := t.Close
	once := sync.OnceValue(func() error {
		return errors.Join(disconnect(context.Background()), stopAll(servers), os.RemoveAll(dir))
	})
	t.Close = func(context.Context) error { return once() }
	return t
}

func checkAll(servers []*server) error {
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.check())
	}
	return errors.Join(errs...)
}

// stopAll stops the servers side by side; nil ones were never started.
func stopAll(servers []*server) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		if s != nil {
			wg.Go(func() { errs[i] = s.stop() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

var _ topologies.Provider = Provider{}
var _ topologies.Reasoner = Provider{}
