package external

import (
	"os"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/topologies"
)

func TestAServerIsMeasuredAndKeepsEveryForeignKey(t *testing.T) {
	address := serve(t)
	say(t, address, "SET", "foreign", "1")
	topology := start(t, spec(address))
	node, server := topology.Keyspaces[0], topology.Servers[0]
	if _, err := node.Do(t.Context(), "SET", "lockbench:r1:k", "v", "NX", "PX", 60000); err != nil {
		t.Fatal(err)
	}
	sample, err := server.Sample(t.Context())
	if err != nil || sample.Keys != 2 || sample.CPU == nil {
		t.Errorf("sample %+v, %v", sample, err)
	}
	keys, err := server.Audit(t.Context(), []string{"lockbench:r1:k", "lockbench:r1:other"})
	if err != nil || len(keys) != 1 {
		t.Errorf("audit %v, %v", keys, err)
	}
	if err := server.Remove(t.Context(), []string{"lockbench:r1:k"}); err != nil {
		t.Error(err)
	}
	for _, words := range [][]any{{"FLUSHALL"}, {"KEYS", "*"}, {"CONFIG", "SET", "maxmemory", 1}, {"DEL", "foreign"}, {"SHUTDOWN"}} {
		if _, err := node.Do(t.Context(), words...); err == nil {
			t.Errorf("%v went through", words)
		}
	}
	if sample, err := server.Sample(t.Context()); err != nil || sample.Keys != 1 {
		t.Errorf("%d keys remain, %v; want the foreign one", sample.Keys, err)
	}
	if !topology.RefusesImmortal {
		t.Error("strategies without a TTL are not refused on a server that is not ours")
	}
	if !strings.Contains(topology.Why, address) || len(topology.Notes) > 0 {
		t.Errorf("why %q, notes %q", topology.Why, topology.Notes)
	}
}

func TestAURLNamesTheSameServer(t *testing.T) {
	start(t, spec("redis://"+serve(t)+"/0"))
}

func TestTwoServersAreIndependentButOneTwiceIsNot(t *testing.T) {
	a, b := serve(t), serve(t)
	start(t, spec(a, b))
	refusal(t, spec(a, a), "twice")
	refusal(t, spec(a, strings.Replace(a, "127.0.0.1", "localhost", 1)), "same server")
}

func TestAnUnreachableServerIsNamed(t *testing.T) {
	refusal(t, spec("127.0.0.1:1"), "cannot reach 127.0.0.1:1", "refused")
}

func TestPasswordsAreCheckedAndNeverShown(t *testing.T) {
	address := serve(t, "--requirepass", canary)
	s := spec(address)
	refusal(t, s, "wants a password", address)
	s.Password = canary + "-wrong"
	refusal(t, s, "refuses the user or the password")
	s.Password = canary
	start(t, s)

	s = spec(serve(t))
	s.Password = canary
	refusal(t, s, "no password")
	s.Password, s.Username = "", "bench"
	refusal(t, s, "password_from")
}

// leastACL is the user that the README recommends.
func leastACL(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rules, ok := strings.Cut(string(readme), "ACL SETUSER lockbench on >password ")
	if !ok {
		t.Fatal("the README names no least user")
	}
	rules, _, _ = strings.Cut(rules, "\n")
	return rules
}

func TestTheLeastUserIsEnough(t *testing.T) {
	address := serve(t)
	say(t, address, "ACL", "SETUSER", "bench", "on", ">"+canary, leastACL(t))
	s := spec(address)
	s.Username, s.Password = "bench", canary
	topology := start(t, s)
	server := topology.Servers[0]
	get := &strategies.Script{Name: "get", Lua: "return redis.call('get', KEYS[1])"}
	if err := server.Warm(t.Context(), 2, []*strategies.Script{get}); err != nil {
		t.Fatal(err)
	}
	if _, err := topology.Keyspaces[0].Do(t.Context(), "SET", "lockbench:r1:k", "v", "PX", 60000); err != nil {
		t.Fatal(err)
	}
	if r, err := topology.Keyspaces[0].Eval(t.Context(), get, []string{"lockbench:r1:k"}); err != nil || r.Text != "v" {
		t.Errorf("script: %v, %v", r, err)
	}
	if keys, err := server.Audit(t.Context(), []string{"lockbench:r1:k"}); err != nil || len(keys) != 1 {
		t.Errorf("audit %v, %v", keys, err)
	}
	if err := server.Remove(t.Context(), []string{"lockbench:r1:k"}); err != nil {
		t.Error(err)
	}
	if sample, err := server.Sample(t.Context()); err != nil || sample.Keys != 0 {
		t.Errorf("sample %+v, %v", sample, err)
	}
}

func TestAPasswordInAnAddressIsRefusedWithoutEchoingIt(t *testing.T) {
	for _, address := range []string{
		"redis://:" + canary + "@h:6379", "redis://u:" + canary + "@h:6379", "rediss://" + canary + "@h:6379", canary + "@h:6379",
		"redis://:" + canary + "@h:port", "redis://h:6379?password=" + canary, "redis://h:6379/1#" + canary, "http://h/" + canary, "redis://[" + canary, canary,
	} {
		refusal(t, spec(address), "address")
	}
}

