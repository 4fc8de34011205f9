package lockertest_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/goredis"
)

// embedded starts n servers inside the test. Their keys expire in real time.
func embedded(t *testing.T, n int) []strategies.Node {
	t.Helper()
	nodes := make([]strategies.Node, n)
	for i := range nodes {
		m := miniredis.RunT(t)
		expireInRealTime(t, m)
		nodes[i] = open(t, m.Addr())
	}
	return nodes
}

func expireInRealTime(t *testing.T, m *miniredis.Miniredis) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				m.FastForward(now.Sub(last))
				last = now
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

// realRedis starts n servers of the machine's redis-server.
func realRedis(t *testing.T, n int) []strategies.Node {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("LOCKBENCH_REQUIRE"), ","), "redis") {
			t.Fatalf("LOCKBENCH_REQUIRE wants redis: %v", err)
		}
		t.Skipf("redis-server is not installed: %v", err)
	}
	nodes := make([]strategies.Node, n)
	for i := range nodes {
		nodes[i] = startRedis(t, path)
	}
	return nodes
}

// startRedis tries another port where somebody took the one that was free a moment before.
func startRedis(t *testing.T, path string) strategies.Node {
	t.Helper()
	for range 5 {
		port := freePort(t)
		cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan struct{})
		go func() { _ = cmd.Wait(); close(exited) }()
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
		if n := open(t, "127.0.0.1:"+port); answers(n, exited) {
			return n
		}
	}
	t.Fatal("redis-server did not start")
	return nil
}

func answers(n strategies.Node, exited <-chan struct{}) bool {
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if _, err := n.Do(context.Background(), "PING"); err == nil {
			return true
		}
		select {
		case <-exited:
			return false
		default:
		}
	}
	return false
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func open(t *testing.T, address string) strategies.Node {
	n := goredis.Open(goredis.Options{Address: address, PoolSize: 64})
	t.Cleanup(func() { _ = n.Close() })
	return n
}
