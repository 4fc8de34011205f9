package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/scenarios"
)

// typed runs one command line.
func typed(args ...string) (status int, out, errOut string) {
	var o, e bytes.Buffer
	status = lockbench(context.Background(), args, &o, &e)
	return status, o.String(), e.String()
}

func TestEveryBuiltInScenarioIsValidAndShort(t *testing.T) {
	want := []string{"backoff-shootout", "cold-start", "cron-herd", "flash-sale", "hot-key", "key-granularity", "quickstart", "redlock-five",
		"retry-storm", "sharded-stock", "slow-third-party-call", "ttl-too-short", "zipf-orders"}
	if got := strings.Join(scenarios.Builtin(), " "); got != strings.Join(want, " ") {
		t.Errorf("built in are %s", got)
	}
	for _, name := range scenarios.Builtin() {
		all, err := read([]string{name}, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		s := all[0]
		if s.Name != name || !strings.HasSuffix(s.Question, "?") || len(s.Thresholds)+len(s.Expect) == 0 {
			t.Errorf("%s: name %q, question %q, %d thresholds, %d expected verdicts", name, s.Name, s.Question, len(s.Thresholds), len(s.Expect))
		}
		var length time.Duration
		for _, p := range s.Points() {
			length += time.Duration(s.Trials.Count) * (p.Scenario.Phases.Warmup + p.Scenario.Phases.Measure)
		}
		if length > 4*time.Minute {
			t.Errorf("%s takes %s", name, length)
		}
		if again, err := scenarios.Read(name, scenarios.Marshal(s, vocabulary()), vocabulary(), nil); err != nil || len(again.Points()) != len(s.Points()) {
			t.Errorf("%s: the resolved scenario: %v", name, err)
		}
	}
}

func TestQuickstartIsWhatItPromises(t *testing.T) {
	all, err := read([]string{"quickstart"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	if n := len(s.Points()); n != 3 || s.Trials.Count != 3 || s.Phases.Warmup != time.Second || s.Phases.Measure != 3*time.Second || s.Load.Open.Rate != 400 {
		t.Errorf("%d points x %d trials x %v at %v/s", n, s.Trials.Count, s.Phases, s.Load.Open.Rate)
	}
}

func TestValidateTellsAllMistakesOfAllFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	head := "apiVersion: lockbench/v1\nname: x\nload: {open: {rate: 100/s}}\n"
	bad := file("bad.yaml", head+"strategies: [set-px-lau]\nhold: 5\n")
	worse := file("worse.yaml", strings.Repeat("x", 2<<20))
	good := file("good.yaml", head+"strategies: [set-px-lua]\n")
	status, out, errOut := typed("validate", bad, worse, good, filepath.Join(dir, "absent.yaml"), "quikstart")
	if status != statusUsage {
		t.Errorf("status %d, want %d", status, statusUsage)
	}
	for _, want := range []string{`bad.yaml:4:14: strategies.0: the strategy "set-px-lau" does not exist (did you mean "set-px-lua"?)`, `bad.yaml:5:7: hold: "5" needs a unit`,
		"worse.yaml: the file is larger than 64 KiB", "absent.yaml", `did you mean "quickstart"?`} {
		if !strings.Contains(errOut, want) {
			t.Errorf("stderr lacks %q:\n%s", want, errOut)
		}
	}
	if !strings.Contains(out, "good.yaml: ok, 1 point x 3 trials, about 36s") {
		t.Errorf("stdout is %q", out)
	}
}

func TestIncidentToComeIsRefusedByName(t *testing.T) {
	status, _, errOut := typed("validate", "../../scenarios/testdata/gc-pause.yaml")
	lines := strings.Split(strings.TrimSpace(errOut), "\n")
	if status != statusUsage || len(lines) != 3 {
		t.Fatalf("status %d, %d mistakes:\n%s", status, len(lines), errOut)
	}
	for i, want := range []string{"worker process", `strategy "fenced"`, `fault "pause-holder"`} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%q lacks %q", lines[i], want)
		}
	}
}

func TestExplainCallsAPointUnservable(t *testing.T) {
	status, out, errOut := typed("validate", "hot-key", "--explain")
	if status != statusPass {
		t.Fatal(errOut)
	}
	for _, want := range []string{"load.open.rate=170  100 % of sessions  5ms   0.87", "load.open.rate=240  100 % of sessions  5ms   1.22 unservable", "acquire_timeout: 1s", "image: \"redis:7.4-alpine\""} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	if _, err := scenarios.Read("explained", []byte(out), vocabulary(), nil); err != nil {
		t.Errorf("what is explained is no scenario: %v", err)
	}
}

func TestExplainUsesTheRoundTripOfTheNetwork(t *testing.T) {
	_, out, _ := typed("validate", "hot-key", "--explain", "--rtt", "1ms")
	if !strings.Contains(out, "load.open.rate=170  100 % of sessions  5ms   1.02 unservable") {
		t.Error(out)
	}
}