func TestTLSWorksWithAnAuthorityAName(t *testing.T) {
	a := newAuthority(t)
	a.issue(t, "server", "127.0.0.1")
	a.issue(t, "named", "redis.internal")
	a.issue(t, "client", "client")
	s := spec(serveTLS(t, a.server("server", "no")...))
	s.TLS = &topologies.TLS{CA: a.file("ca.crt")}
	topology := start(t, s)
	if _, err := topology.Keyspaces[0].Do(t.Context(), "SET", "lockbench:r1:k", "v", "PX", 1000); err != nil {
		t.Error(err)
	}

	s = spec("rediss://" + serveTLS(t, a.server("named", "yes")...))
	s.TLS = &topologies.TLS{CA: a.file("ca.crt"), Cert: a.file("client.crt"), Key: a.file("client.key"), ServerName: "redis.internal"}
	start(t, s)
	s.TLS.ServerName = ""
	refusal(t, s, "server_name")
	s.TLS = &topologies.TLS{CA: a.file("ca.crt"), ServerName: "redis.internal"}
	refusal(t, s, "client certificate")
	s.TLS = &topologies.TLS{ServerName: "redis.internal"}
	refusal(t, s, "topology.tls.ca")
	s.TLS = &topologies.TLS{CA: a.file("ca.key")}
	refusal(t, s, "topology.tls.ca")
	s.TLS = &topologies.TLS{Cert: a.file("client.crt")}
	refusal(t, s, "belong together")
}

func TestPlainAndTLSThatMeetAreToldApart(t *testing.T) {
	a := newAuthority(t)
	a.issue(t, "server", "127.0.0.1")
	secure := serveTLS(t, a.server("server", "no")...)
	refusal(t, spec(secure), "TLS")
	s := spec(secure)
	s.Password = canary
	refusal(t, s, "TLS")

	plain := spec("rediss://" + serve(t))
	plain.ConnectTimeout = 500e6
	refusal(t, plain, "not speak TLS")
	s = spec("redis://" + serve(t))
	s.TLS = &topologies.TLS{CA: a.file("ca.crt")}
	refusal(t, s, "redis://")
}

func TestAReplicaIsRefused(t *testing.T) {
	_, port, _ := strings.Cut(serve(t), ":")
	refusal(t, spec(serve(t, "--replicaof", "127.0.0.1", port)), "replica")
}

func TestAClusterNodeIsRefused(t *testing.T) {
	refusal(t, spec(serve(t, "--cluster-enabled", "yes")), "cluster mode")
}

func TestWhatAReaderMustKnowIsNoted(t *testing.T) {
	topology := start(t, spec(serve(t, "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru", "--appendonly", "yes")))
	notes := strings.Join(topology.Notes, "\n")
	if !strings.Contains(notes, "allkeys-lru") || !strings.Contains(notes, "append-only") {
		t.Errorf("notes %q", notes)
	}
}

func TestAServerElsewhereThatHoldsKeysNeedsYes(t *testing.T) {
	master := topologies.Examination{Sample: topologies.Sample{Role: "master", Keys: 3}}
	empty := topologies.Examination{Sample: topologies.Sample{Role: "master"}}
	for name, c := range map[string]struct {
		e          topologies.Examination
		local, yes bool
		refused    bool
	}{
		"elsewhere with keys":         {master, false, false, true},
		"elsewhere with keys, agreed": {master, false, true, false},
		"elsewhere and empty":         {empty, false, false, false},
		"here with keys":              {master, true, false, false},
		"loading, even if agreed":     {topologies.Examination{Loading: true}, true, true, true},
		"sentinel":                    {topologies.Examination{Mode: "sentinel"}, true, true, true},
		"a replica by its newer name": {topologies.Examination{Sample: topologies.Sample{Role: "replica"}}, true, true, true},
	} {
		if err := refuse("h:1", c.e, c.local, c.yes); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswersToAFirstPingAreExplained(t *testing.T) {
	g := greeting{hostPort: "h:1"}
	for answer, want := range map[string]string{
		"-LOADING Redis is loading the dataset in memory": "loading",
		"-NOPERM this user has no permissions":            "README",
		"-ERR max number of clients reached":              "max number of clients",
		"HTTP/1.1 400 Bad Request":                        "Redis protocol",
		"":                                                "Redis protocol",
		"\x15\x03\x03":                                    "TLS",
	} {
		if err := g.pingError(answer); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want it to say %q", answer, err, want)
		}
	}
}

func TestCanAsksForWhatTheShapeNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		spec topologies.Spec
		want string
	}{
		"no address":    {topologies.Spec{Shape: topologies.Single}, "no address"},
		"too few":       {topologies.Spec{Shape: topologies.Independent, Nodes: 5, Addresses: []string{"h:1", "h:2"}}, "5 addresses"},
		"configuration": {topologies.Spec{Shape: topologies.Single, Addresses: []string{"h:1"}, Config: map[string]string{"hz": "10"}}, "left as it is"},
		"no port":       {topologies.Spec{Shape: topologies.Single, Addresses: []string{"localhost"}}, "host:port"},
		"database 3":    {topologies.Spec{Shape: topologies.Single, Addresses: []string{"redis://h:1/3"}}, "database"},
	} {
		if err := (Provider{}).Can(t.Context(), c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.want)
		}
	}
}
