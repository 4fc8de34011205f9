package bench

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/strategies/clock"
)

// The runtime's own histograms, which cost nothing until they are read.
const (
	schedulerMetric = "/sched/latencies:seconds"
	gcMetric        = "/sched/pauses/total/gc:seconds"
)

// clientReading is the generator's state at one moment.
type clientReading struct {
	at        time.Duration
	cpu       time.Duration
	machine   time.Duration // busy time of all processors; 0 where it cannot be read
	throttled int64
	runtime   [2]*metrics.Float64Histogram
}

func readClient(c clock.Clock) clientReading {
	return clientReading{at: c.Now(), cpu: processCPU(), machine: machineCPU(), throttled: throttledPeriods(), runtime: readRuntime()}
}

// readRuntime is the scheduler's latencies and the garbage collector's pauses so far.
func readRuntime() [2]*metrics.Float64Histogram {
	samples := []metrics.Sample{{Name: schedulerMetric}, {Name: gcMetric}}
	metrics.Read(samples)
	return [2]*metrics.Float64Histogram{copied(samples[0]), copied(samples[1])}
}

// copied keeps a histogram beyond the next reading, which may reuse its memory.
func copied(s metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return &metrics.Float64Histogram{}
	}
	h := s.Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
}

// since is what the generator did between two readings; servers is the CPU time of servers on this machine.
func (r clientReading) since(before clientReading, servers time.Duration) results.Client {
	window := (r.at - before.at).Seconds()
	c := results.Client{
		SchedulerLatency: between(before.runtime[0], r.runtime[0]),
		GCPauses:         between(before.runtime[1], r.runtime[1]),
		ThrottledPeriods: r.throttled - before.throttled,
	}
	if window <= 0 {
		return c
	}
	c.CPUUtilisation = results.Ptr((r.cpu - before.cpu).Seconds() / window)
	if r.machine > 0 {
		other := (r.machine - before.machine) - (r.cpu - before.cpu) - servers
		c.OtherLoad = results.Ptr(max(0, other.Seconds()/window))
	}
	return c
}

// between is the difference of two readings of a cumulative histogram. A bucket counts at its upper end, so that no
// delay looks shorter than it was.
func between(before, after *metrics.Float64Histogram) *results.Histogram {
	h := results.NewHistogram(results.DefaultRange)
	for i, n := range after.Counts {
		if i < len(before.Counts) {
			n -= before.Counts[i]
		}
		if n == 0 {
			continue
		}
		end := after.Buckets[i+1]
		if math.IsInf(end, 1) {
			end = after.Buckets[i]
		}
		h.RecordN(int64(math.Ceil(end*1e6)), int64(n))
	}
	return h
}
