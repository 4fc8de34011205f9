package plots

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench/results"
)

// made describes results that no server made: sessions of a single lock as a queue, with the waits rounded up to
// polls. They look like measurements, and are the same on every machine.
type made struct {
	strategies []string
	retries    map[string]float64 // label -> poll interval in ms
	rates      []float64          // nil: closed loop
	cells      []string           // further matrix coordinates, as "keys.count=1"
	trials     int
	seconds    int
	perSecond  int // sessions recorded
	capacity   float64
	embedded   bool
}

func (m made) data() Data {
	d := Data{
		Run: results.Run{Run: "20260801T120000Z_made_00000000", Status: results.Complete, Topologies: []results.RunTopology{
			{Name: "single", Provider: "process", Versions: []string{"redis 7.0.15"}}}},
		Summary: results.Summary{Scenario: "made", Run: "20260801T120000Z_made_00000000", Status: results.Complete},
	}
	cells, rates := m.cells, m.rates
	if len(cells) == 0 {
		cells = []string{""}
	}
	if len(rates) == 0 {
		rates = []float64{0}
	}
	for _, s := range m.strategies {
		for _, r := range sortedKeys(m.retries) {
			for _, rate := range rates {
				for _, c := range cells {
					m.point(&d, s, r, rate, c)
				}
			}
		}
	}
	return d
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (m made) point(d *Data, strategy, retry string, rate float64, cell string) {
	p := results.Point{Name: strategy + "/" + retry, Params: map[string]string{"strategy": strategy, "retry": retry},
		Trials: m.trials, Valid: m.trials, State: results.Steady, OpenLoop: rate > 0, NoFigures: m.embedded,
		Latency: map[string]*results.Latency{}, Intervals: map[string]results.Interval{}}
	if len(m.rates) > 1 {
		p.Name += fmt.Sprintf("/load.open.rate=%g", rate)
	}
	if cell != "" {
		p.Name += "/" + cell
	}
	if rate > 0 {
		p.RatePerS = results.Ptr(rate)
	}
	capacity := m.capacity * m.speed(strategy)
	if rate >= capacity {
		p.State = results.Saturated
	}
	p.Throughput = results.Ptr(min(rate, capacity))
	if rate == 0 {
		p.Throughput = results.Ptr(capacity)
	}
	hist := map[string]int64{}
	for t := range m.trials {
		tr := m.trial(p, t+1, min(rate/capacity, 0.98), m.retries[retry], m.speed(strategy))
		for k, n := range tr.Attempts.Histogram {
			hist[fmt.Sprint(k)] += n
		}
		d.Trials = append(d.Trials, tr)
	}
	d.Summary.Points = append(d.Summary.Points, p)
	last := &d.Summary.Points[len(d.Summary.Points)-1]
	if retry != "native" {
		last.Attempts = summed(hist)
	}
	if p.State != results.Saturated {
		last.Latency["response"] = d.merged(p, "response").Latency()
	}
	if m.trials >= 6 && !m.embedded {
		b, _ := d.bar(p, "", cpuPerAcquire)
		last.Intervals["redis.cpu_us_per_acquire"] = results.Interval{Median: &b.X, Lo: results.Ptr(b.Spread.Lo * 1.01), Hi: results.Ptr(b.Spread.Hi * 0.99), N: m.trials}
	}
}

func summed(hist map[string]int64) *results.Attempts {
	a := &results.Attempts{Histogram: hist}
	var n, sum, most int64
	for k, c := range hist {
		var v int64
		fmt.Sscan(k, &v)
		n, sum, most = n+c, sum+v*c, max(most, v)
	}
	a.Mean, a.Max = results.Ptr(float64(sum)/float64(n)), &most
	return a
}

// speed of a strategy, 0.5 to 1.
func (m made) speed(strategy string) float64 {
	h := fnv.New32a()
	h.Write([]byte(strategy))
	return 0.5 + float64(h.Sum32()%1000)/2000
}

func (m made) trial(p results.Point, n int, load, poll, speed float64) results.Trial {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(n)))
	t := results.Trial{Point: p.Name, Trial: n, Valid: true, State: p.State, OpenLoop: p.OpenLoop, NoFigures: m.embedded,
		WarmupS: 1, MeasureS: float64(m.seconds), DrainS: 0.4, RatePerS: p.RatePerS,
		Histograms: map[string]*results.Histogram{"response": results.NewHistogram(results.DefaultRange), "handoff": results.NewHistogram(results.DefaultRange)},
		Attempts:   results.AttemptCounts{Counted: true, Histogram: map[int32]int64{}},
		Fairness:   results.Fairness{}}
	closed := p.RatePerS == nil
	if closed {
		load = 0.9
		t.Fairness.Jain = results.Ptr(0.6 + 0.4*rng.Float64())
		t.Fairness.Streaks = results.NewCounts()
	} else {
		t.Fairness.Overtakes = results.NewCounts()
	}
	for sec := -1; sec <= m.seconds; sec++ {
		m.second(&t, rng, sec, load, poll, speed)
	}
	if !m.embedded {
		t.Redis.CPUSeconds = results.Ptr(float64(t.Attempts.All) * (14 + 3*rng.Float64()) / speed / 1e6)
	}
	return t
}

func (m made) second(t *results.Trial, rng *rand.Rand, sec int, load, poll, speed float64) {
	one := results.NewHistogram(results.DefaultRange)
	s := results.Second{AtS: float64(sec), LengthS: 1}
	if sec == m.seconds {
		s.LengthS = 0.4
	}
	for range m.perSecond {
		wait := 0.0
		if rng.Float64() < load {
			wait = rng.ExpFloat64() * 5 / speed / (1 - load)
		}
		attempts := int32(1 + math.Ceil(wait/max(poll, 0.01)))
		if poll == 0 {
			attempts = 1
		} else {
			wait = math.Ceil(wait/poll) * poll * (0.8 + 0.2*rng.Float64())
		}
		response := time.Duration((wait + 0.15 + 0.1*rng.ExpFloat64()) * 1e6)
		one.Record(response)
		s.Scheduled, s.Acquired, s.Attempts = s.Scheduled+1, s.Acquired+1, s.Attempts+int64(attempts)
		if sec < 0 || sec == m.seconds {
			continue
		}
		t.Histograms["response"].Record(response)
		t.Histograms["handoff"].Record(time.Duration((0.1 + poll*rng.Float64()) * 1e6))
		t.Attempts.Histogram[attempts]++
		t.Attempts.All += int64(attempts)
		t.Counts.Acquired++
		t.Counts.Scheduled++
		overtaken, streak := int64(rng.ExpFloat64()*wait/5), 1+int64(rng.ExpFloat64())
		if t.Fairness.Overtakes != nil {
			t.Fairness.Overtakes.RecordN(overtaken, 1)
		} else {
			t.Fairness.Streaks.RecordN(streak, 1)
		}
	}
	s.P50MS, s.P99MS, s.MaxMS = one.Quantile(0.5), one.Quantile(0.99), one.Max()
	if !m.embedded {
		s.RedisCPU = results.Ptr(float64(s.Attempts) * 15e-6 / speed)
	}
	s.GCPauseMS = results.Ptr(0.05 + 0.1*rng.Float64())
	t.Series = append(t.Series, s)
}
