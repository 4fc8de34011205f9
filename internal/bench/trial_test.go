package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/topologies"
	"github.com/lockbench/lockbench/topologies/process"
)

// scenario is a short one on one key, to be changed by tests.
func scenario() *scenarios.Scenario {
	return &scenarios.Scenario{
		Name: "test", Seed: 7,
		Topology: scenarios.Topology{Shape: topologies.Single, Nodes: 1},
		Load:     scenarios.Load{Open: &scenarios.Open{Rate: 100, Arrivals: "poisson"}, MaxInFlight: 1000},
		Client:   scenarios.Client{Library: "go-redis", Mode: "pooled", Open: "before"},
		Keys:     scenarios.Keys{Count: 1, Popularity: scenarios.Popularity{Kind: "uniform"}},
		Hold:     scenarios.Dist{Kind: "constant", Args: map[string]time.Duration{"value": 5 * time.Millisecond}},
		Lock:     scenarios.Lock{TTL: 10 * time.Second, AcquireTimeout: 5 * time.Second},
		Resource: scenarios.Resource{Kind: "counter"},
		Phases:   scenarios.Phases{Warmup: 200 * time.Millisecond, Measure: 2 * time.Second},
		Trials:   scenarios.Trials{Count: 1},
	}
}

func point(s *scenarios.Scenario, strategy, retry string, args map[string]any) scenarios.Point {
	return scenarios.Point{
		Name: strategy + "/" + retry, Slug: strategy + "." + retry, Topology: s.Topology, Scenario: s,
		Strategy: scenarios.Strategy{Name: strategy, Label: strategy}, Retry: scenarios.Retry{Name: retry, Label: retry, Args: args},
	}
}

// redis starts a private server for the test.
func redis(t testing.TB, p scenarios.Point) *topologies.Topology {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if strings.Contains(os.Getenv("LOCKBENCH_REQUIRE"), "redis") {
			t.Fatal("LOCKBENCH_REQUIRE names redis, but no redis-server is on PATH")
		}
		t.Skip("no redis-server on PATH")
	}
	ctx := context.Background()
	top, err := process.Provider{}.Start(ctx, Spec(p, "test"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.Close(ctx) })
	return top
}

// measure runs one trial and returns it with its sessions.
func measure(t testing.TB, ctx context.Context, top *topologies.Topology, p scenarios.Point) (results.Trial, []results.Op, error) {
	t.Helper()
	var log, ops bytes.Buffer
	base, err := idle(context.Background(), clock.Wall(), top.Servers, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	trial := &Trial{Run: "test", Scenario: "test", Point: p, Number: 1, Order: 1, Seed: 7, Clock: clock.Wall(), Topology: top, Idle: base, HLog: &log, Ops: &ops}
	got, err := trial.Measure(ctx)
	var all []results.Op
	for d := json.NewDecoder(&ops); ; {
		var op results.Op
		if d.Decode(&op) != nil {
			break
		}
		all = append(all, op)
	}
	return got, all, err
}

func checkSums(t *testing.T, c results.Counts) {
	t.Helper()
	if sum := c.Acquired + c.Rejected + c.GaveUp + c.Timeout + c.Error + c.Dropped; sum != c.Scheduled || c.Scheduled == 0 {
		t.Errorf("outcomes add up to %d of %d scheduled: %+v", sum, c.Scheduled, c)
	}
	if sum := c.Released + c.Expired + c.Stolen + c.ReleaseUnknown; sum != c.Acquired {
		t.Errorf("release outcomes add up to %d of %d acquired: %+v", sum, c.Acquired, c)
	}
}

// TestLindley holds the recorded waits of an in-process FIFO lock against Lindley's recursion, session by session:
// W[n+1] = max(0, W[n] + S[n] - A[n]). Source: D. V. Lindley, The Theory of Queues with a Single Server, 1952.
func TestLindley(t *testing.T) {
	s := scenario()
	s.Hold = scenarios.Dist{Kind: "exponential", Args: map[string]time.Duration{"mean": 5 * time.Millisecond}}
	s.Load.Open.Rate = 120
	p := point(s, "noop", "native", nil)
	got, ops, err := measure(t, context.Background(), inProcess().topology, p)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, got.Counts)
	checkLindley(t, ops)
}