func TestExplainWarns(t *testing.T) {
	for name, c := range map[string]struct {
		set  []string
		want string
	}{
		"ttl below the tail of hold":    {[]string{"lock.ttl=20ms", "hold={lognormal: {p50: 5ms, p99: 80ms}}"}, "ttl 20ms is below p99.9 of hold, 199ms"},
		"ttl below the time to acquire": {[]string{"lock.ttl=80ms", "strategies=[{name: redlock, node_timeout: 20ms, mode: sequential, on: {shape: independent}}]"}, "ttl 80ms cannot outlast the time to acquire, up to 100ms"},
		"tries end before the wait":     {[]string{"load.open.rate=150/s", "retries=[{fixed: 1ms, max_attempts: 5}]"}, "tries for 4ms on average, but a held lock takes 15ms or more to get"},
		"more clients than patience":    {[]string{"load={closed: {clients: 300}}", "retries=[staged-50-100]"}, "tries for 751ms on average, but a held lock takes 1.525s or more to get"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"validate", "hot-key", "--explain", "--set", "matrix={keys.count: [1]}"}
			for _, s := range c.set {
				args = append(args, "--set", s)
			}
			status, out, errOut := typed(args...)
			if status != statusPass || !strings.Contains(out, c.want) {
				t.Errorf("lacks %q:\n%s%s", c.want, out, errOut)
			}
		})
	}
}

func TestExplainKeepsQuietWhereAllIsWell(t *testing.T) {
	_, out, errOut := typed("validate", "quickstart", "--explain")
	if strings.Contains(out, "warning") || errOut != "" {
		t.Errorf("%s%s", out, errOut)
	}
}

func TestListShowsEveryCatalogue(t *testing.T) {
	for kind, want := range map[string]string{
		"strategies": "set-px-lua", "retries": "full-jitter", "topologies": "embedded", "scenarios": "retry-storm", "faults": "clock-jump",
		"charts": "response-percentiles", "metrics": "response.p99.9",
	} {
		status, out, errOut := typed("list", kind)
		if status != statusPass || !strings.Contains(out, want) {
			t.Errorf("list %s: status %d, %s%s", kind, status, out, errOut)
		}
	}
	if _, out, _ := typed("list", "strategies", "redlock"); !strings.Contains(out, "at-quorum") {
		t.Errorf("list strategies redlock: %s", out)
	}
	if _, out, _ := typed("list", "scenarios", "hot-key"); !strings.Contains(out, "apiVersion: lockbench/v1") {
		t.Errorf("list scenarios hot-key: %s", out)
	}
	for _, args := range [][]string{{"list", "retries", "full-jiter"}, {"list", "stratgies"}} {
		if status, _, errOut := typed(args...); status != statusUsage || !strings.Contains(errOut, "did you mean") {
			t.Errorf("%v: status %d, %s", args, status, errOut)
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	status, out, errOut := typed("schema")
	var s map[string]any
	if err := json.Unmarshal([]byte(out), &s); status != statusPass || err != nil || s["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("status %d, %v, %s", status, err, errOut)
	}
}

func TestWhatTheCatalogueHasIsNotCalledMissing(t *testing.T) {
	for _, n := range strategyNames() {
		if n.Missing != "" {
			t.Errorf("%s is missing", n.Name)
		}
	}
	seen := map[string]bool{}
	for _, n := range vocabulary().Strategies {
		if seen[n.Name] {
			t.Errorf("%s is there twice", n.Name)
		}
		seen[n.Name] = true
	}
}

func TestExplainNeverCountsBackwards(t *testing.T) {
	status, out, errOut := typed("validate", "quickstart", "--explain", "--rtt", "24h", "--set", "trials=1000", "--set", "phases.measure=24h", "--set", "hold=24h")
	if status != statusPass || regexp.MustCompile(` -[0-9]`).MatchString(out) {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
	for _, rtt := range []string{"-1ms", "2562047h"} {
		if status, _, errOut := typed("validate", "quickstart", "--explain", "--rtt", rtt); status != statusUsage || !strings.Contains(errOut, "--rtt") {
			t.Errorf("round trip %s: status %d, %s", rtt, status, errOut)
		}
	}
}

func TestOnlyRegularFilesAreScenarios(t *testing.T) {
	for _, name := range []string{t.TempDir(), os.DevNull} {
		if status, _, errOut := typed("validate", name); status != statusUsage || !strings.Contains(errOut, "no regular file") {
			t.Errorf("%s: status %d, %s", name, status, errOut)
		}
	}
}

func TestWhatNoServerMaySetIsRefusedAtReading(t *testing.T) {
	status, _, errOut := typed("validate", "quickstart", "--set", "topology.config={port: 1, dir: /tmp, save: 900}")
	if status != statusUsage || !strings.Contains(errOut, `config "port" cannot be set`) || !strings.Contains(errOut, `config "dir" cannot be set`) || !strings.Contains(errOut, "config save") {
		t.Errorf("status %d, %s", status, errOut)
	}
}
