package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/topologies"
	"github.com/lockbench/lockbench/topologies/embedded"
)

// lame is a provider that can do nothing.
type lame struct{}

func (lame) Name() string                               { return topologies.Process }
func (lame) Can(context.Context, topologies.Spec) error { return errors.New("nothing is installed") }
func (lame) Start(context.Context, topologies.Spec) (*topologies.Topology, error) {
	return nil, errors.New("nothing is installed")
}

func TestDoctorPrintsEveryFindingAndTheChoiceOfAuto(t *testing.T) {
	var out, errOut bytes.Buffer
	if status := lockbench(t.Context(), []string{"doctor"}, &out, &errOut); status != statusPass {
		t.Fatalf("status %d: %s", status, errOut.String())
	}
	for _, word := range []string{"cores", "GOMAXPROCS", "ping-pong of two threads", "timer lateness", "servers", "auto would choose", "This machine is fit"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("doctor does not say %q:\n%s", word, out.String())
		}
	}
}

func TestDoctorsJSONHasTheVerdict(t *testing.T) {
	var out, errOut bytes.Buffer
	if status := lockbench(t.Context(), []string{"doctor", "--json"}, &out, &errOut); status != statusPass {
		t.Fatalf("status %d: %s", status, errOut.String())
	}
	var d diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Schema != "lockbench/doctor/v1" || len(d.Checks) < 5 || len(d.Providers) != len(providers()) || d.Auto == "" {
		t.Errorf("got %+v", d)
	}
}

func TestAMachineWithoutAnyProviderIsNotFit(t *testing.T) {
	d := diagnose(t.Context(), []topologies.Provider{lame{}})
	if d.Verdict != notFit || d.Auto != "" || d.Providers[0].About != "nothing is installed" {
		t.Errorf("got %+v", d)
	}
	var out bytes.Buffer
	if err := d.text(&out); err != nil || !strings.Contains(out.String(), "This machine is not fit.") {
		t.Errorf("%s%v", out.String(), err)
	}
}

func TestAMachineWithTheEmulationOnlyIsWarned(t *testing.T) {
	d := diagnose(t.Context(), []topologies.Provider{lame{}, embedded.Provider{}})
	if d.Verdict != fitBut || !strings.HasPrefix(d.Auto, "embedded") {
		t.Errorf("verdict %q, auto %q", d.Verdict, d.Auto)
	}
}

func TestEachDoubtfulFactIsAdvisedOn(t *testing.T) {
	for fact, values := range map[string]struct{ good, bad string }{
		"cores":             {"2", "1"},
		"governor":          {"performance", "powersave"},
		"load_1m":           {"0.00", "99"},
		"clock_source":      {"tsc", "hpet"},
		"open_files_limit":  {"1048576", "1024"},
		"throttled_periods": {"0", "12"},
		"ping_pong_us":      {"40", "900"},
		"memory_gib":        {"24.0", "0.5"},
	} {
		for value, state := range map[string]string{values.good: stateOK, values.bad: stateWarn} {
			checks := machineChecks(map[string]string{fact: value})
			if len(checks) != 1 || checks[0].State != state || (state == stateWarn) != (checks[0].Advice != "") {
				t.Errorf("%s %s: %+v, want %s", fact, value, checks, state)
			}
		}
	}
	if checks := machineChecks(map[string]string{"cgroup_cpu_limit": "1.5"}); checks[0].State != stateWarn {
		t.Errorf("a CPU quota: %+v", checks)
	}
}

func TestTheEnvironmentTellsTheMachineAndNothingPrivate(t *testing.T) {
	t.Setenv("LOCKBENCH_TEST_PASSWORD", "canary-7Qx")
	e := environment(t.Context())
	for _, k := range []string{"cores", "go", "gomaxprocs", "os", "ping_pong_us"} {
		if e[k] == "" {
			t.Errorf("%s is missing", k)
		}
	}
	if us, err := strconv.ParseFloat(e["ping_pong_us"], 64); err != nil || us < 0 {
		t.Errorf("ping_pong_us %q", e["ping_pong_us"])
	}
	host, _ := os.Hostname()
	home, _ := os.UserHomeDir()
	for k, v := range e {
		for _, private := range []string{host, home, "canary"} {
			if len(private) > 3 && strings.Contains(v, private) {
				t.Errorf("%s tells %q", k, private)
			}
		}
	}
}

func TestQuantilesOfFewValues(t *testing.T) {
	d := []time.Duration{5, 1, 3}
	if quantile(d, 0.5) != 3 || quantile(d, 0.99) != 3 || quantile(d, 1) != 5 || quantile(nil, 0.5) != 0 {
		t.Errorf("got %v %v %v", quantile(d, 0.5), quantile(d, 0.99), quantile(d, 1))
	}
}
