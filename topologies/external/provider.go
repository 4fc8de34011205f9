// Package external measures servers that somebody else runs. It starts and configures nothing, touches only keys of
// the run, behind the guard of strategies/goredis, and refuses a server on which a benchmark could do harm or would
// mean nothing.
package external

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/strategies/goredis"
	"github.com/lockbench/lockbench/topologies"
)

// patience bounds the first connection where the scenario does not.
const patience = 5 * time.Second

// Provider of servers at given addresses.
type Provider struct{}

// Name implements topologies.Provider.
func (Provider) Name() string { return topologies.External }

// Can implements topologies.Provider. It connects to nothing: a server that cannot be reached is a failed run, not a
// reason to measure another.
func (Provider) Can(_ context.Context, s topologies.Spec) error {
	if len(s.Addresses) == 0 {
		return errors.New("no address was given")
	}
	if err := s.CheckShape(); err != nil {
		return err
	}
	if len(s.Addresses) != s.Count() {
		return fmt.Errorf("shape %s needs %d addresses, %d were given", s.Shape, s.Count(), len(s.Addresses))
	}
	if s.CPU != "" || len(s.Config) > 0 {
		return errors.New("topology.cpu and topology.config change the server, and an external one is left as it is")
	}
	if s.Username != "" && s.Password == "" {
		return errors.New("topology.auth names a user without password_from")
	}
	targets, err := parseAll(s.Addresses)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if _, err := tlsConfig(t, s.TLS); err != nil {
			return err
		}
	}
	return nil
}

// Reason implements topologies.Reasoner.
func (Provider) Reason(context.Context, topologies.Spec) string {
	return "the address given"
}

// Start implements topologies.Provider.
func (p Provider) Start(ctx context.Context, s topologies.Spec) (*topologies.Topology, error) {
	if err := p.Can(ctx, s); err != nil {
		return nil, err
	}
	if s.Run == "" {
		return nil, errors.New("an external server needs a run id, which makes the prefix of all keys")
	}
	targets, err := parseAll(s.Addresses)
	if err != nil {
		return nil, err
	}
	hosts, configs, local, err := greetAll(ctx, s, targets)
	if err != nil {
		return nil, err
	}
	t := topologies.Assemble(s, topologies.External, hosts, func(address string, size int) topologies.Client {
		return goredis.Open(options(s, address, size, configs[address]))
	})
	if err := examine(ctx, t, s, local); err != nil {
		return nil, errors.Join(err, t.Close(ctx))
	}
	t.RefusesImmortal = true
	return t, nil
}

// greetAll connects to every target by hand before a client library does. configs and local are by host:port.
func greetAll(ctx context.Context, s topologies.Spec, targets []target) (hosts []string, configs map[string]*tls.Config, local map[string]bool, err error) {
	configs, local = map[string]*tls.Config{}, map[string]bool{}
	for _, t := range targets {
		config, err := tlsConfig(t, s.TLS)
		if err != nil {
			return nil, nil, nil, err
		}
		g := greeting{hostPort: t.hostPort, tls: config, user: s.Username, password: s.Password, patience: cmp.Or(s.ConnectTimeout, patience)}
		if local[t.hostPort], err = g.greet(ctx); err != nil {
			return nil, nil, nil, err
		}
		hosts, configs[t.hostPort] = append(hosts, t.hostPort), config
	}
	return hosts, configs, local, nil
}

func options(s topologies.Spec, address string, size int, config *tls.Config) goredis.Options {
	o := goredis.Options{
		Address: address, Username: s.Username, TLS: config, PoolSize: size,
		ConnectTimeout: s.ConnectTimeout, Timeout: s.Timeout, MaxRetries: s.MaxRetries,
		Guard: &goredis.Guard{Prefix: "lockbench:" + s.Run + ":"},
	}
	if s.Password != "" {
		o.Password = func() string { return string(s.Password) }
	}
	return o
}

// examine refuses servers on which a run would do harm or mean nothing, and notes what a reader must know.
func examine(ctx context.Context, t *topologies.Topology, s topologies.Spec, local map[string]bool) error {
	var facts []string
	runs := map[string]string{}
	for _, server := range t.Servers {
		e, err := server.Examine(ctx)
		if err != nil {
			return err
		}
		if err := refuse(server.Address, e, local[server.Address], s.Yes); err != nil {
			return err
		}
		if other, ok := runs[e.RunID]; ok && e.RunID != "" {
			return fmt.Errorf("%s and %s are the same server: independent nodes must be different ones", other, server.Address)
		}
		runs[e.RunID] = server.Address
		facts = append(facts, fmt.Sprintf("%s, %s, %d keys", server.Address, e.Version, e.Keys))
		t.Notes = append(t.Notes, notes(server.Address, e)...)
	}
	t.Why = "the address given: " + strings.Join(facts, "; ")
	return nil
}

// refuse is nil where the server may be loaded.
func refuse(address string, e topologies.Examination, local, yes bool) error {
	switch {
	case e.Loading:
		return fmt.Errorf("%s is loading its data: try again when it is done", address)
	case e.Role == "slave" || e.Role == "replica":
		return fmt.Errorf("%s is a replica: a lock there means nothing, and writes are refused; give its master", address)
	case e.Mode != "" && e.Mode != "standalone":
		return fmt.Errorf("%s runs in %s mode: shapes single and independent need a server of its own", address, e.Mode)
	case !local && e.Keys > 0 && !yes:
		return fmt.Errorf("%s is not this machine and holds %d keys; lockbench touches none of them, but will load the server: say --yes if it may", address, e.Keys)
	}
	return nil
}

func notes(address string, e topologies.Examination) []string {
	var n []string
	if e.Policy != "" && e.Policy != "noeviction" {
		n = append(n, fmt.Sprintf("%s evicts keys when memory is full (maxmemory-policy %s): it can eat a lock that is held", address, e.Policy))
	}
	if e.Replicas > 0 {
		n = append(n, fmt.Sprintf("%s has %d replicas: every lock is replicated, which its CPU figures contain", address, e.Replicas))
	}
	if e.AppendOnly {
		n = append(n, address+" writes every lock to its append-only file, which its CPU and latency figures contain")
	}
	return n
}

var _ topologies.Provider = Provider{}
var _ topologies.Reasoner = Provider{}
