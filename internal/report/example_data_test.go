package report

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/results"
)

// row of the example: how a point behaves. Times are means in milliseconds.
type row struct {
	strategy, retry string
	cell            string  // after label and retry, as "load.open.rate=100"
	rate            float64 // offered, 1/s
	wait, attempts  float64
	cpu             float64 // us per acquire; 0: none known
	commands        float64
	state           results.State
	verdict         results.Verdict
	change          func(*results.Trial)
}

const msec = float64(time.Millisecond)

// trial of a row, as a run of three seconds would give it. Equal arguments give equal trials.
func (r row) trial(point string, trial, order int) results.Trial {
	random := rand.New(rand.NewPCG(uint64(order), uint64(trial)))
	hs := map[string]*results.Histogram{}
	for _, m := range results.Metrics {
		hs[m] = results.NewHistogram(results.DefaultRange)
	}
	t := results.Trial{
		Schema: results.TrialSchema, Run: exampleID, Scenario: "hot-key", Point: point, Slug: fmt.Sprintf("p%d", order),
		Params: map[string]string{"strategy": r.strategy, "retry": r.retry, "topology": "single", "provider": "process", "client": "go-redis pooled"},
		Trial:  trial, Order: order, Seed: uint64(trial), BeganUTC: fmt.Sprintf("2026-11-30T20:%02d:00Z", order), WarmupS: 1, MeasureS: 3, DrainS: 0.2,
		OpenLoop: true, State: r.state, Valid: true, Verdict: results.Ptr(r.verdict), Histograms: hs, RatePerS: results.Ptr(r.rate),
		Attempts: results.AttemptCounts{Counted: true, Histogram: map[int32]int64{}},
	}
	if r.cell != "" {
		t.Params["load.open.rate"] = fmt.Sprint(r.rate)
	}
	n := int(3 * r.rate)
	t.Counts.Scheduled = int64(n)
	load := 1 + 0.1*random.Float64()
	for i := range n {
		late := time.Duration(random.ExpFloat64() * 0.05 * msec)
		wait := time.Duration((0.3 + random.ExpFloat64()*r.wait*load) * msec)
		hs["schedule"].Record(late)
		hs["wait"].Record(wait)
		hs["response"].Record(late + wait)
		hs["hold"].Record(time.Duration((5 + random.ExpFloat64()) * msec))
		hs["release"].Record(time.Duration((0.2 + random.ExpFloat64()*0.05) * msec))
		hs["attempt"].Record(time.Duration((0.2 + random.ExpFloat64()*0.1) * msec))
		tries := int32(1 + random.ExpFloat64()*(r.attempts-1))
		t.Attempts.All += int64(tries)
		if r.state == results.Saturated && i%5 == 0 {
			t.Counts.Timeout++
			continue
		}
		t.Counts.Acquired++
		t.Attempts.Histogram[tries]++
		if i%2 == 0 {
			hs["handoff"].Record(time.Duration((0.1 + random.ExpFloat64()*r.wait/10) * msec))
		}
	}
	t.Counts.Released = t.Counts.Acquired
	t.Throughput = float64(t.Counts.Acquired) / 3
	t.Redis = r.redis(t, random)
	t.Client = results.Client{CPUUtilisation: results.Ptr(0.21), SchedulerLatency: latencyOf(random, 0.05), GCPauses: latencyOf(random, 0.02), TimerLateness: latencyOf(random, 0.06), PoolWaitShare: results.Ptr(0.0)}
	overtakes := results.NewCounts()
	for range t.Counts.Acquired {
		overtakes.RecordN(int64(random.ExpFloat64()*r.attempts), 1)
	}
	t.Fairness.Overtakes = overtakes
	t.Series = r.series(t, random)
	if r.change != nil {
		r.change(&t)
	}
	return t
}

func (r row) redis(t results.Trial, random *rand.Rand) results.Redis {
	red := results.Redis{WindowSeconds: 3.2, Commands: int64(r.commands * float64(t.Counts.Acquired)), Bytes: 220 * t.Counts.Acquired,
		ByCommand: map[string]int64{"SET": t.Attempts.All, "EVALSHA": t.Counts.Acquired}, Inner: results.Ptr(2 * t.Counts.Acquired)}
	if r.cpu > 0 {
		red.CPUSeconds = results.Ptr(r.cpu * (1 + 0.05*random.Float64()) * float64(t.Counts.Acquired) / 1e6)
		red.BaselineSeconds = results.Ptr(0.006)
	}
	red.Nodes = []results.RedisNode{{Name: "redis-1", RTT: latencyOf(random, 0.08), CPU: results.Ptr(0.06), Version: "7.4.1"}}
	return red
}

func (r row) series(t results.Trial, random *rand.Rand) []results.Second {
	var out []results.Second
	for s := -1.0; s < 3; s++ {
		out = append(out, results.Second{AtS: s, LengthS: 1, Scheduled: t.Counts.Scheduled / 3, Acquired: t.Counts.Acquired / 3, Attempts: t.Attempts.All / 3,
			P50MS: results.Ptr(0.3 + r.wait*0.7), P99MS: results.Ptr(0.3 + r.wait*(4.5+random.Float64())), MaxMS: results.Ptr(r.wait * 7),
			RedisCPU: results.Ptr(r.cpu * r.rate / 1e6), GCPauseMS: results.Ptr(0.1)})
	}
	return out
}

func latencyOf(random *rand.Rand, mean float64) *results.Histogram {
	h := results.NewHistogram(results.DefaultRange)
	for range 1500 {
		h.Record(time.Duration(random.ExpFloat64() * mean * msec))
	}
	return h
}

