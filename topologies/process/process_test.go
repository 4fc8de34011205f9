package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/topologies"
)

// helper makes this test binary a lockbench that starts servers and waits to be killed.
const helper = "LOCKBENCH_TEST_HOLD_SERVERS_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helper); dir != "" {
		holdServers(dir)
	}
	os.Exit(m.Run())
}

func holdServers(dir string) {
	t, err := Provider{Dirs: dir}.Start(context.Background(), topologies.Spec{Shape: topologies.Independent, Nodes: 2})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(t.Servers[0].Address, t.Servers[1].Address)
	time.Sleep(time.Hour)
}

// requireServer skips where there is no server program, unless LOCKBENCH_REQUIRE says that there must be one.
func requireServer(t *testing.T) binary {
	t.Helper()
	b, err := locate(t.Context())
	if err == nil {
		return b
	}
	if slices.Contains(strings.Split(os.Getenv("LOCKBENCH_REQUIRE"), ","), "redis") {
		t.Fatal(err)
	}
	t.Skip(err)
	return b
}

func start(t *testing.T, s topologies.Spec) (topology *topologies.Topology, dirs string) {
	t.Helper()
	requireServer(t)
	dirs = t.TempDir()
	topology, err := Provider{Dirs: dirs}.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { topology.Close(context.Background()) })
	return topology, dirs
}

// eventually polls for a condition: these tests never assert how long something takes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 30 s: %s", what)
}

func listens(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		c.Close()
	}
	return err == nil
}

func TestThreeNodesStartServeAndLeaveNothingBehind(t *testing.T) {
	topology, dirs := start(t, topologies.Spec{Shape: topologies.Independent, Nodes: 3, Config: map[string]string{"maxmemory": "64mb", "maxmemory-policy": "noeviction"}})
	ctx := t.Context()
	if got := len(topology.Keyspaces); got != 3 {
		t.Fatalf("got %d keyspaces, want 3", got)
	}
	for i, n := range topology.Keyspaces {
		if _, err := n.Do(ctx, "SET", "k", i, "NX", "PX", 60000); err != nil {
			t.Fatal(err)
		}
		s := topology.Servers[i]
		sample, err := s.Sample(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if sample.Keys != 1 || sample.CPU == nil || *sample.CPU <= 0 || sample.Calls["set"] != 1 || sample.Role != "master" || sample.Policy != "noeviction" {
			t.Errorf("%s: sample %+v", s.Name, sample)
		}
		keys, err := s.Audit(ctx, []string{"k", "missing"})
		if err != nil || len(keys) != 1 || keys[0].Name != "k" || keys[0].TTL <= 0 {
			t.Errorf("%s: audit %v, %v", s.Name, keys, err)
		}
		if err := s.Remove(ctx, []string{"k", "missing"}); err != nil {
			t.Error(err)
		}
	}
	if err := topology.Check(ctx); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := topology.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	for _, s := range topology.Servers {
		if listens(s.Address) {
			t.Errorf("%s still listens after Close", s.Address)
		}
	}
	if left, _ := os.ReadDir(dirs); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheServersDirectoryIsPrivateAndItAnswersOnLoopbackOnly(t *testing.T) {
	topology, dirs := start(t, topologies.Spec{Shape: topologies.Single})
	made, _ := filepath.Glob(filepath.Join(dirs, dirPattern))
	if len(made) != 1 {
		t.Fatalf("directories: %v", made)
	}
	info, err := os.Stat(made[0])
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, want 0700 (%v)", info.Mode().Perm(), err)
	}
	r, err := topology.Keyspaces[0].Do(t.Context(), "CONFIG", "GET", "bind")
	if err != nil || r.List[1].Text != "127.0.0.1" {
		t.Errorf("bind: %v, %v", r, err)
	}
}

func TestAServerThatDiesIsNoticedWithItsLastWords(t *testing.T) {
	topology, _ := start(t, topologies.Spec{Shape: topologies.Single})
	topology.Servers[0].Control.Do(t.Context(), "DEBUG", "SEGFAULT")
	var err error
	eventually(t, "the crash is noticed", func() bool { err = topology.Check(t.Context()); return err != nil })
	var died *DiedError
	if !errors.As(err, &died) || died.Address != topology.Servers[0].Address || died.Log == "" {
		t.Errorf("got %v", err)
	}
}

func TestASettingThatTheServerRefusesShowsTheServersOwnWords(t *testing.T) {
	requireServer(t)
	dirs := t.TempDir()
	_, err := Provider{Dirs: dirs}.Start(t.Context(), topologies.Spec{Shape: topologies.Single, Config: map[string]string{"maxmemory": "much"}})
	if err == nil || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dirs); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestATakenPortIsRecognisedAndTriedAnew(t *testing.T) {
	b := requireServer(t)
	for name, answer := range map[string]string{
		"a silent program": "", "another server": "+PONG\r\n*2\r\n$12\r\nsyslog-ident\r\n$5\r\nother\r\n", "a web server": "HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			port := stranger(t, answer)
			s, err := b.start(t.Context(), port, t.TempDir(), nil)
			if !errors.Is(err, topologies.ErrPortTaken) {
				t.Errorf("got %v, want ErrPortTaken", err)
			}
			s.stop()
		})
	}
}

