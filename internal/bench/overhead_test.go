package bench

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/topologies"
)

var overhead = flag.Bool("overhead", false, "measure what lockbench itself costs (make overhead)")

// TestOverheadReport prints what the harness costs. It asserts no time: machines differ, and a report is read.
func TestOverheadReport(t *testing.T) {
	if !*overhead {
		t.Skip("run by make overhead: it measures for minutes")
	}
	t.Run("against a bare go-redis loop", againstBareLoop)
	t.Run("open loop 2000 per s", openLoopReport)
	t.Run("pacing alone", pacingReport)
	t.Run("10000 sessions in flight", inFlightReport)
	t.Run("Lindley", lindleyReport)
}

const (
	overheadRounds = 15 // for the comparison: at one client a round depends on which processors the kernel chose
	openRounds     = 5
	overheadLength = time.Second
)

// pace is what one round of a loop reached.
type pace struct{ perSecond, cpuMicros float64 }

func againstBareLoop(t *testing.T) {
	for _, clients := range []int{1, 50, 200} {
		s := uncontended(clients)
		p := point(s, "set-px-lua", "fail-fast", nil)
		top := redis(t, p)
		warm(t, top, clients)
		bare := newBareLoop(t, top.Servers[0].Address, clients)
		var ours, theirs []pace
		for range overheadRounds { // interleaved, so that the machine's moods fall on both
			theirs = append(theirs, bare.run(clients))
			ours = append(ours, harness(t, top, p))
		}
		speed := func(p pace) float64 { return p.perSecond }
		cpu := func(p pace) float64 { return p.cpuMicros }
		t.Logf("%3d clients: lockbench %.0f pairs/s, bare %.0f, ratio %.3f; client CPU a pair %.1f us, bare %.1f, ratio %.3f",
			clients, median(ours, speed), median(theirs, speed), median(ours, speed)/median(theirs, speed),
			median(ours, cpu), median(theirs, cpu), median(ours, cpu)/median(theirs, cpu))
	}
}

