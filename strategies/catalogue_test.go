package strategies

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheCatalogueIsComplete(t *testing.T) {
	names := []string{"noop", "ping", "local-mutex", "setnx", "setnx-expire", "set-px-del", "set-px-check-del", "set-px-lua",
		"watchdog", "redlock", "sharded"}
	var got []string
	for _, e := range Catalogue() {
		got = append(got, e.Name)
		if e.Doc == "" || e.New == nil {
			t.Errorf("%s has no doc or no New", e.Name)
		}
		for _, x := range e.Options {
			if x.Kind == KindEnum && !slices.Contains(x.Enum, x.Default) {
				t.Errorf("%s: option %s: the default %q is none of %v", e.Name, x.Name, x.Default, x.Enum)
			}
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("the catalogue has %v, want %v", got, names)
	}
}

func TestPromisesUnderFaultsFollowTheirReasons(t *testing.T) {
	survives := func(name, fault string) bool {
		e, _ := Find(name)
		return slices.Contains(e.Survives, fault)
	}
	for _, name := range []string{"set-px-lua", "watchdog", "redlock", "sharded"} {
		for _, fault := range []string{pauseHolder, restartNode, failover, clockJump, flushNode, evict, foreignSet} {
			if survives(name, fault) {
				t.Errorf("%s promises to survive %s", name, fault)
			}
		}
	}
	if survives("set-px-del", slowNode) || !survives("set-px-lua", slowNode) {
		t.Error("a late DEL is what tells set-px-del from set-px-lua")
	}
	if !survives("setnx", clockJump) {
		t.Error("a key without a TTL does not care for clocks")
	}
}

func TestNewRefusesWhatAnEntryDoesNotHave(t *testing.T) {
	e := Env{Clock: &jumpClock{}, Nodes: []Node{newFake(&jumpClock{})}}
	for _, c := range []struct {
		name    string
		options Options
		says    string
	}{
		{"set-px-lau", nil, `no strategy "set-px-lau"`},
		{"set-px-lua", Options{"delx": true}, `no option "delx"`},
		{"set-px-lua", Options{"delex": "yes"}, "not of kind bool"},
		{"redlock", Options{"mode": "some"}, "none of wait-all, at-quorum, sequential"},
		{"redlock", Options{"drift": 0.9}, "out of bounds"},
		{"redlock", Options{"node_timeout": time.Microsecond}, "out of bounds"},
		{"sharded", Options{"shards": 0}, "out of bounds"},
		{"sharded", Options{"shards": 2.5}, "not of kind int"},
		{"watchdog", Options{"base": "setnx"}, "none of"},
	} {
		if _, err := New(c.name, e, c.options); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %v: %v, want it to say %q", c.name, c.options, err, c.says)
		}
	}
}

func TestNewRefusesTheWrongNumberOfKeyspaces(t *testing.T) {
	for _, name := range append(singles, "ping", "sharded", "redlock") {
		if _, err := New(name, Env{Clock: &jumpClock{}}, nil); err == nil {
			t.Errorf("%s was built without a node", name)
		}
	}
}

func TestAWatchdogNeedsWhatItsBaseNeeds(t *testing.T) {
	e, _ := Find("watchdog")
	for base, want := range map[string]string{"set-px-lua": NeedsSingle, "redlock": NeedsIndependent} {
		if got := e.NeedsWith(Options{"base": base}); got != want {
			t.Errorf("over %s it needs %q, want %q", base, got, want)
		}
	}
	if got := e.NeedsWith(nil); got != NeedsSingle {
		t.Errorf("it needs %q", got)
	}
}

func TestASabotageIsRefusedWhereItChangesNothing(t *testing.T) {
	e := Env{Clock: &jumpClock{}, Nodes: []Node{newFake(&jumpClock{})}}
	for _, c := range []struct {
		name, sabotage string
		options        Options
		refused        bool
	}{
		{"set-px-lua", "no-ttl", nil, false},
		{"setnx", "no-ttl", nil, true},
		{"set-px-del", "plain-del", nil, true},
		{"set-px-lua", "no-clean-up", nil, true},
		{"redlock", "no-clean-up", nil, false},
		{"redlock", "plain-del", nil, false},
		{"watchdog", "no-clean-up", nil, true},
		{"watchdog", "no-clean-up", Options{"base": "redlock"}, false},
		{"sharded", "constant-owner", Options{"pick": "hash"}, false},
		{"noop", "client-retries", nil, true},
		{"set-px-lua", "client-retries", nil, false},
		{"set-px-lua", "no-tll", nil, true},
	} {
		_, err := Sabotaged(c.name, c.sabotage, e, c.options)
		if (err != nil) != c.refused {
			t.Errorf("%s with %s: %v", c.name, c.sabotage, err)
		}
		if err != nil && !strings.Contains(err.Error(), c.sabotage) {
			t.Errorf("%q does not name %s", err, c.sabotage)
		}
	}
}