// stranger listens on a port and answers every connection the same.
func stranger(t *testing.T, answer string) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte(answer))
			defer c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func TestServersOutliveTheThreadThatAskedForThem(t *testing.T) {
	requireServer(t)
	var topology *topologies.Topology
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		var err error
		topology, err = Provider{Dirs: t.TempDir()}.Start(t.Context(), topologies.Spec{Shape: topologies.Single})
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	defer topology.Close(context.Background())
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		if err := topology.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAKilledLockbenchLeavesNoServerBehind(t *testing.T) {
	requireServer(t)
	dirs := t.TempDir()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), helper+"="+dirs)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addresses := strings.Fields(line)
	if err != nil || len(addresses) != 2 || addresses[0] == "error" {
		t.Fatalf("helper says %q, %v", line, err)
	}
	for _, a := range addresses {
		if !listens(a) {
			t.Fatalf("%s does not listen while its lockbench lives", a)
		}
	}
	if removed, err := (Provider{Dirs: dirs}).RemoveOrphans(t.Context()); err != nil || len(removed) > 0 {
		t.Errorf("removed %v of a living owner, %v", removed, err)
	}
	c.Process.Kill()
	c.Wait()
	for _, a := range addresses {
		eventually(t, a+" no longer listens", func() bool { return !listens(a) })
	}
	if removed, err := (Provider{Dirs: dirs}).RemoveOrphans(t.Context()); err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v; want the one directory", removed, err)
	}
}

func TestAnInterruptedStartStopsWhatItStarted(t *testing.T) {
	requireServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dirs := t.TempDir()
	_, err := Provider{Dirs: dirs}.Start(ctx, topologies.Spec{Shape: topologies.Single})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if left, _ := os.ReadDir(dirs); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWithoutAServerOnPathItSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Provider{}.Can(t.Context(), topologies.Spec{Shape: topologies.Single})
	if err == nil || !strings.Contains(err.Error(), "install") {
		t.Errorf("got %v", err)
	}
}

func TestWhatAProcessCannotDoIsRefused(t *testing.T) {
	requireServer(t)
	for name, s := range map[string]topologies.Spec{
		"a CPU quota":            {Shape: topologies.Single, CPU: "25%"},
		"a cluster":              {Shape: "cluster"},
		"a setting that loads":   {Shape: topologies.Single, Config: map[string]string{"loadmodule": "/tmp/x.so"}},
		"a second option inside": {Shape: topologies.Single, Config: map[string]string{"maxmemory": "--bind"}},
	} {
		if (Provider{}).Can(t.Context(), s) == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
