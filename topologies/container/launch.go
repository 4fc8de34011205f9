package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/lockbench/lockbench/topologies"
)

const (
	// launches bounds how often a start is tried anew because somebody took a port.
	launches = 5
	// patience bounds how long a server may take to answer once its container runs.
	patience = 20 * time.Second
	// inside is the port in a container that has a network of its own.
	inside     = 6379
	insidePort = "6379/tcp"
	// launchLabel tells the containers of one launch.
	launchLabel = "lockbench.launch"
)

// fleet is what a launch starts: as many servers as spec asks for.
type fleet struct {
	spec           topologies.Spec
	image, program string
	cpu            limit
}

// launched are running containers.
type launched struct {
	engine *engine
	fleet  fleet
	id     string // value of launchLabel
	nodes  []node
}

type node struct {
	address   string
	container *testcontainers.DockerContainer
}

// launchAnew launches until the ports stay ours.
func launchAnew(ctx context.Context, e *engine, f fleet) (*launched, error) {
	for try := 1; ; try++ {
		l, err := launch(ctx, e, f)
		if !errors.Is(err, topologies.ErrPortTaken) || try == launches {
			return l, err
		}
	}
}

// launch starts all containers and returns when every server answers, or none exists.
func launch(ctx context.Context, e *engine, f fleet) (*launched, error) {
	l := &launched{engine: e, fleet: f, id: topologies.Identity(), nodes: make([]node, f.spec.Count())}
	ports, release, err := topologies.Reserve(len(l.nodes))
	if err != nil {
		return nil, err
	}
	release()
	errs := make([]error, len(l.nodes))
	var wg sync.WaitGroup
	for i := range l.nodes {
		wg.Go(func() { errs[i] = l.start(ctx, i, ports[i]) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, l.remove())
	}
	return l, nil
}

// start runs one container until its server answers.
func (l *launched) start(ctx context.Context, i, port int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	identity := topologies.Identity()
	c, err := l.run(ctx, port, identity)
	if err != nil {
		return err
	}
	if !l.engine.hostNetwork {
		mapped, err := c.MappedPort(ctx, insidePort)
		if err != nil {
			return fmt.Errorf("published port: %w", err)
		}
		port = int(mapped.Num())
	}
	l.nodes[i] = node{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), container: c}
	return l.ready(ctx, l.nodes[i], identity)
}

// run creates and starts a container. It is not cut short by ctx: a request that is cancelled half-way may leave a
// container that nobody knows of.
func (l *launched) run(ctx context.Context, port int, identity string) (*testcontainers.DockerContainer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startWait)
	defer cancel()
	bind := "127.0.0.1"
	if !l.engine.hostNetwork {
		port, bind = inside, "0.0.0.0"
	}
	labels := topologies.Self().Labels()
	maps.Copy(labels, map[string]string{launchLabel: l.id})
	options := []testcontainers.ContainerCustomizer{
		testcontainers.WithLabels(labels),
		testcontainers.WithHostConfigModifier(l.host),
		testcontainers.WithCmd(append([]string{l.fleet.program}, topologies.ServerArgs(bind, port, false, identity, l.fleet.spec.Config)...)...),
	}
	if !l.engine.hostNetwork {
		options = append(options, testcontainers.WithExposedPorts(insidePort))
	}
	return testcontainers.Run(ctx, l.fleet.image, options...)
}

// host gives a container the host's network, or a port that is published on the loopback address and on no other.
func (l *launched) host(h *container.HostConfig) {
	l.fleet.cpu.apply(h)
	if l.engine.hostNetwork {
		h.NetworkMode = "host"
		return
	}
	h.PortBindings = network.PortMap{network.MustParsePort(insidePort): {{HostIP: netip.MustParseAddr("127.0.0.1")}}}
}

// ready waits until the server answers, and looks at the container's state where it does not.
func (l *launched) ready(ctx context.Context, n node, identity string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		for ctx.Err() == nil {
			if err := l.checkNode(ctx, n); err != nil && ctx.Err() == nil {
				stop(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	err := topologies.Ready(ctx, n.address, identity)
	var died *DiedError
	if cause := context.Cause(ctx); err != nil && errors.As(cause, &died) {
		return cause
	}
	return err
}

// DiedError is a container that stopped though nobody asked it to.
type DiedError struct {
	Address string
	State   string // as "exited, status 1"
	Log     string // its last lines
}

func (e *DiedError) Error() string {
	return fmt.Sprintf("server at %s ended (%s); last lines of its log:\n%s", e.Address, e.State, e.Log)
}

// Unwrap tells the one reason that a new start can cure.
func (e *DiedError) Unwrap() error {
	if strings.Contains(e.Log, "Address already in use") {
		return topologies.ErrPortTaken
	}
	return nil
}

func (l *launched) check(ctx context.Context) error {
	var errs []error
	for _, n := range l.nodes {
		errs = append(errs, l.checkNode(ctx, n))
	}
	return errors.Join(errs...)
}

func (l *launched) checkNode(ctx context.Context, n node) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	r, err := l.engine.Client().ContainerInspect(ctx, n.container.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect the container of %s: %w", n.address, err)
	}
	s := r.Container.State
	if s == nil || s.Running || s.Status == container.StateCreated {
		return nil
	}
	return &DiedError{Address: n.address, State: fmt.Sprintf("%s, status %d", s.Status, s.ExitCode), Log: tail(ctx, n.container)}
}

// tail is the end of a container's log.
func tail(ctx context.Context, c *testcontainers.DockerContainer) string {
	r, err := c.Logs(ctx)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	b, _ := io.ReadAll(io.LimitReader(r, 1<<20))
	lines := strings.Split(strings.TrimSpace(string(b[max(0, len(b)-4096):])), "\n")
	return strings.Join(lines[max(0, len(lines)-6):], "\n")
}

func (l *launched) addresses() []string {
	var all []string
	for _, n := range l.nodes {
		all = append(all, n.address)
	}
	return all
}

// remove removes every container of the launch, found by its label: those of which we got no answer too.
func (l *launched) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeWait)
	defer cancel()
	_, err := l.engine.removeAll(ctx, launchLabel+"="+l.id, func(map[string]string) bool { return true })
	return err
}