// checkLindley replays the recursion with realised starts and holds. A session's service ends when the next one can
// be granted: when its release has returned. What remains is the time a hand-over takes, which no recursion knows:
// a session may be granted later than the recursion says by that, and never earlier.
func checkLindley(t *testing.T, ops []results.Op) {
	t.Helper()
	sort.Slice(ops, func(i, j int) bool { return ops[i].Decided < ops[j].Decided })
	var late []time.Duration
	passed := 0
	for i := 1; i < len(ops); i++ {
		free := ops[i-1].Left
		expected := max(ops[i].Started, free)
		if ops[i].Decided < expected {
			t.Fatalf("session %d was granted %v before the lock was free and wanted", ops[i].N, expected-ops[i].Decided)
		}
		if ops[i-1].Started > ops[i].Started+time.Millisecond { // a session may be held up between its start and the queue
			passed++
		}
		late = append(late, ops[i].Decided-expected)
	}
	if passed > len(ops)/50 {
		t.Fatalf("%d of %d sessions were not granted first come, first served", passed, len(ops))
	}
	sort.Slice(late, func(i, j int) bool { return late[i] < late[j] })
	if median := late[len(late)/2]; median > time.Millisecond {
		t.Fatalf("half of the grants came %v or more after the recursion's moment", median)
	}
}

func TestTrialOnRedisMeasuresWhatItDoes(t *testing.T) {
	s := scenario()
	p := point(s, "set-px-lua", "fixed", map[string]any{"wait": 2 * time.Millisecond})
	got, ops, err := measure(t, context.Background(), redis(t, p), p)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, got.Counts)
	if got.Verdict == nil || *got.Verdict != results.Safe {
		t.Errorf("verdict %v (%s), want safe", got.Verdict, got.Reason)
	}
	if got.Counts.OrphanKeys+got.Counts.ImmortalKeys != 0 {
		t.Errorf("keys left behind: %+v", got.Counts)
	}
	if c := got.Redis.CrossCheck; c == nil || *c < 0.9 || *c > 1.1 {
		t.Errorf("commandstats and our own count differ: ratio %v", c)
	}
	if got.Redis.CPUSeconds == nil || got.Redis.Bytes == 0 || got.Redis.Commands < 2*got.Counts.Acquired {
		t.Errorf("cost = %+v", got.Redis)
	}
	if int64(len(ops)) < got.Counts.Scheduled {
		t.Errorf("%d sessions kept, %d scheduled", len(ops), got.Counts.Scheduled)
	}
	if h := got.Histograms["handoff"]; h.Count() == 0 {
		t.Error("no hand-off was seen though sessions waited")
	}
}

func TestInterruptedTrialIsAPartialOne(t *testing.T) {
	s := scenario()
	p := point(s, "noop", "native", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 1200*time.Millisecond)
	defer cancel()
	got, _, err := measure(t, ctx, inProcess().topology, p)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, got.Counts)
	if !got.Partial || got.MeasureS > 1.5 || *got.Verdict == results.Safe {
		t.Errorf("partial %v, measured %v s, verdict %v", got.Partial, got.MeasureS, *got.Verdict)
	}
}

func TestOverloadIsCalledSaturated(t *testing.T) {
	s := scenario()
	s.Load.Open.Rate, s.Lock.AcquireTimeout = 400, 500*time.Millisecond
	got, _, err := measure(t, context.Background(), inProcess().topology, point(s, "noop", "native", nil))
	if err != nil {
		t.Fatal(err)
	}
	if got.State != results.Saturated || got.Counts.Timeout == 0 {
		t.Errorf("state %v, %d timeouts; want saturated", got.State, got.Counts.Timeout)
	}
}

func TestColdPoolIsOpenedByTheLoad(t *testing.T) {
	s := scenario()
	s.Client.Open, s.Phases.Measure = onDemand, time.Second
	p := point(s, "set-px-lua", "fixed", map[string]any{"wait": 2 * time.Millisecond})
	top := redis(t, p)
	for range 2 { // the second trial finds the pool of the first
		got, _, err := measure(t, context.Background(), top, p)
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, got.Counts)
	}
}

