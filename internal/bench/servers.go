package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/topologies"
)

// sampleTimeout bounds one reading of a server's counters: a server that needs longer does not answer.
const sampleTimeout = 2 * time.Second

// serverReading is one server's counters at one moment.
type serverReading struct {
	at      time.Duration
	sample  topologies.Sample
	traffic strategies.Traffic
}

func readServers(ctx context.Context, c clock.Clock, servers []topologies.Server) ([]serverReading, error) {
	all, errs := make([]serverReading, len(servers)), make([]error, len(servers))
	g := c.NewGroup()
	for i, s := range servers {
		g.Go(func() {
			ctx, cancel := c.WithTimeout(context.WithoutCancel(ctx), sampleTimeout)
			defer cancel()
			var sample topologies.Sample
			if sample, errs[i] = s.Sample(ctx); errs[i] != nil {
				errs[i] = fmt.Errorf("%s does not answer: %w", s.Name, errs[i])
			}
			all[i] = serverReading{at: c.Now(), sample: sample, traffic: s.Traffic()}
		})
	}
	g.Wait()
	return all, errors.Join(errs...)
}

// idle is the CPU that servers use with connections open and no load, as a share of a core each; nil where a server
// does not tell.
func idle(ctx context.Context, c clock.Clock, servers []topologies.Server, d time.Duration) ([]*float64, error) {
	before, err := readServers(ctx, c, servers)
	if err != nil {
		return nil, err
	}
	if err := c.Sleep(ctx, d); err != nil {
		return nil, err
	}
	after, err := readServers(ctx, c, servers)
	if err != nil {
		return nil, err
	}
	all := make([]*float64, len(servers))
	for i := range servers {
		if used := cpuBetween(before[i], after[i]); used != nil {
			all[i] = results.Ptr(used.Seconds() / (after[i].at - before[i].at).Seconds())
		}
	}
	return all, nil
}

func cpuBetween(before, after serverReading) *time.Duration {
	if before.sample.CPU == nil || after.sample.CPU == nil {
		return nil
	}
	return results.Ptr(max(0, *after.sample.CPU-*before.sample.CPU))
}

// cost is what the servers did between two readings; rtts has one histogram a server.
func cost(servers []topologies.Server, before, after []serverReading, idle []*float64, rtts []*results.Histogram) results.Redis {
	r := results.Redis{ByCommand: map[string]int64{}, Inner: new(int64)}
	var calls, counted int64
	for i, s := range servers {
		b, a := before[i], after[i]
		window := (a.at - b.at).Seconds()
		r.WindowSeconds = max(r.WindowSeconds, window)
		node := results.RedisNode{Name: s.Name, RTT: rtts[i], Errors: a.traffic.Errors - b.traffic.Errors, Version: a.sample.Version}
		if used := cpuBetween(b, a); used != nil && i < len(idle) && idle[i] != nil && window > 0 {
			baseline := *idle[i] * window
			net := max(0, used.Seconds()-baseline)
			node.CPU = results.Ptr(net / window)
			r.CPUSeconds, r.BaselineSeconds = plus(r.CPUSeconds, net), plus(r.BaselineSeconds, baseline)
		}
		for name, n := range commandsBetween(b.traffic, a.traffic) {
			r.ByCommand[name] += n
			r.Commands += n
		}
		*r.Inner += a.traffic.Inner - b.traffic.Inner
		r.Bytes += a.traffic.Bytes - b.traffic.Bytes
		calls += callsBetween(b.sample, a.sample)
		counted += topLevel(b, a)
		r.Nodes = append(r.Nodes, node)
	}
	if calls > 0 && counted > 0 {
		r.CrossCheck = results.Ptr(float64(calls) / float64(counted))
	}
	return r
}

func plus(sum *float64, x float64) *float64 {
	if sum == nil {
		return &x
	}
	return results.Ptr(*sum + x)
}

func commandsBetween(before, after strategies.Traffic) map[string]int64 {
	d := maps.Clone(after.Commands)
	for name, n := range before.Commands {
		d[name] -= n
	}
	maps.DeleteFunc(d, func(_ string, n int64) bool { return n == 0 })
	return d
}

// own commands of the control connection, which the load does not send.
var own = map[string]bool{"info": true, "ping": true, "dbsize": true}

// callsBetween is the server's own count of the commands that clients sent or scripts ran.
func callsBetween(before, after topologies.Sample) (n int64) {
	if before.Calls == nil { // what came before the window is not known
		return 0
	}
	for name, calls := range after.Calls {
		if !own[name] {
			n += calls - before.Calls[name]
		}
	}
	return n
}

func topLevel(before, after serverReading) (n int64) {
	for name, calls := range commandsBetween(before.traffic, after.traffic) {
		if !own[name] {
			n += calls
		}
	}
	return n + after.traffic.Inner - before.traffic.Inner
}

// watch samples servers during a trial: CPU once a second for the series, round trips five times a second. It calls
// lost when a server has not answered for three seconds in a row.
type watch struct {
	servers []topologies.Server
	clock   clock.Clock
	mu      sync.Mutex
	rtts    []*results.Histogram
	cpu     map[int]float64 // cores by second of the measured window
	latest  *float64        // cores at the last reading
	from    time.Duration
	lost    func(error)
}

const (
	pingEvery  = 200 * time.Millisecond
	lostAfter  = 3 // readings in a row
	pingsASlot = int(second / pingEvery)
)

func newWatch(t *Trial, from time.Duration, lost func(error)) *watch {
	w := &watch{servers: t.Topology.Servers, clock: t.Clock, cpu: map[int]float64{}, from: from, lost: lost}
	for range w.servers {
		w.rtts = append(w.rtts, results.NewHistogram(results.DefaultRange))
	}
	return w
}

func (w *watch) run(ctx context.Context) {
	last, _ := readServers(ctx, w.clock, w.servers)
	failed := 0
	for n := 1; ; n++ {
		if w.clock.Sleep(ctx, pingEvery) != nil {
			return
		}
		w.ping(ctx)
		if n%pingsASlot != 0 {
			continue
		}
		next, err := readServers(ctx, w.clock, w.servers)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			w.addCPU(last, next)
			last, failed = next, 0
			continue
		}
		if failed++; failed >= lostAfter {
			w.lost(err)
			return
		}
	}
}

func (w *watch) ping(ctx context.Context) {
	for i, s := range w.servers {
		ctx, cancel := w.clock.WithTimeout(ctx, sampleTimeout)
		rtt, err := s.Ping(ctx)
		cancel()
		if err == nil && w.clock.Now() >= w.from {
			w.mu.Lock()
			w.rtts[i].Record(rtt)
			w.mu.Unlock()
		}
	}
}

// addCPU books the cores that the servers used between two readings to the second in which their middle lies.
func (w *watch) addCPU(last, next []serverReading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest = nil
	for i := range next {
		used := cpuBetween(last[i], next[i])
		if used == nil {
			continue
		}
		cores := used.Seconds() / (next[i].at - last[i].at).Seconds()
		w.latest = plus(w.latest, cores)
		if middle := (last[i].at+next[i].at)/2 - w.from; middle >= 0 {
			w.cpu[int(middle/second)] += cores
		}
	}
}

// now is the cores that the servers used at the last reading; nil where they do not tell.
func (w *watch) now() *float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest
}

func (w *watch) readings() ([]*results.Histogram, map[int]float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rtts := make([]*results.Histogram, len(w.rtts))
	for i, h := range w.rtts {
		rtts[i] = h.Clone()
	}
	return rtts, maps.Clone(w.cpu)
}