func median(all []pace, of func(pace) float64) float64 {
	v := make([]float64, len(all))
	for i, p := range all {
		v[i] = of(p)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// uncontended has so many keys that two clients rarely want the same, and no hold.
func uncontended(clients int) *scenarios.Scenario {
	s := scenario()
	s.Load = scenarios.Load{Closed: &scenarios.Closed{Clients: clients, Think: constantly(0)}}
	s.Keys.Count, s.Hold, s.Resource = 10_000, constantly(0), scenarios.Resource{}
	s.Phases = scenarios.Phases{Warmup: 300 * time.Millisecond, Measure: overheadLength}
	return s
}

func constantly(d time.Duration) scenarios.Dist {
	return scenarios.Dist{Kind: "constant", Args: map[string]time.Duration{"value": d}}
}

func warm(t *testing.T, top *topologies.Topology, connections int) {
	t.Helper()
	for _, s := range top.Servers {
		if err := s.Warm(context.Background(), connections, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// harness is one round of lockbench: recording, check and sampling on.
func harness(t testing.TB, top *topologies.Topology, p scenarios.Point) pace {
	t.Helper()
	trial := &Trial{Run: "test", Scenario: "test", Point: p, Number: 1, Order: 1, Seed: 7, Clock: clock.Wall(), Topology: top, HLog: nowhere{}}
	got, err := trial.Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return pace{got.Throughput, *got.Client.CPUUtilisation * 1e6 / got.Throughput}
}

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// bareLoop is the shortest program that sends the same commands.
type bareLoop struct {
	client *goredis.Client
	keys   []string
}

func newBareLoop(t testing.TB, address string, clients int) *bareLoop {
	b := &bareLoop{client: goredis.NewClient(&goredis.Options{
		Addr: address, PoolSize: clients, MaxRetries: -1, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true,
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
	t.Cleanup(func() { b.client.Close() })
	if err := bareRelease.Load(context.Background(), b.client).Err(); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		b.keys = append(b.keys, "bare:"+strconv.Itoa(i))
	}
	return b
}

var bareRelease = goredis.NewScript(`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`)

func (b *bareLoop) run(clients int) pace {
	b.loop(clients, 300*time.Millisecond)
	cpu, began := processCPU(), time.Now()
	pairs := b.loop(clients, overheadLength)
	took := time.Since(began).Seconds()
	return pace{float64(pairs) / took, (processCPU() - cpu).Seconds() * 1e6 / float64(pairs)}
}

func (b *bareLoop) loop(clients int, d time.Duration) (pairs int64) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	end := time.Now().Add(d)
	for c := range clients {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(c)))
			owner := "0123456789abcdef0123456789abcd" + strconv.Itoa(10+c%90)
			var n int64
			for time.Now().Before(end) {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				key := b.keys[rnd.IntN(len(b.keys))]
				if ok, _ := b.client.SetNX(ctx, key, owner, 10*time.Second).Result(); ok {
					_, _ = bareRelease.EvalSha(ctx, b.client, []string{key}, owner).Result()
					n++
				}
				cancel()
			}
			mu.Lock()
			pairs += n
			mu.Unlock()
		})
	}
	wg.Wait()
	return pairs
}

func openLoopReport(t *testing.T) {
	s := scenario()
	s.Load.Open = &scenarios.Open{Rate: 2000, Arrivals: "poisson"}
	s.Keys.Count, s.Hold = 10_000, constantly(time.Millisecond)
	s.Phases = scenarios.Phases{Warmup: time.Second, Measure: 5 * time.Second}
	p := point(s, "set-px-lua", "fixed", map[string]any{"wait": 5 * time.Millisecond})
	top := redis(t, p)
	warm(t, top, 100)
	var late []float64
	for range openRounds {
		got, _, err := measureQuietly(t, top, p)
		if err != nil {
			t.Fatal(err)
		}
		late = append(late, *got.Histograms["schedule"].Quantile(0.99))
		t.Logf("valid %v %v, schedule p50 %.3f p99 %.3f ms, response p50 %.3f p99 %.3f ms, client %.2f cores, hold p50 %.3f ms",
			got.Valid, got.Invalid, *got.Histograms["schedule"].Quantile(0.5), late[len(late)-1],
			*got.Histograms["response"].Quantile(0.5), *got.Histograms["response"].Quantile(0.99), *got.Client.CPUUtilisation,
			*got.Histograms["hold"].Quantile(0.5))
	}
	slices.Sort(late)
	t.Logf("schedule p99, median of %d runs: %.3f ms", len(late), late[len(late)/2])
}

func measureQuietly(t *testing.T, top *topologies.Topology, p scenarios.Point) (results.Trial, *Trial, error) {
	trial := &Trial{Run: "test", Scenario: "test", Point: p, Number: 1, Order: 1, Seed: 7, Clock: clock.Wall(), Topology: top, HLog: nowhere{}}
	got, err := trial.Measure(context.Background())
	return got, trial, err
}

// pacingReport runs the schedule with sessions that do nothing: what remains is the pacer.
func pacingReport(t *testing.T) {
	const length = 5 * time.Second
	late := results.NewHistogram(results.DefaultRange)
	var mu sync.Mutex
	c := clock.Wall()
	cpu := processCPU()
	at := load.Arrivals(load.Open{Rate: 2000, Poisson: true, Measure: length, Seed: 7})
	load.OpenLoop(at, 0)(context.Background(), c, c.Now(), func(a load.Arrival) {
		d := c.Now() - a.Intended
		mu.Lock()
		late.Record(d)
		mu.Unlock()
	})
	t.Logf("pacing 2000/s: %.0f %% of a core, %d arrivals, late p50 %.3f p99 %.3f ms",
		(processCPU()-cpu).Seconds()/length.Seconds()*100, late.Count(), *late.Quantile(0.5), *late.Quantile(0.99))
}

func inFlightReport(t *testing.T) {
	s := scenario()
	s.Load = scenarios.Load{Open: &scenarios.Open{Rate: 2500, Arrivals: "poisson"}, MaxInFlight: 10_000}
	s.Hold, s.Lock.AcquireTimeout = constantly(20*time.Millisecond), 5*time.Second
	s.Phases = scenarios.Phases{Warmup: 0, Measure: 8 * time.Second}
	p := point(s, "set-px-lua", "fixed", map[string]any{"wait": 500 * time.Millisecond})
	top := redis(t, p)
	warm(t, top, maxPool)
	before := resident(t, "VmRSS")
	got, _, err := measureQuietly(t, top, p)
	if err != nil {
		t.Fatal(err)
	}
	most := int64(0)
	for _, second := range got.Series {
		most = max(most, second.InFlight)
	}
	t.Logf("most in flight %d over a pool of %d: resident before %s, highest %s; state %s", most, maxPool, before, resident(t, "VmHWM"), got.State)
}

// resident reads a line of the process' memory figures.
func resident(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func lindleyReport(t *testing.T) {
	s := scenario()
	s.Hold = scenarios.Dist{Kind: "exponential", Args: map[string]time.Duration{"mean": 5 * time.Millisecond}}
	s.Load.Open.Rate, s.Phases.Measure = 160, 20*time.Second
	got, ops, err := measure(t, context.Background(), inProcess().topology, point(s, "noop", "native", nil))
	if err != nil {
		t.Fatal(err)
	}
	checkLindley(t, ops)
	t.Logf("noop at utilisation 0.8: %d sessions obey Lindley's recursion, response mean %.3f ms (%s)", len(ops), *got.Histograms["response"].Mean(), fmt.Sprint(got.State))
}