// TestAPauseOfTheServerShowsInResponse: a pause of P under a Poisson rate r delays about r x P sessions, by P/2 on
// average, so the mean over a window T rises by about P^2 / (2 T). A generator that waits for its server hides that.
// Source: coordinated omission as in brianfrankcooper/YCSB pull 214 and PerfCake issue 258.
func TestAPauseOfTheServerShowsInResponse(t *testing.T) {
	const pause, rate = 3 * time.Second, 200.0
	s := scenario()
	s.Load.Open.Rate, s.Keys.Count, s.Hold = rate, 1000, constantly(0)
	s.Phases, s.Lock.AcquireTimeout = scenarios.Phases{Warmup: time.Second, Measure: 6 * time.Second}, 20*time.Second
	p := point(s, "set-px-lua", "fail-fast", nil)
	top := redis(t, p)
	warm(t, top, 700)
	stopped := time.AfterFunc(2500*time.Millisecond, func() {
		if _, err := top.Servers[0].Control.Do(context.Background(), "CLIENT", "PAUSE", pause.Milliseconds(), "ALL"); err != nil {
			t.Error(err)
		}
	})
	defer stopped.Stop()
	got, ops, err := measure(t, context.Background(), top, p)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, got.Counts)
	delayed := 0
	for _, op := range ops {
		if op.Decided-op.Intended > pause/10 {
			delayed++
		}
	}
	if want := 0.9 * rate * pause.Seconds(); float64(delayed) < 0.8*want || float64(delayed) > 1.2*want {
		t.Errorf("%d sessions were delayed by a tenth of the pause or more, want about %.0f", delayed, want)
	}
	// The Poisson count in the pause varies by 4 %, and other work on the machine delays sessions too.
	want := pause.Seconds() * pause.Seconds() / 2 / s.Phases.Measure.Seconds() * 1000
	if mean := *got.Histograms["response"].Mean(); mean < 0.8*want || mean > 1.3*want {
		t.Errorf("mean response %.0f ms, want about %.0f", mean, want)
	}
	t.Logf("mean response %.0f ms, computed %.0f; %d sessions delayed, computed %.0f", *got.Histograms["response"].Mean(), want, delayed, 0.9*rate*pause.Seconds())
}

func TestCostsAreCountedFromTheMomentTheWindowOpens(t *testing.T) {
	s := scenario()
	s.Load.Open.Arrivals, s.Load.Open.Rate = "constant", 400
	s.Phases = scenarios.Phases{Warmup: 333 * time.Millisecond, Measure: time.Second} // no multiple of the collector's tick
	p := point(s, "ping", "fail-fast", nil)
	got, _, err := measure(t, context.Background(), redis(t, p), p)
	if err != nil {
		t.Fatal(err)
	}
	if each := float64(got.Redis.Commands) / float64(got.Counts.Acquired); each < 1.98 || each > 2.02 {
		t.Errorf("%d commands for %d acquisitions, %.3f each; PING is sent twice", got.Redis.Commands, got.Counts.Acquired, each)
	}
}

func TestAServerThatRefusesEverySessionIsAFailedTarget(t *testing.T) {
	for _, c := range []struct{ strategy, maxmemory, says string }{
		{"set-px-lua", "1", "sessions ended with an error: OOM"},
		{"set-px-lua delex", "0", "releases failed"},
	} {
		s := scenario()
		s.Load.Open.Rate, s.Phases.Measure, s.Keys.Count = 20, time.Second, 100
		name, delex, _ := strings.Cut(c.strategy, " ")
		p := point(s, name, "fail-fast", nil)
		if delex != "" {
			p.Strategy.Options = map[string]any{"delex": true} // Redis 7.0 has no DELEX
		}
		top := redis(t, p)
		if _, err := top.Servers[0].Control.Do(context.Background(), "CONFIG", "SET", "maxmemory", c.maxmemory); err != nil {
			t.Fatal(err)
		}
		got, _, err := measure(t, context.Background(), top, p)
		var failed *TargetError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.strategy, err, c.says)
		}
		if !strings.Contains(strings.Join(got.Warnings, "; "), c.says) {
			t.Errorf("%s: warnings %q do not say %q", c.strategy, got.Warnings, c.says)
		}
	}
}
