// Package container starts Redis, Valkey and compatible servers from images, with the Docker engine of this machine.
// On Linux they use the host's network, because a published port halves the throughput; where they cannot, that is
// noted beside every figure. What a killed lockbench left is removed by the next one.
package container

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench/strategies/goredis"
	"github.com/lockbench/lockbench/topologies"
)

// DefaultImage is used where a Spec names none.
const DefaultImage = "redis:7.4-alpine"

// Provider of containers. Present: only an image that is present will do; otherwise a missing one is pulled.
type Provider struct {
	Present bool
	// published forces what happens by itself on systems where containers have no part in the host's network.
	published bool
}

// Name implements topologies.Provider.
func (p Provider) Name() string { return topologies.Container }

func image(s topologies.Spec) string {
	if s.Image == "" {
		return DefaultImage
	}
	return s.Image
}

// Can implements topologies.Provider.
func (p Provider) Can(ctx context.Context, s topologies.Spec) error {
	_, errCPU := parseCPU(s.CPU)
	if err := errors.Join(s.CheckShape(), errCPU, topologies.CheckConfig(s.Config)); err != nil {
		return err
	}
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	here, err := e.present(ctx, image(s))
	switch {
	case err != nil:
		return fmt.Errorf("inspect image %s: %w", image(s), err)
	case here:
		return nil
	case p.Present:
		return fmt.Errorf("image %s is not present (docker pull %s)", image(s), image(s))
	}
	return e.offered(ctx, image(s))
}

// Reason implements topologies.Reasoner.
func (p Provider) Reason(ctx context.Context, s topologies.Spec) string {
	if e, err := connect(ctx); err == nil {
		defer e.Close()
		if here, _ := e.present(ctx, image(s)); here {
			return "image " + image(s) + " is present"
		}
	}
	return "image " + image(s) + ", to be pulled"
}

// Start implements topologies.Provider.
func (p Provider) Start(ctx context.Context, s topologies.Spec) (*topologies.Topology, error) {
	cpu, err := parseCPU(s.CPU)
	if err != nil {
		return nil, err
	}
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	e.hostNetwork = e.hostNetwork && !p.published
	t, err := p.start(ctx, e, s, cpu)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start containers of %s: %w", image(s), err), e.Close())
	}
	return t, nil
}

func (p Provider) start(ctx context.Context, e *engine, s topologies.Spec, cpu limit) (*topologies.Topology, error) {
	e.removeOrphans(ctx) // of earlier runs; that some cannot be removed is told by `doctor --cleanup`
	if err := p.provide(ctx, e, image(s)); err != nil {
		return nil, err
	}
	program, err := e.program(ctx, image(s))
	if err != nil {
		return nil, err
	}
	nodes, err := launchAnew(ctx, e, fleet{spec: s, image: image(s), program: program, cpu: cpu})
	if err != nil {
		return nil, err
	}
	return assemble(e, s, nodes), nil
}

// provide pulls the image only if it is not here.
func (p Provider) provide(ctx context.Context, e *engine, image string) error {
	here, err := e.present(ctx, image)
	if err != nil || here {
		return err
	}
	if p.Present {
		return fmt.Errorf("image %s is not present (docker pull %s)", image, image)
	}
	ctx, cancel := context.WithTimeout(ctx, pullWait)
	defer cancel()
	if err := e.PullImage(ctx, image); err != nil {
		return fmt.Errorf("pull image %s: %w", image, err)
	}
	return nil
}

func assemble(e *engine, s topologies.Spec, f *launched) *topologies.Topology {
	t := topologies.Assemble(s, topologies.Container, f.addresses(), func(address string, size int) topologies.Client {
		return goredis.Open(goredis.Options{
			Address: address, PoolSize: size, ConnectTimeout: s.ConnectTimeout, Timeout: s.Timeout, MaxRetries: s.MaxRetries,
		})
	})
	t.Why = "image " + image(s)
	if !e.hostNetwork {
		t.Notes = append(t.Notes, "servers behind published ports, which cost latency and half of the throughput")
	}
	if f.fleet.cpu.nano > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("each server is held to %s of a core on purpose", s.CPU))
	}
	t.Check = func(ctx context.Context) error { return f.check(ctx) }
	disconnect := t.Close
	once := sync.OnceValue(func() error {
		return errors.Join(disconnect(context.Background()), f.remove(), e.Close())
	})
	t.Close = func(context.Context) error { return once() }
	return t
}

var _ topologies.Provider = Provider{}
var _ topologies.Reasoner = Provider{}
