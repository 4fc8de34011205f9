package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lockbench/lockbench/internal/bench"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/retry"
)

// defaultRTT is a round trip on one machine: what no real deployment beats.
const defaultRTT = 100 * time.Microsecond

// explanation is what `validate --explain` tells beside the resolved file.
type explanation struct {
	wanted bool
	rtt    time.Duration
}

func (x explanation) write(out io.Writer, s *scenarios.Scenario) error {
	fmt.Fprintf(out, "%s\n# %s\n\n", scenarios.Marshal(s, vocabulary()), extent(s))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "# point\tbusiest key\thold\tbusy\t")
	notes := newNotes()
	for _, p := range s.Points() {
		d, err := x.demand(p)
		if err != nil {
			return fmt.Errorf("point %s: %w", p.Name, err)
		}
		fmt.Fprintf(t, "# %s\t%s of sessions\t%s\t%s\t\n", p.Name, percent(d.share), d.hold.Mean().Round(10*time.Microsecond), d.verdict())
		d.warn(notes)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "#\n# busy: rate x share x (mean hold + round trip of %s), at least; waiting between release and the next try comes on top\n", x.rtt)
	return notes.write(out)
}

func percent(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }

// demand is what the most popular key of a point has to serve.
type demand struct {
	point   scenarios.Point
	name    strategies.Entry
	rtt     time.Duration
	hold    load.Dist
	share   float64       // of the sessions that want the key, or one stripe of it
	rate    float64       // sessions a second, at the peak; of a closed loop: if nobody ever waited
	service time.Duration // E[hold] + RTT: how long one session keeps the key
	busy    float64       // rate x share x service
}

func (x explanation) demand(p scenarios.Point) (demand, error) {
	d := demand{point: p, rtt: x.rtt}
	keys, err := bench.NewKeys(p.Scenario.Keys)
	if err != nil {
		return d, err
	}
	if d.hold, err = bench.NewDist(p.Scenario.Hold); err != nil {
		return d, err
	}
	d.name, _ = strategies.Find(p.Strategy.Name)
	if d.name.Needs == strategies.NeedsNothing {
		d.rtt = 0
	}
	d.share = max(keys.Share(0), keys.Share(keys.Count()-1)) / float64(stripes(p.Strategy.Options))
	d.service = saturated(float64(d.hold.Mean()) + float64(d.rtt))
	d.rate, err = peak(p.Scenario, d.service)
	d.busy = d.rate * d.share * d.service.Seconds()
	return d, err
}

