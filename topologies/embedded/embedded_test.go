package embedded

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/goredis"
	"github.com/lockbench/lockbench/topologies"
)

func start(t testing.TB, s topologies.Spec) *topologies.Topology {
	t.Helper()
	topology, err := Provider{}.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { topology.Close(context.Background()) })
	return topology
}

func do(t testing.TB, n strategies.Node, args ...any) strategies.Reply {
	t.Helper()
	r, err := n.Do(t.Context(), args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return r
}

func TestKeysExpireInRealTimeAndNeverBefore(t *testing.T) {
	for _, set := range [][]any{
		{"SET", "lock", "me", "NX", "PX", 100}, {"PSETEX", "lock", 100, "me"}, {"SET", "lock", "me", "EX", 1}, {"SETEX", "lock", 1, "me"},
	} {
		n := start(t, topologies.Spec{Shape: topologies.Single}).Keyspaces[0]
		ttl := 100 * time.Millisecond
		if set[0] == "SETEX" || set[3] == "EX" {
			ttl = time.Second
		}
		asked := time.Now()
		do(t, n, set...)
		if took := untilFree(t, n).Sub(asked); took < ttl {
			t.Errorf("a TTL of %v ended after %v", ttl, took)
		}
	}
}

func TestATTLThatIsSetLaterRunsToo(t *testing.T) {
	for _, expire := range [][]any{{"PEXPIRE", "lock", 100}, {"EXPIRE", "lock", 1}} {
		n := start(t, topologies.Spec{Shape: topologies.Single}).Keyspaces[0]
		do(t, n, "SET", "lock", "me")
		if r := do(t, n, expire...); r.Int != 1 {
			t.Fatalf("%v: %v", expire, r)
		}
		untilFree(t, n)
	}
}

func TestAKeyThatIsSetLongAfterTheLastStepIsNotAgedByIt(t *testing.T) {
	script := []any{"EVAL", "return redis.call('set', KEYS[1], 'me', 'PX', 10000)", 1, "lock"}
	for _, set := range [][]any{
		{"SET", "lock", "me", "NX", "PX", 10000}, {"SET", "lock", "me", "ex", 10}, {"PSETEX", "lock", 10000, "me"},
		{"SETEX", "lock", 10, "me"}, {"PEXPIRE", "lock", 10000}, {"EXPIRE", "lock", 10}, script,
	} {
		s, err := newServer()
		if err != nil {
			t.Fatal(err)
		}
		s.began = s.began.Add(-time.Hour) // no step of the clock for an hour
		n := goredis.Open(goredis.Options{Address: s.redis.Addr()})
		if set[0] == "PEXPIRE" || set[0] == "EXPIRE" {
			do(t, n, "SET", "lock", "me")
		}
		do(t, n, set...)
		s.redis.FastForward(time.Hour)
		if left := do(t, n, "PTTL", "lock").Int; left < 10_000 {
			t.Errorf("%v: %d ms are left of 10000 right after the step", set, left)
		}
		s.redis.FastForward(time.Minute)
		if r := do(t, n, "GET", "lock"); r.Kind != strategies.Nil {
			t.Errorf("%v: the key lives a minute later", set)
		}
		n.Close()
		s.redis.Close()
	}
}

func TestWhatIsNoTTLIsRefusedAsByTheServer(t *testing.T) {
	n := start(t, topologies.Spec{Shape: topologies.Single}).Keyspaces[0]
	for _, args := range [][]any{{"SET", "k", "v", "PX", 0}, {"SET", "k", "v", "PX", "x"}, {"SET", "k", "v", "EX", -1}, {"SETEX", "k", 0, "v"}, {"SET", "k", "v", "PX"}, {"EXPIRE", "k"}} {
		if r, err := n.Do(t.Context(), args...); err == nil {
			t.Errorf("%v: got %v, want a refusal", args, r)
		}
	}
}

// untilFree takes the lock as soon as it is free, and tells when the server said so at the latest.
func untilFree(t *testing.T, n strategies.Node) time.Time {
	t.Helper()
	for range 10000 {
		if do(t, n, "SET", "lock", "you", "NX", "PX", 60000).Text == "OK" {
			return time.Now()
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the key never expired")
	return time.Time{}
}

func TestAnExpiredKeyIsMissingInScriptsToo(t *testing.T) {
	n := start(t, topologies.Spec{Shape: topologies.Single}).Keyspaces[0]
	pttl := &strategies.Script{Name: "pttl", Lua: "return redis.call('pttl', KEYS[1])"}
	do(t, n, "SET", "lock", "me", "PX", 50)
	for range 3000 {
		r, err := n.Eval(t.Context(), pttl, []string{"lock"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Int == -2 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatal("the key never expired")
}

func TestNodesAreIndependentAndMarkedAsNoFigure(t *testing.T) {
	topology := start(t, topologies.Spec{Shape: topologies.Independent, Nodes: 5})
	do(t, topology.Keyspaces[0], "SET", "k", "v")
	if r := do(t, topology.Keyspaces[1], "GET", "k"); r.Kind != strategies.Nil {
		t.Errorf("node 2 sees node 1's key: %v", r)
	}
	if !topology.NoFigures || len(topology.Notes) != 1 || topology.Notes[0] != Note {
		t.Errorf("NoFigures %v, notes %q", topology.NoFigures, topology.Notes)
	}
}

func TestASampleTellsKeysButNeitherCPUNorCalls(t *testing.T) {
	topology := start(t, topologies.Spec{Shape: topologies.Single})
	do(t, topology.Keyspaces[0], "SET", "k", "v", "PX", 60000)
	do(t, topology.Keyspaces[0], "SET", "immortal", "v")
	s := topology.Servers[0]
	sample, err := s.Sample(t.Context())
	if err != nil || sample.Keys != 2 || sample.CPU != nil || sample.Calls != nil {
		t.Errorf("sample %+v, %v", sample, err)
	}
	keys, err := s.Audit(t.Context(), []string{"k", "immortal", "missing"})
	if err != nil || len(keys) != 2 || keys[0].TTL <= 0 || keys[1].TTL >= 0 {
		t.Errorf("audit %v, %v", keys, err)
	}
	if err := s.Remove(t.Context(), []string{"k", "immortal"}); err != nil {
		t.Error(err)
	}
	if got := do(t, topology.Keyspaces[0], "DBSIZE").Int; got != 0 {
		t.Errorf("%d keys after Remove", got)
	}
}

func TestCloseEndsTheServersAndMayBeCalledTwice(t *testing.T) {
	topology := start(t, topologies.Spec{Shape: topologies.Independent, Nodes: 2})
	for range 2 {
		if err := topology.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, s := range topology.Servers {
		if c, err := net.Dial("tcp", s.Address); err == nil {
			c.Close()
			t.Errorf("%s still listens", s.Address)
		}
	}
}

func TestWhatTheEmulationLacksIsRefused(t *testing.T) {
	for _, s := range []topologies.Spec{{Shape: "cluster"}, {Shape: topologies.Single, CPU: "25%"}, {Shape: topologies.Single, Config: map[string]string{"hz": "10"}}} {
		if (Provider{}).Can(t.Context(), s) == nil {
			t.Errorf("%+v is not refused", s)
		}
	}
}

// BenchmarkCommandsBesideManyKeys shows that running TTLs leave room for commands with 50,000 keys alive.
func BenchmarkCommandsBesideManyKeys(b *testing.B) {
	n := start(b, topologies.Spec{Shape: topologies.Single, Timeout: time.Minute}).Keyspaces[0]
	fill := &strategies.Script{Name: "fill", Lua: "for i = 1, 50000 do redis.call('set', 'k' .. i, 'v', 'PX', 600000) end"}
	if _, err := n.Eval(b.Context(), fill, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		do(b, n, "GET", "k1")
	}
}
