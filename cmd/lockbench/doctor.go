package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/topologies"
	"github.com/lockbench/lockbench/topologies/container"
	"github.com/lockbench/lockbench/topologies/process"
)

// Verdicts of doctor.
const (
	fit       = "fit"
	fitBut    = "fit with warnings"
	notFit    = "not fit"
	stateOK   = "ok"
	stateWarn = "warning"
	stateFail = "failure"
)

// diagnosis is what doctor found; --json prints it.
type diagnosis struct {
	Schema    string          `json:"schema"`
	Verdict   string          `json:"verdict"`
	Checks    []check         `json:"checks"`
	Providers []providerState `json:"providers"`
	Auto      string          `json:"auto"` // what auto would choose for one server and why; "" none
	Cleaned   []string        `json:"cleaned,omitempty"`
}

// check is one property of the machine.
type check struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	State  string `json:"state"` // ok, warning, failure
	Advice string `json:"advice,omitempty"`
}

type providerState struct {
	Name  string `json:"name"`
	Can   bool   `json:"can"`
	About string `json:"about"` // what it would use, or why it cannot
}

func newDoctorCommand(a *app) *cobra.Command {
	var asJSON, cleanup bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Is this machine fit to measure?",
		Long: `doctor looks at everything on this machine that could spoil a measurement, and at the servers that lockbench could use.
It starts no server.

Exit status: 0 fit, warnings included; 3 no provider can serve.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), asJSON, cleanup) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	c.Flags().BoolVar(&cleanup, "cleanup", false, "remove what killed runs left: containers and folders of servers whose lockbench runs no more")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON, cleanup bool) error {
	var cleaned []string
	var errCleanup error
	if cleanup {
		cleaned, errCleanup = removeOrphans(ctx)
	}
	d := diagnose(ctx, providers())
	d.Cleaned = cleaned
	if ctx.Err() != nil {
		return &statusError{statusInterrupted, nil}
	}
	write := d.text
	if asJSON {
		write = d.json
	}
	if err := errors.Join(write(a.out), errCleanup); err != nil {
		return &statusError{statusFailed, err}
	}
	if d.Verdict == notFit {
		return &statusError{statusUnfit, nil}
	}
	return nil
}

// removeOrphans removes what runs that were killed could not.
func removeOrphans(ctx context.Context) ([]string, error) {
	containers, errContainers := container.RemoveOrphans(ctx)
	folders, errFolders := process.Provider{}.RemoveOrphans(ctx)
	var removed []string
	for _, c := range containers {
		removed = append(removed, "container "+c)
	}
	for _, f := range folders {
		removed = append(removed, "folder "+f)
	}
	return removed, errors.Join(errContainers, errFolders)
}

// diagnose looks at the machine and asks the candidates what they could do.
func diagnose(ctx context.Context, candidates []topologies.Provider) diagnosis {
	d := diagnosis{Schema: "lockbench/doctor/v1"}
	d.Checks = slices.DeleteFunc(append(machineChecks(environment(ctx)), lateness(ctx), disk()), func(c check) bool { return c.Value == "" })
	d.askProviders(ctx, candidates)
	d.Verdict = fit
	for _, c := range d.Checks {
		if c.State == stateFail {
			d.Verdict = notFit
			return d
		}
		if c.State == stateWarn {
			d.Verdict = fitBut
		}
	}
	return d
}

// askProviders finds what each provider could do for one server, and what auto would choose.
func (d *diagnosis) askProviders(ctx context.Context, candidates []topologies.Provider) {
	spec := topologies.Spec{Shape: topologies.Single, Nodes: 1, Image: container.DefaultImage}
	var asked []topologies.Provider
	for _, p := range candidates {
		a := asking(ctx, p, spec)
		asked = append(asked, a)
		d.Providers = append(d.Providers, providerState{Name: p.Name(), Can: a.cannot == nil, About: a.about()})
	}
	if _, images, err := container.Describe(ctx); err == nil && len(images) > 0 {
		d.Checks = append(d.Checks, check{"images", strings.Join(images, ", "), stateOK, ""})
	}
	chosen, why, err := topologies.Choose(ctx, spec, topologies.Auto, asked)
	d.Auto = why
	d.Checks = append(d.Checks, servers(chosen, err))
}

// answered is a provider that was asked once, because an engine that hangs is slow to say so.
type answered struct {
	topologies.Provider
	cannot error
	reason string
}

func asking(ctx context.Context, p topologies.Provider, s topologies.Spec) answered {
	a := answered{Provider: p, cannot: p.Can(ctx, s)}
	if r, ok := p.(topologies.Reasoner); ok && a.cannot == nil {
		a.reason = r.Reason(ctx, s)
	}
	return a
}

func (a answered) Can(context.Context, topologies.Spec) error     { return a.cannot }
func (a answered) Reason(context.Context, topologies.Spec) string { return a.reason }

func (a answered) about() string {
	if a.cannot != nil {
		return a.cannot.Error()
	}
	return a.reason
}

// servers is the one check that can make a machine unfit.
func servers(chosen topologies.Provider, err error) check {
	const install = "install redis-server, or start Docker with an image of Redis"
	switch {
	case err != nil:
		return check{"servers", "none", stateFail, install}
	case chosen.Name() == topologies.Embedded:
		return check{"servers", chosen.Name(), stateWarn, "an emulation gives no performance figures: " + install}
	}
	return check{"servers", chosen.Name(), stateOK, ""}
}

// rule judges one fact of the environment: advice where it is doubtful, "" where it is well.
type rule struct {
	name, fact, unit string
	advice           func(value string) string
}

// rules stand in the order in which doctor prints them.
var rules = []rule{
	{"CPU", "cpu", "", well},
	{"cores", "cores", "", below(2, "servers and load share one core: figures are of their contention, not of the locks")},
	{"governor", "governor", "", otherThan("the clock rate changes during a measurement: cpupower frequency-set -g performance", "performance")},
	{"kernel", "kernel", "", well},
	{"memory", "memory_gib", " GiB", below(1, "ten thousand sessions need some 300 MB beside the servers")},
	{"CPU quota (cgroup)", "cgroup_cpu_limit", " cores", always("a quota stops this process in the middle of a measurement; a trial that was throttled does not count")},
	{"throttled periods", "throttled_periods", "", above(0, "a quota has stopped this process's group before; see CPU quota")},
	{"load average, 1 min", "load_1m", "", above(float64(runtime.NumCPU())/4, "others use this machine: wait, or use another")},
	{"clock source", "clock_source", "", otherThan("reading this clock is a system call or slower; figures below some microseconds are its own", "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr")},
	{"open files limit", "open_files_limit", "", below(4096, "512 connections to each server need more: ulimit -n 8192")},
	{"container engine", "container_runtime", "", well},
	{"Go", "go", "", well},
	{"GOMAXPROCS", "gomaxprocs", "", below(float64(runtime.NumCPU()), "fewer threads than cores cost up to a third of the throughput and delay every wake-up")},
	{"ping-pong of two threads", "ping_pong_us", " us", above(500, "waking a thread takes long here; latencies at few clients are of this machine, not of the locks")},
}

func machineChecks(facts map[string]string) []check {
	var checks []check
	for _, r := range rules {
		value, ok := facts[r.fact]
		if !ok {
			continue
		}
		c := check{Name: r.name, Value: value + r.unit, State: stateOK, Advice: r.advice(value)}
		if c.Advice != "" {
			c.State = stateWarn
		}
		checks = append(checks, c)
	}
	return checks
}

func well(string) string { return "" }

func always(advice string) func(string) string { return func(string) string { return advice } }

func below(limit float64, advice string) func(string) string {
	return func(value string) string {
		if v, err := strconv.ParseFloat(value, 64); err != nil || v >= limit {
			return ""
		}
		return advice
	}
}

func above(limit float64, advice string) func(string) string {
	return func(value string) string {
		if v, err := strconv.ParseFloat(value, 64); err != nil || v <= limit {
			return ""
		}
		return advice
	}
}

func otherThan(advice string, good ...string) func(string) string {
	return func(value string) string {
		if slices.Contains(good, value) {
			return ""
		}
		return advice
	}
}

const (
	latenessSteps = 200
	latenessStep  = time.Millisecond
	// tooLate is the lateness at which a trial stops to count, when it is the schedule's.
	tooLate = 2 * time.Millisecond
)

// lateness is how late the pacer's own wait ends while nothing else runs here.
func lateness(ctx context.Context) check {
	wall := clock.Wall()
	var late []time.Duration
	at := wall.Now()
	for range latenessSteps {
		at = max(at, wall.Now()) + latenessStep
		if clock.SleepUntil(ctx, wall, at) != nil {
			return check{}
		}
		late = append(late, wall.Now()-at)
	}
	p99 := quantile(late, 0.99)
	c := check{"timer lateness, p99", p99.Round(time.Microsecond).String(), stateOK, ""}
	if p99 > tooLate {
		c.State, c.Advice = stateWarn, "sessions would start late even without load: trials may be invalid"
	}
	return c
}

// enoughDisk is room for a long run with all its sessions kept.
const enoughDisk = 1 << 30

func disk() check {
	free, known := freeDisk(runsFolder)
	if !known {
		return check{}
	}
	c := check{"disk space for " + runsFolder, fmt.Sprintf("%.1f GiB", float64(free)/(1<<30)), stateOK, ""}
	if free < enoughDisk {
		c.State, c.Advice = stateWarn, "a run that keeps every session (--ops) may need more"
	}
	return c
}

func (d diagnosis) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

func (d diagnosis) text(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range d.Checks {
		fmt.Fprintf(t, "%s\t%s\t%s\n", mark(c.State), c.Name, c.Value)
		if c.Advice != "" {
			fmt.Fprintf(t, "\t\t%s\n", c.Advice)
		}
	}
	fmt.Fprintln(t)
	for _, p := range d.Providers {
		can := "can serve"
		if !p.Can {
			can = "cannot"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", p.Name, can, p.About)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range d.Cleaned {
		fmt.Fprintf(out, "removed %s\n", c)
	}
	if d.Auto != "" {
		fmt.Fprintf(out, "\nauto would choose %s\n", d.Auto)
	}
	_, err := fmt.Fprintf(out, "\nThis machine is %s.\n", d.Verdict)
	return err
}

func mark(state string) string {
	return map[string]string{stateOK: "ok", stateWarn: "warn", stateFail: "FAIL"}[state]
}
