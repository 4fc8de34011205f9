package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/bench"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/topologies"
)

// result of one command line.
type result struct {
	status   int
	out, err string
}

func command(ctx context.Context, args ...string) result {
	var out, errOut bytes.Buffer
	status := lockbench(ctx, args, &out, &errOut)
	return result{status, out.String(), errOut.String()}
}

// file writes a scenario and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const short = `apiVersion: lockbench/v1
name: short
question: Does the whole main job work?
load: {open: {rate: 200/s, arrivals: poisson}}
keys: {count: 3}
hold: 2ms
lock: {ttl: 5s, acquire_timeout: 1s}
resource: {kind: counter}
strategies: [set-px-lua, noop]
retries: [{fixed: 3ms}]
phases: {warmup: 200ms, measure: 1s}
trials: 2
`

// needRedis skips, or fails where LOCKBENCH_REQUIRE names redis.
func needRedis(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	if strings.Contains(os.Getenv("LOCKBENCH_REQUIRE"), "redis") {
		t.Fatal("LOCKBENCH_REQUIRE names redis, but no redis-server is on PATH")
	}
	t.Skip("no redis-server on PATH")
}

func TestRunWritesEverythingAReaderNeeds(t *testing.T) {
	for _, provider := range []string{"embedded", "process"} {
		t.Run(provider, func(t *testing.T) {
			if provider == "process" {
				needRedis(t)
			}
			dir := filepath.Join(t.TempDir(), "run")
			r := command(context.Background(), "run", file(t, short+"thresholds: [\"violations == 0\", \"acquired.share > 90%\"]\n"), "--provider", provider, "--out", dir, "--ops")
			if r.status != statusPass && r.status != statusInvalid { // a busy machine may make a trial invalid, and says so
				t.Fatalf("status %d\n%s\n%s", r.status, r.out, r.err)
			}
			for _, name := range []string{"run.json", "scenario.yaml", "summary.json", "gobench.txt", "report.html", "report.md"} {
				if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, glob := range []string{"trials/*.json", "trials/*.hlog", "trials/*.ops.jsonl"} {
				if all, _ := filepath.Glob(filepath.Join(dir, glob)); len(all) != 4 {
					t.Errorf("%d files %s, want one for each of 4 trials", len(all), glob)
				}
			}
			if all, _ := filepath.Glob(filepath.Join(dir, "charts/*.png")); len(all) < 3 {
				t.Errorf("%d charts", len(all))
			}
			checkRunFolder(t, dir, provider)
			if !strings.Contains(r.out, "set-px-lua") || (provider == "embedded") != strings.Contains(r.out, "not a performance figure") {
				t.Errorf("table:\n%s", r.out)
			}
		})
	}
}

func checkRunFolder(t *testing.T, dir, provider string) {
	t.Helper()
	d, err := results.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d.Run.Status != results.Complete || len(d.Trials) != 4 || len(d.Summary.Points) != 2 {
		t.Fatalf("status %s, %d trials, %d points", d.Run.Status, len(d.Trials), len(d.Summary.Points))
	}
	for _, p := range d.Summary.Points {
		c := p.Counts
		if sum := c.Acquired + c.Rejected + c.GaveUp + c.Timeout + c.Error + c.Dropped; sum != c.Scheduled || sum == 0 {
			t.Errorf("%s: outcomes add up to %d of %d", p.Name, sum, c.Scheduled)
		}
		if p.Verdict == nil || *p.Verdict != results.Safe {
			t.Errorf("%s: verdict %v, want safe", p.Name, p.Verdict)
		}
		if has := p.Redis.CPUPerAcquire != nil; has != (provider == "process" && p.Params["strategy"] == "set-px-lua") {
			t.Errorf("%s on %s: redis CPU known: %v", p.Name, provider, has)
		}
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)
	defer cancel()
	cancelled, stop := context.WithCancel(context.Background())
	defer stop()
	context.AfterFunc(ctx, stop) // an interrupt cancels; it is no deadline
	dir := filepath.Join(t.TempDir(), "run")
	r := command(cancelled, "run", file(t, short), "--provider", "embedded", "--out", dir, "--set", "phases.measure=30s")
	if r.status != statusInterrupted {
		t.Fatalf("status %d, want %d\n%s", r.status, statusInterrupted, r.err)
	}
	d, err := results.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d.Run.Status != results.Interrupted || len(d.Trials) != 1 || !d.Trials[0].Partial {
		t.Fatalf("run %s with %d trials", d.Run.Status, len(d.Trials))
	}
	if again := command(context.Background(), "report", dir); again.status != statusPass {
		t.Errorf("report of the partial run: status %d\n%s", again.status, again.err)
	}
}

func TestARunCanBeReadBeforeItEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	dir := filepath.Join(t.TempDir(), "run")
	scenario, ended := file(t, short), make(chan result, 1)
	go func() {
		ended <- command(ctx, "run", scenario, "--provider", "embedded", "--out", dir, "--no-progress")
	}()
	until := time.Now().Add(20 * time.Second)
	for _, err := os.Stat(filepath.Join(dir, results.RunFile)); err != nil; _, err = os.Stat(filepath.Join(dir, results.RunFile)) {
		if time.Now().After(until) {
			t.Fatal("there is no run.json, so that a killed run could not be read")
		}
		time.Sleep(5 * time.Millisecond)
	}
	d, err := results.Read(dir)
	if err != nil || d.Run.Status != results.Interrupted || len(d.Run.Points) != 2 {
		t.Errorf("status %q, %d points, %v; want an interrupted run", d.Run.Status, len(d.Run.Points), err)
	}
	stop()
	if r := <-ended; r.status != statusInterrupted {
		t.Errorf("status %d\n%s", r.status, r.err)
	}
}

func TestNothingStartsAfterAnInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	dir := filepath.Join(t.TempDir(), "run")
	if r := command(ctx, "run", file(t, short), "--provider", "embedded", "--out", dir); r.status != statusInterrupted {
		t.Errorf("status %d, want %d\n%s", r.status, statusInterrupted, r.err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a run folder was made")
	}
}

func TestReportReadsRowsThatWaitByTheirOwnMeans(t *testing.T) {
	text := strings.NewReplacer("[set-px-lua, noop]", "[noop]", "{fixed: 3ms}", "native", "measure: 1s", "measure: 300ms").Replace(short)
	dir := filepath.Join(t.TempDir(), "run")
	command(context.Background(), "run", file(t, text), "--out", dir, "--trials", "1", "--no-progress")
	if r := command(context.Background(), "report", dir); r.status != statusPass {
		t.Errorf("status %d\n%s", r.status, r.err)
	}
}

func TestTheStrongestExitStatusWins(t *testing.T) {
	valid := results.Summary{Points: []results.Point{{Valid: 1}}}
	doubtful := results.Summary{Points: []results.Point{{Valid: 1}, {Valid: 0}}}
	expect := func(pass bool) results.Run { return results.Run{Expects: []results.ExpectResult{{Pass: pass}}} }
	threshold := func(r string) results.Run { return results.Run{Thresholds: []results.ThresholdResult{{Result: r}}} }
	both := expect(false)
	both.Thresholds = threshold("unknown").Thresholds
	for name, c := range map[string]struct {
		failure error
		run     results.Run
		summary results.Summary
		want    int
	}{
		"nothing wrong":                        {nil, threshold("pass"), valid, statusPass},
		"interrupted before anything else":     {context.Canceled, expect(false), doubtful, statusInterrupted},
		"the target failed":                    {&bench.TargetError{Err: os.ErrClosed}, expect(false), doubtful, statusFailed},
		"the scenario asks for the impossible": {&bench.RequestError{Err: os.ErrInvalid}, results.Run{}, results.Summary{}, statusUsage},
		"no provider can":                      {&topologies.UnfitError{Want: "auto"}, results.Run{}, results.Summary{}, statusUnfit},
		"a verdict before an invalid trial":    {nil, both, doubtful, statusThreshold},
		"an invalid trial before a threshold":  {nil, threshold("fail"), doubtful, statusInvalid},
		"a threshold unknown":                  {nil, threshold("unknown"), valid, statusInvalid},
		"a threshold failed":                   {nil, threshold("fail"), valid, statusThreshold},
	} {
		if got := endingOf(c.failure, c.run, c.summary).status(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := min(missed, invalid).status(); got != statusInvalid {
		t.Errorf("one file misses a threshold, another is invalid: %d, want %d", got, statusInvalid)
	}
}

func TestExitStatusSaysWhatHappened(t *testing.T) {
	quick := []string{"--provider", "embedded", "--trials", "1", "--no-progress"}
	for name, c := range map[string]struct {
		text string
		args []string
		want int
	}{
		"a threshold is unknown":     {short + "thresholds: [\"response.p99.9 < 1h\"]\n", nil, statusInvalid},
		"a verdict differs":          {short + "expect: {set-px-lua: broken}\n", nil, statusThreshold},
		"a wrong key":                {strings.Replace(short, "hold:", "hodl:", 1), nil, statusUsage},
		"a wrong flag":               {short, []string{"--trails", "3"}, statusUsage},
		"a target that is not there": {short, []string{"--provider", "external", "--address", "127.0.0.1:1"}, statusFailed},
		"an address with a provider": {short, []string{"--provider", "process", "--address", "127.0.0.1:1"}, statusUsage},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", file(t, c.text), "--out", filepath.Join(t.TempDir(), "run")}, quick...)
			if r := command(context.Background(), append(args, c.args...)...); r.status != c.want {
				t.Errorf("status %d, want %d\n%s", r.status, c.want, r.err)
			}
		})
	}
	if r := command(context.Background(), "run", "no-such-scenario"); r.status != statusUsage {
		t.Errorf("unknown scenario: status %d", r.status)
	}
}

func TestJSONIsTheSummaryFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := command(context.Background(), "run", file(t, short), "--provider", "embedded", "--out", dir, "--json", "--trials", "1")
	onDisk, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil || r.out != string(onDisk) {
		t.Fatalf("stdout and summary.json differ (%v)", err)
	}
	var s results.Summary
	if err := json.Unmarshal([]byte(r.out), &s); err != nil || len(s.Points) != 2 {
		t.Fatalf("%d points, %v", len(s.Points), err)
	}
}

func TestResultsAreNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := command(context.Background(), "run", file(t, short), "--provider", "embedded", "--out", dir); r.status != statusFailed || !strings.Contains(r.err, "not empty") {
		t.Fatalf("status %d\n%s", r.status, r.err)
	}
}
