package container

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/topologies"
)

// localImage is what .ci/redis-image.sh builds; TestImage may name another.
const localImage = "redis:7.0-local"

// helper makes this test binary a lockbench that starts a container and waits to be killed.
const helper = "LOCKBENCH_TEST_HOLD_CONTAINER"

func TestMain(m *testing.M) {
	switch os.Getenv(helper) {
	case "hold":
		t, err := Provider{}.Start(context.Background(), spec())
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(t.Servers[0].Address)
		time.Sleep(time.Hour)
	case "ask":
		fmt.Println(Provider{}.Can(context.Background(), spec()))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func spec() topologies.Spec {
	return topologies.Spec{Shape: topologies.Single, Image: localImage}
}

// requireImage skips where no engine has the image, unless LOCKBENCH_REQUIRE says that there must be one.
func requireImage(t *testing.T) *engine {
	t.Helper()
	err := Provider{}.Can(t.Context(), spec())
	if err != nil && slices.Contains(strings.Split(os.Getenv("LOCKBENCH_REQUIRE"), ","), "docker") {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	e, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func start(t *testing.T, p Provider, s topologies.Spec) *topologies.Topology {
	t.Helper()
	topology, err := p.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { topology.Close(context.Background()) })
	return topology
}

// mine counts the containers of this process that exist, running or not.
func mine(t *testing.T, e *engine) int {
	t.Helper()
	label := fmt.Sprintf("%s=%d", topologies.OwnerLabel, os.Getpid())
	l, err := e.Client().ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", label)})
	if err != nil {
		t.Fatal(err)
	}
	return len(l.Items)
}

func serves(t *testing.T, topology *topologies.Topology) {
	t.Helper()
	for i, n := range topology.Keyspaces {
		if _, err := n.Do(t.Context(), "SET", "k", i, "NX", "PX", 60000); err != nil {
			t.Fatal(err)
		}
		s := topology.Servers[i]
		sample, err := s.Sample(t.Context())
		if err != nil || sample.Keys != 1 || sample.CPU == nil || sample.Role != "master" || sample.Version == "" {
			t.Errorf("%s: sample %+v, %v", s.Name, sample, err)
		}
		keys, err := s.Audit(t.Context(), []string{"k", "missing"})
		if err != nil || len(keys) != 1 || keys[0].TTL <= 0 {
			t.Errorf("%s: audit %v, %v", s.Name, keys, err)
		}
	}
	if err := topology.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestThreeContainersServeOnTheHostsNetworkAndLeaveNothingBehind(t *testing.T) {
	e := requireImage(t)
	s := spec()
	s.Shape, s.Nodes, s.Config = topologies.Independent, 3, map[string]string{"maxmemory": "64mb"}
	topology := start(t, Provider{}, s)
	serves(t, topology)
	if e.hostNetwork && len(topology.Notes) > 0 {
		t.Errorf("notes %q, want none on the host's network", topology.Notes)
	}
	if n := mine(t, e); n != 3 {
		t.Errorf("%d containers, want 3", n)
	}
	for range 2 {
		if err := topology.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := mine(t, e); n != 0 {
		t.Errorf("%d containers left behind", n)
	}
}

func TestAPublishedPortIsStampedAndBoundToLoopback(t *testing.T) {
	e := requireImage(t)
	topology := start(t, Provider{published: true}, spec())
	serves(t, topology)
	if len(topology.Notes) != 1 || !strings.Contains(topology.Notes[0], "published") {
		t.Errorf("notes %q", topology.Notes)
	}
	topology.Close(t.Context())
	if n := mine(t, e); n != 0 {
		t.Errorf("%d containers left behind", n)
	}
}

func TestAQuotaIsSetOnPurposeAndStamped(t *testing.T) {
	e := requireImage(t)
	s := spec()
	s.CPU = "25%"
	topology := start(t, Provider{}, s)
	if len(topology.Notes) == 0 || !strings.Contains(strings.Join(topology.Notes, " "), "25% of a core") {
		t.Errorf("notes %q", topology.Notes)
	}
	label := fmt.Sprintf("%s=%d", topologies.OwnerLabel, os.Getpid())
	l, err := e.Client().ContainerList(t.Context(), client.ContainerListOptions{Filters: make(client.Filters).Add("label", label)})
	if err != nil || len(l.Items) != 1 {
		t.Fatalf("%d containers, %v", len(l.Items), err)
	}
	r, err := e.Client().ContainerInspect(t.Context(), l.Items[0].ID, client.ContainerInspectOptions{})
	if err != nil || r.Container.HostConfig.NanoCPUs != 250e6 {
		t.Errorf("quota %d, %v", r.Container.HostConfig.NanoCPUs, err)
	}
}

func TestAContainerThatEndsIsNoticedWithItsLastWords(t *testing.T) {
	requireImage(t)
	topology := start(t, Provider{}, spec())
	topology.Servers[0].Control.Do(t.Context(), "SHUTDOWN", "NOSAVE")
	for range 600 {
		if err := topology.Check(t.Context()); err != nil {
			var died *DiedError
			if !errors.As(err, &died) || !strings.Contains(died.Log, "exit") {
				t.Errorf("got %v", err)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the end of the server was not noticed")
}

func TestASettingThatTheServerRefusesShowsTheServersOwnWords(t *testing.T) {
	e := requireImage(t)
	s := spec()
	s.Config = map[string]string{"maxmemory": "much"}
	_, err := Provider{}.Start(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("got %v", err)
	}
	if n := mine(t, e); n != 0 {
		t.Errorf("%d containers left behind", n)
	}
}

func TestAMissingImageIsNotPulledUnlessAskedTo(t *testing.T) {
	requireImage(t)
	s := spec()
	s.Image = "lockbench.invalid/no-such-image:1"
	err := Provider{Present: true}.Can(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "docker pull") {
		t.Errorf("got %v", err)
	}
	if err := (Provider{}).Can(t.Context(), s); err == nil || !strings.Contains(err.Error(), "cannot be pulled") {
		t.Errorf("got %v", err)
	}
	if _, err := (Provider{Present: true}).Start(t.Context(), s); err == nil {
		t.Error("started an image that is not there")
	}
}

func TestAKilledLockbenchesContainerIsRemovedByTheNext(t *testing.T) {
	requireImage(t)
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), helper+"=hold")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address := strings.TrimSpace(line)
	if err != nil || strings.HasPrefix(address, "error") {
		t.Fatalf("helper says %q, %v", line, err)
	}
	if removed, err := RemoveOrphans(t.Context()); err != nil || len(removed) > 0 {
		t.Errorf("removed %v of a living owner, %v", removed, err)
	}
	c.Process.Kill()
	c.Wait()
	if removed, err := RemoveOrphans(t.Context()); err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v; want the one container", removed, err)
	}
	if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		conn.Close()
		t.Errorf("%s still listens", address)
	}
}

func TestAnInterruptedStartLeavesNoContainer(t *testing.T) {
	e := requireImage(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Provider{}).Start(ctx, spec()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if n := mine(t, e); n != 0 {
		t.Errorf("%d containers left behind", n)
	}
}

func TestWithoutAnEngineItSaysSoInOneLine(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), helper+"=ask", "DOCKER_HOST=tcp://127.0.0.1:1")
	out, err := c.Output()
	if err != nil || !strings.Contains(string(out), "install Docker or start it") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestCPUIsAQuotaOrASet(t *testing.T) {
	for s, want := range map[string]limit{"": {}, "25%": {nano: 250e6}, "150%": {nano: 1500e6}, "0": {set: "0"}, "0-1,3": {set: "0-1,3"}} {
		if got, err := parseCPU(s); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"%", "0%", "-5%", "nan%", "NaN%", "1e9%", "half", "0-", "1;2"} {
		if got, err := parseCPU(s); err == nil {
			t.Errorf("%q gives %+v", s, got)
		}
	}
}