const exampleID = "20261130T201000Z_hot-key_1a2b3c4d"

// exampleRows show everything a table has to say: a floor without verdict, saturation, doubt, sabotage, native waiting.
func exampleRows() []row {
	return []row{
		{strategy: "ping", retry: "fail-fast", rate: 400, wait: 0.05, attempts: 1, cpu: 11, commands: 2, state: results.Steady, verdict: results.Safe,
			change: func(t *results.Trial) { t.Verdict = nil }},
		{strategy: "noop", retry: "native", rate: 400, wait: 0.4, attempts: 1, state: results.Steady, verdict: results.Safe,
			change: func(t *results.Trial) { t.Redis = results.Redis{}; t.Attempts = results.AttemptCounts{} }},
		{strategy: "set-px-lua", retry: "fixed-10ms", rate: 400, wait: 12, attempts: 3.4, cpu: 48, commands: 4.4, state: results.Steady, verdict: results.Safe},
		{strategy: "set-px-lua", retry: "full-jitter", rate: 400, wait: 9, attempts: 2.1, cpu: 31, commands: 3.1, state: results.Steady, verdict: results.Safe,
			change: func(t *results.Trial) {
				if t.Trial == 3 {
					t.Warnings = []string{"schedule p99 is 1.4 ms, more than a tenth of response p99"}
				}
			}},
		{strategy: "sharded-4", retry: "full-jitter", rate: 400, wait: 2.5, attempts: 1.2, cpu: 29.5, commands: 2.3, state: results.Steady, verdict: results.Safe},
		{strategy: "redlock-5", retry: "full-jitter", rate: 400, wait: 60, attempts: 9, cpu: 310, commands: 95, state: results.Saturated, verdict: results.Safe},
		{strategy: "set-px-del", retry: "fixed-10ms", rate: 400, wait: 11, attempts: 3.2, cpu: 40, commands: 4.1, state: results.Steady, verdict: results.Broken,
			change: func(t *results.Trial) {
				t.Counts.MisDeletes, t.Counts.Stolen, t.Counts.Released = 4, 4, t.Counts.Released-4
				if t.Trial == 2 {
					t.Verdict = results.Ptr(results.NotKnown)
				}
			}},
		{strategy: "no-ttl", retry: "fixed-10ms", rate: 40, wait: 11, attempts: 3.2, cpu: 0, commands: 4.1, state: results.Unsteady, verdict: results.Deadlock,
			change: func(t *results.Trial) {
				t.Sabotage = "no-ttl"
				t.Counts.ImmortalKeys, t.Counts.OrphanKeys = 1, 1
				t.Valid = t.Trial != 1
				if !t.Valid {
					t.Invalid = []string{"schedule p99 is 9.2 ms, more than max(2 ms, half of response p50)"}
				}
			}},
	}
}

func exampleRun() results.Run {
	return results.Run{
		Schema: results.RunSchema, Run: exampleID, Scenario: "hot-key", Question: "How much load does one hot key carry, and what does waiting cost Redis?",
		Status: results.Complete, Command: []string{"lockbench", "run", "hot-key"}, Version: "0.1.0", Commit: "0123abc", Seed: 42, ScenarioSHA: "9f86d081884c7d65",
		BeganUTC: "2026-11-30T20:10:00Z", EndedUTC: "2026-11-30T20:12:00Z",
		Topologies: []results.RunTopology{{Name: "single", Provider: "process", Why: "redis-server 7.4.1 is on PATH and no container image is present", Servers: []string{"redis-1"}, Versions: []string{"redis 7.4.1"}, Config: map[string]string{"save": "", "appendonly": "no"}}},
		Environment: map[string]string{"cpu": "AMD EPYC 7B13", "cores": "2", "governor": "performance", "kernel": "Linux 6.12.9", "go": "go1.26.0",
			"gomaxprocs": "2", "load_1m": "0.31", "ping_pong_us": "38"},
	}
}

// example is a run of three trials a point in blocks; every block turns the order round.
func example(rows []row) results.RunData {
	d := results.RunData{Run: exampleRun(), Scenario: []byte("apiVersion: lockbench/v1\nname: hot-key\n")}
	for _, r := range rows {
		d.Run.Points = append(d.Run.Points, r.name())
	}
	order := 0
	for block := 1; block <= 3; block++ {
		for i := range rows {
			if block%2 == 0 {
				i = len(rows) - 1 - i
			}
			order++
			d.Trials = append(d.Trials, rows[i].trial(rows[i].name(), block, order))
			d.Run.Order = append(d.Run.Order, fmt.Sprintf("%s#%d", rows[i].name(), block))
		}
	}
	d.Run.Thresholds = []results.ThresholdResult{
		{Threshold: "violations == 0", Point: "set-px-lua/full-jitter", Value: results.Ptr(0.0), Result: "pass"},
		{Threshold: "response.p99 < 40ms", Point: "set-px-lua/fixed-10ms", Value: results.Ptr(57.312), Result: "fail"},
		{Threshold: "redlock-5: response.p99 < 1s", Point: "redlock-5/full-jitter", Result: "unknown"},
	}
	d.Run.Expects = []results.ExpectResult{
		{Point: "no-ttl/fixed-10ms", Expected: results.Deadlock, Got: results.Deadlock, Pass: true},
		{Point: "set-px-del/fixed-10ms", Expected: results.Broken, Got: results.NotKnown},
	}
	return d
}

func (r row) name() string {
	if r.cell != "" {
		return r.strategy + "/" + r.retry + "/" + r.cell
	}
	return r.strategy + "/" + r.retry
}
