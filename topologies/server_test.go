package topologies

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/strategies"
)

const redis70 = `# Server
redis_version:7.0.15
redis_mode:standalone
run_id:0a1b
# Memory
maxmemory:0
maxmemory_policy:allkeys-lru
# Replication
role:master
# CPU
used_cpu_sys:2.500000
used_cpu_user:1.500000
used_cpu_sys_main_thread:0.250001
used_cpu_user_main_thread:1.000002
# Commandstats
cmdstat_set:calls=37409,usec=52372,usec_per_call=1.40,rejected_calls=0,failed_calls=0
cmdstat_client|setinfo:calls=2,usec=3,usec_per_call=1.50,rejected_calls=0,failed_calls=2
# Keyspace
db0:keys=12,expires=3,avg_ttl=1000
db3:keys=1,expires=0,avg_ttl=0
`

const valkey81 = `# Server
redis_version:7.2.4
server_name:valkey
valkey_version:8.1.1
# Replication
role:slave
master_host:10.0.0.1
# CPU
used_cpu_sys_main_thread:0.5
used_cpu_user_main_thread:0.5
# Commandstats
cmdstat_evalsha:calls=5,usec=10
# Keyspace
`

const redis60 = "# Server\r\nredis_version:6.0.16\r\n# CPU\r\nused_cpu_sys:2.0\r\nused_cpu_user:1.0\r\n# Keyspace\r\n"

func TestInfoOfEachServerIsReadAsItIsWritten(t *testing.T) {
	cpu := func(d time.Duration) *time.Duration { return &d }
	for name, c := range map[string]struct {
		info string
		want Sample
	}{
		"redis 7.0": {redis70, Sample{
			Version: "redis 7.0.15", Role: "master", Policy: "allkeys-lru", CPU: cpu(1250003 * time.Microsecond), Keys: 13,
			Calls: map[string]int64{"set": 37409, "client|setinfo": 2},
		}},
		"valkey":                         {valkey81, Sample{Version: "valkey 8.1.1", Role: "slave", CPU: cpu(time.Second), Calls: map[string]int64{"evalsha": 5}}},
		"redis 6.0, no main thread":      {redis60, Sample{Version: "redis 6.0.16", CPU: cpu(3 * time.Second)}},
		"embedded, two sections":         {"# Clients\nconnected_clients:1\r\n# Stats\ntotal_commands_processed:3\r\n", Sample{}},
		"nothing":                        {"", Sample{}},
		"a line that means nothing":      {"cmdstat_get:nonsense\ndb0:\nused_cpu_user:x\n", Sample{Calls: map[string]int64{"get": 0}}},
		"a name that only looks like db": {"dbx:keys=5\n", Sample{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ParseInfo(c.info)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// fake is a server that knows TTLs in milliseconds, -1 for none, and counts commands.
type fake struct {
	ttls  map[string]int64
	calls map[string]int
}

func (f *fake) Do(_ context.Context, args ...any) (strategies.Reply, error) {
	name := args[0].(string)
	f.calls[name]++
	if name == "INFO" && len(args) > 1 {
		return strategies.Reply{}, &strategies.ServerError{Code: "section", Message: "section (everything) is not supported"}
	}
	n := int64(0)
	for _, k := range args[1:] {
		ttl, ok := f.ttls[k.(string)]
		switch {
		case name == "PTTL" && ok:
			n = ttl
		case name == "PTTL":
			n = -2
		case ok:
			n++
		}
		if name == "UNLINK" {
			delete(f.ttls, k.(string))
		}
	}
	if name == "DBSIZE" {
		n = int64(len(f.ttls))
	}
	return strategies.Reply{Kind: strategies.Int, Int: n}, nil
}

func (f *fake) Eval(context.Context, *strategies.Script, []string, ...any) (strategies.Reply, error) {
	panic("not needed")
}

func manyKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", i)
	}
	return keys
}

func TestAnAuditFindsTheFewKeysThatAreLeftWithFewCommands(t *testing.T) {
	f := &fake{ttls: map[string]int64{"k7": 1500, "k900": -1, "stranger": 1}, calls: map[string]int{}}
	got, err := Server{Control: f}.Audit(t.Context(), manyKeys(1000))
	if err != nil {
		t.Fatal(err)
	}
	want := []Key{{"k7", 1500 * time.Millisecond}, {"k900", -1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if n := f.calls["EXISTS"] + f.calls["PTTL"]; n > 50 {
		t.Errorf("%d commands for 1000 keys, want far fewer: %v", n, f.calls)
	}
}

func TestAnAuditFindsEveryKeyWhenAllAreLeft(t *testing.T) {
	f := &fake{ttls: map[string]int64{}, calls: map[string]int{}}
	for _, k := range manyKeys(600) {
		f.ttls[k] = 10
	}
	got, err := Server{Control: f}.Audit(t.Context(), manyKeys(600))
	if err != nil || len(got) != 600 {
		t.Fatalf("got %d keys, %v; want 600", len(got), err)
	}
	if f.calls["EXISTS"] > 3 {
		t.Errorf("%d EXISTS, want one a batch", f.calls["EXISTS"])
	}
}

func TestRemovingUnlinksInBoundedBatches(t *testing.T) {
	f := &fake{ttls: map[string]int64{"k0": 5, "k599": -1, "stranger": 1}, calls: map[string]int{}}
	if err := (Server{Control: f}).Remove(t.Context(), manyKeys(600)); err != nil {
		t.Fatal(err)
	}
	if len(f.ttls) != 1 || f.calls["UNLINK"] != 3 {
		t.Errorf("left %v after %d UNLINK, want the stranger after 3", f.ttls, f.calls["UNLINK"])
	}
}

func TestAServerWithoutSectionsIsAskedForItsSize(t *testing.T) {
	f := &fake{ttls: map[string]int64{"a": 1, "b": 1}, calls: map[string]int{}}
	got, err := Server{Control: f}.Sample(t.Context())
	if err != nil || got.Keys != 2 || got.CPU != nil || got.Calls != nil {
		t.Errorf("got %+v, %v; want two keys and nothing else", got, err)
	}
}