// saturated is a time in nanoseconds, or the longest there is.
func saturated(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// stripes divide the sessions of a key.
func stripes(options map[string]any) int {
	if n, ok := options["shards"].(int); ok {
		return n
	}
	return 1
}

// peak is the highest rate of an open load; bursts count with their mean. A closed loop offers
// clients / (think + service) as long as nobody waits.
func peak(s *scenarios.Scenario, service time.Duration) (float64, error) {
	if c := s.Load.Closed; c != nil {
		think, err := bench.NewDist(c.Think)
		if err != nil {
			return 0, err
		}
		return float64(c.Clients) / max(saturated(float64(think.Mean())+float64(service)), time.Microsecond).Seconds(), nil
	}
	rate := s.Load.Open.Rate
	for _, stage := range s.Load.Open.Stages {
		rate = max(rate, stage.From, stage.To)
	}
	if b := s.Load.Bursts; b != nil {
		rate += float64(b.Size) / b.Every.Seconds()
	}
	return rate, nil
}

func (d demand) open() bool { return d.point.Scenario.Load.Open != nil }

func (d demand) verdict() string {
	switch {
	case d.name.Excludes == strategies.ExcludesNone:
		return "excludes nobody"
	case d.busy < 1:
		return fmt.Sprintf("%.2f", d.busy)
	case d.open():
		return fmt.Sprintf("%.2f unservable", d.busy)
	}
	return fmt.Sprintf("%.2f if nobody waited: clients queue", d.busy)
}

// warn adds what will go wrong, and for which point.
func (d demand) warn(n *notes) {
	s := d.point.Scenario
	if d.open() && d.busy >= 1 && d.name.Excludes != strategies.ExcludesNone {
		n.add(d.point.Name, "unservable: the busiest key is offered at least as much as it can serve; the rest is refused, gives up, times out or is dropped")
	}
	if tail := d.hold.Quantile(0.999); d.name.Expires && !d.name.Renews && s.Lock.TTL < tail {
		n.add(d.point.Name, fmt.Sprintf("ttl %s is below p99.9 of hold, %s: holders will outlive their lock", s.Lock.TTL, tail.Round(time.Millisecond)))
	}
	if slow := d.slowestAcquire(); d.name.Expires && s.Lock.TTL <= slow {
		n.add(d.point.Name, fmt.Sprintf("ttl %s cannot outlast the time to acquire, up to %s: a lock that is won may be over", s.Lock.TTL, slow))
	}
	d.warnPatience(n)
}

// slowestAcquire is the time that one attempt may take: a round trip, or the nodes of a quorum at their limit, side by
// side or one after the other.
func (d demand) slowestAcquire() time.Duration {
	limit, ok := d.point.Strategy.Options["node_timeout"].(time.Duration)
	switch {
	case !ok:
		return d.rtt
	case d.point.Strategy.Options["mode"] == "sequential":
		return limit * time.Duration(d.point.Topology.Nodes)
	}
	return limit
}

// warnPatience compares how long a retry tries with how long it must. In an open loop those who meet a held lock wait
// at least (service / 2 + mean wait between tries) / (1 - busy): the mean of a polled queue with equal holds (Falin and
// Templeton, Retrial Queues), which is the least for any holds. In a closed loop the queue is the clients themselves.
func (d demand) warnPatience(n *notes) {
	if d.name.Excludes == strategies.ExcludesNone {
		return
	}
	p, ok := patienceOf(d.point, d.rtt)
	if !ok {
		return
	}
	var wait time.Duration
	switch {
	case d.open() && d.busy < 1:
		wait = saturated((float64(d.service)/2 + float64(p.between)) / (1 - d.busy))
	case !d.open() && d.busy > 1:
		wait = saturated((1 - 1/d.busy) * d.share * float64(d.point.Scenario.Load.Closed.Clients) * float64(d.service))
	}
	if p.total < wait {
		n.add(d.point.Name, fmt.Sprintf("tries for %s on average, but a held lock takes %s or more to get: many will give up",
			p.total.Round(time.Millisecond), wait.Round(time.Millisecond)))
	}
}

// patience of a retry: how long it tries before it gives up, and the mean wait between two tries.
type patience struct{ total, between time.Duration }

const (
	patienceRuns  = 200
	patienceTries = 10_000 // beyond so many, the acquire timeout decides
)

// patienceOf plays a polling policy that never succeeds; false where there is nothing to play: one try, or a wait by
// the strategy's own means.
func patienceOf(p scenarios.Point, rtt time.Duration) (patience, bool) {
	policy, mode, err := bench.NewPolicy(p.Retry)
	if err != nil || mode != retry.Poll {
		return patience{}, false
	}
	limit := p.Scenario.Lock.AcquireTimeout
	var sum patience
	waits := 0
	for run := range patienceRuns {
		f := retry.Failed{N: 1, Rand: load.Stream(1, "patience", uint64(run))}
		for ; f.N < patienceTries; f.N++ {
			wait, again := policy(f)
			if !again || f.Elapsed+wait >= limit {
				break
			}
			f.Prev, f.Elapsed = wait, f.Elapsed+wait+rtt
			sum.between += wait
			waits++
		}
		if f.N >= patienceTries {
			f.Elapsed = limit
		}
		sum.total += f.Elapsed
	}
	if waits == 0 {
		return patience{}, false
	}
	return patience{sum.total / patienceRuns, sum.between / time.Duration(waits)}, true
}

// notes collects warnings and the points that each is about.
type notes struct {
	texts  []string
	points map[string][]string
}

func newNotes() *notes { return &notes{points: map[string][]string{}} }

func (n *notes) add(point, text string) {
	if !slices.Contains(n.texts, text) {
		n.texts = append(n.texts, text)
	}
	n.points[text] = append(n.points[text], point)
}

func (n *notes) write(out io.Writer) error {
	for _, t := range n.texts {
		points := n.points[t]
		more := ""
		if len(points) > 4 {
			points, more = points[:3], fmt.Sprintf(" and %d more", len(points)-3)
		}
		if _, err := fmt.Fprintf(out, "# warning: %s\n#   (%s%s)\n", t, strings.Join(points, ", "), more); err != nil {
			return err
		}
	}
	return nil
}
