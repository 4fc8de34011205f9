package goredis

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// server starts a private redis-server and returns its address.
func server(t testing.TB) string {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if strings.Contains(os.Getenv("LOCKBENCH_REQUIRE"), "redis") {
			t.Fatal("LOCKBENCH_REQUIRE names redis, but no redis-server is on PATH")
		}
		t.Skip("no redis-server on PATH")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(binary, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	cmd.Stdout = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("redis-server does not answer: %s", log.String())
	return ""
}

var compareAndDelete = &strategies.Script{
	Name:  "test",
	Lua:   `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`,
	Inner: func(r strategies.Reply) int { return 1 + int(r.Int) },
}

func TestEveryCommandIsCounted(t *testing.T) {
	n := Open(Options{Address: server(t)})
	defer n.Close()
	ctx := context.Background()
	if r, err := n.Do(ctx, "SET", "k", "a", "NX", "PX", 1000); err != nil || r.Text != "OK" {
		t.Fatalf("SET = %+v, %v", r, err)
	}
	if r, err := n.Do(ctx, "set", "k", "b", "NX"); err != nil || r.Kind != strategies.Nil {
		t.Fatalf("SET of a held key = %+v, %v; want nil", r, err)
	}
	if r, err := n.Eval(ctx, compareAndDelete, []string{"k"}, "a"); err != nil || r.Int != 1 {
		t.Fatalf("EVAL = %+v, %v; want 1", r, err)
	}
	got := n.Traffic()
	if got.Commands["set"] != 2 || got.Commands["evalsha"] != 1 || got.Commands["eval"] != 1 || got.Inner != 2 || got.Bytes < 100 {
		t.Fatalf("traffic = %+v; want 2 set, 1 evalsha that fell back to 1 eval, 2 inner", got)
	}
}

func TestARefusalIsToldFromALostReply(t *testing.T) {
	n := Open(Options{Address: server(t)})
	defer n.Close()
	_, err := n.Do(context.Background(), "incr")
	var refused *strategies.ServerError
	if !errors.As(err, &refused) || refused.Code != "ERR" {
		t.Fatalf("error = %v, want a server error ERR", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := n.Do(ctx, "blpop", "nothing", 5); err == nil || errors.As(err, &refused) {
		t.Fatalf("error of a reply that did not come = %v, want an indefinite one", err)
	}
}

func TestWarmOpensThePoolAndColdClosesIt(t *testing.T) {
	n := Open(Options{Address: server(t), PoolSize: 50})
	defer n.Close()
	ctx := context.Background()
	if err := n.Warm(ctx, 80, []*strategies.Script{compareAndDelete}); err != nil {
		t.Fatal(err)
	}
	if open := n.client.Load().PoolStats().IdleConns; open != 50 {
		t.Fatalf("%d connections are open, want 50", open)
	}
	if _, err := n.Eval(ctx, compareAndDelete, []string{"k"}, "a"); err != nil || n.Traffic().Commands["eval"] != 0 {
		t.Fatalf("a warm script was sent as text (%v)", err)
	}
	if err := n.Cold(); err != nil {
		t.Fatal(err)
	}
	if open := n.client.Load().PoolStats().TotalConns; open != 0 {
		t.Fatalf("%d connections are open after Cold, want 0", open)
	}
	if _, err := n.Do(ctx, "ping"); err != nil {
		t.Fatal(err)
	}
}

// silent accepts connections and answers nothing. accepted counts them.
func silent(t *testing.T) (address string, accepted *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accepted = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			defer c.Close() // when the listener is closed
		}
	}()
	return l.Addr().String(), accepted
}

func TestWarmStopsAtTheFirstFailure(t *testing.T) {
	address, accepted := silent(t)
	n := Open(Options{Address: address, PoolSize: 200, Timeout: 50 * time.Millisecond})
	defer n.Close()
	if err := n.Warm(context.Background(), 200, nil); err == nil {
		t.Fatal("a server that does not answer was warmed")
	}
	if got := accepted.Load(); got > 2*dials {
		t.Fatalf("%d connections were tried, want not many more than the %d of the first round", got, dials)
	}
}

func TestGuardAllowsOnlyThisRunsKeys(t *testing.T) {
	n := Open(Options{Address: server(t), Guard: &Guard{Prefix: "lockbench:r1:"}})
	defer n.Close()
	ctx := context.Background()
	for _, args := range [][]any{
		{"FLUSHALL"}, {"keys", "*"}, {"SCAN", 0}, {"config", "set", "a", "b"}, {"debug", "sleep", 0}, {"shutdown"},
		{"client", "pause", 1}, {"script", "flush"}, {"eval", "return 1", 0}, {"evalsha", "x", 1, "other"},
		{"set", "other", "x"}, {"del", "lockbench:r1:a", "other"}, {"set", "lockbench:r2:a", "x"}, {},
	} {
		if _, err := n.Do(ctx, args...); err == nil {
			t.Errorf("%v was sent", args)
		}
	}
	if _, err := n.Eval(ctx, compareAndDelete, []string{"other"}, "a"); err == nil {
		t.Error("a script on a foreign key was sent")
	}
	if got := n.Traffic().Commands; len(got) != 0 {
		t.Errorf("sent %v, want nothing", got)
	}
	if _, err := n.Do(ctx, "set", "lockbench:r1:a", "x", "PX", 1000); err != nil {
		t.Error(err)
	}
}
