package results

import "slices"

// Metric is one number of a point that a threshold, an SLO or an interval may name.
type Metric struct {
	Name, Doc string
	Unit      string // ms, us, per_s, share, count, ratio; as scenarios.Metric
	Main      bool   // its interval over trials is in the summary
	Of        func(Point) *float64
}

// MetricNamed finds a metric.
func MetricNamed(name string) (Metric, bool) {
	all := AllMetrics()
	i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return all[i], true
}

// AllMetrics is the list of everything that can be named, in the order of `lockbench list metrics`.
func AllMetrics() []Metric {
	return slices.Concat(
		latencies("response", "intended start to decision, what a user feels", true),
		latencies("wait", "actual start to decision", true),
		latencies("schedule", "intended to actual start, the generator's own lateness", true),
		latencies("hold", "critical section as realised", false),
		latencies("release", "call to return of the release", false),
		latencies("handoff", "one holder's release to the next grant while somebody waits", true),
		latencies("attempt", "one attempt, whatever its round trips", true),
		latencies("rejection", "intended start to the refusal of a session with one try", false),
		shares(),
		counts(),
		[]Metric{
			{"attempts.mean", "attempts of an acquired session, mean", "ratio", true, attempts(func(a *Attempts) *float64 { return a.Mean })},
			{"attempts.p99", "attempts of an acquired session, 99th percentile", "ratio", false, attempts(func(a *Attempts) *float64 { return a.P99 })},
			{"attempts.max", "attempts of an acquired session, most", "count", false, attempts(func(a *Attempts) *float64 { return number(a.Max) })},
			{"attempts.per_acquire", "attempts of all sessions / sessions acquired", "ratio", true, attempts(func(a *Attempts) *float64 { return a.PerAcquire })},
			{"attempts.first_try_share", "acquired sessions that needed one attempt / acquired", "share", true, attempts(func(a *Attempts) *float64 { return a.FirstTryShare })},
			{"redis.cpu_utilisation", "cores of the servers' main threads", "ratio", true, func(p Point) *float64 { return p.Redis.CPUUtilisation }},
			{"redis.cpu_us_per_acquire", "main-thread CPU / sessions acquired", "us", true, func(p Point) *float64 { return p.Redis.CPUPerAcquire }},
			{"redis.commands_per_acquire", "top-level commands / sessions acquired", "ratio", true, func(p Point) *float64 { return p.Redis.Commands }},
			{"redis.inner_commands_per_acquire", "commands called by scripts / sessions acquired", "ratio", false, func(p Point) *float64 { return p.Redis.Inner }},
			{"redis.bytes_per_acquire", "bytes in both directions / sessions acquired", "ratio", true, func(p Point) *float64 { return p.Redis.Bytes }},
			{"throughput_per_s", "sessions acquired a second of the measured window", "per_s", true, func(p Point) *float64 { return p.Throughput }},
			{"rate_per_s", "sessions offered a second; open loop", "per_s", false, func(p Point) *float64 { return p.RatePerS }},
			{"outage_ms", "longest time without a grant during a fault", "ms", false, func(p Point) *float64 { return p.OutageMS }},
			{"fairness.jain", "Jain's index over clients: 1 is equal, 1/n is one takes all; closed loop", "ratio", true, func(p Point) *float64 { return p.Fairness.Jain }},
			{"fairness.streak_p99", "grants of one key in a row to one client, 99th percentile; closed loop", "count", false, func(p Point) *float64 { return p.Fairness.StreakP99 }},
			{"fairness.reacquire_p50", "a client's release to its own next grant, median; closed loop", "ms", false, func(p Point) *float64 { return p.Fairness.ReacquireP50 }},
			{"fairness.min_per_client", "grants of the client with fewest; closed loop", "count", false, func(p Point) *float64 { return number(p.Fairness.MinPerClient) }},
			{"fairness.max_per_client", "grants of the client with most; closed loop", "count", false, func(p Point) *float64 { return number(p.Fairness.MaxPerClient) }},
			{"fairness.overtakes_p99", "later-intended sessions of the key that were granted first, 99th percentile; open loop", "count", true, func(p Point) *float64 { return p.Fairness.OvertakesP99 }},
			{"client.cpu_utilisation", "cores used by the generator", "ratio", true, func(p Point) *float64 { return p.Client.CPUUtilisation }},
			{"client.gc_pause_p99", "pauses of the generator's garbage collector, 99th percentile", "ms", false, func(p Point) *float64 { return p.Client.GCPauseP99 }},
			{"client.scheduler_latency_p99", "wait of a runnable goroutine, 99th percentile", "ms", false, func(p Point) *float64 { return p.Client.SchedulerP99 }},
			{"client.pool_wait_share", "commands that waited for a connection / commands", "share", false, func(p Point) *float64 { return p.Client.PoolWaitShare }},
		},
	)
}

// latencies are the seven numbers of one distribution. Main ones keep intervals of their median and 99th percentile;
// the response, which is the headline, of the others too.
func latencies(name, doc string, main bool) []Metric {
	of := func(pick func(*Latency) *float64) func(Point) *float64 {
		return func(p Point) *float64 {
			if l := p.Latency[name]; l != nil {
				return pick(l)
			}
			return nil
		}
	}
	all := main && name == "response"
	return []Metric{
		{name + ".p50", doc + ": median", "ms", main, of(func(l *Latency) *float64 { return l.P50 })},
		{name + ".p90", doc + ": 90th percentile", "ms", all, of(func(l *Latency) *float64 { return l.P90 })},
		{name + ".p99", doc + ": 99th percentile", "ms", main, of(func(l *Latency) *float64 { return l.P99 })},
		{name + ".p99.9", doc + ": 99.9th percentile", "ms", all, of(func(l *Latency) *float64 { return l.P999 })},
		{name + ".mean", doc + ": mean", "ms", all, of(func(l *Latency) *float64 { return l.Mean })},
		{name + ".max", doc + ": largest", "ms", false, of(func(l *Latency) *float64 { return l.Max })},
		{name + ".count", doc + ": how many were recorded", "count", false, of(func(l *Latency) *float64 { return Ptr(float64(l.Count)) })},
	}
}

// shares of the outcomes among scheduled sessions.
func shares() []Metric {
	var out []Metric
	for _, o := range Outcomes() {
		out = append(out, Metric{o + ".share", "sessions with outcome " + o + " / sessions scheduled", "share", o == "acquired",
			func(p Point) *float64 { return p.Shares[o] }})
	}
	return out
}

// counts by their names, as in `violations == 0`.
func counts() []Metric {
	var out []Metric
	for i, c := range (Counts{}).Named() {
		out = append(out, Metric{c.Name, c.Doc, "count", false,
			func(p Point) *float64 { return Ptr(float64(p.Counts.Named()[i].Value)) }})
	}
	return out
}

func attempts(pick func(*Attempts) *float64) func(Point) *float64 {
	return func(p Point) *float64 {
		if p.Attempts == nil {
			return nil
		}
		return pick(p.Attempts)
	}
}

func number(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return Ptr(float64(*n))
}
