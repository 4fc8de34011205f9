package results

import (
	"slices"
	"testing"
)

func TestEveryMetricHasOneNameADocAndAKnownUnit(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range AllMetrics() {
		if seen[m.Name] || m.Doc == "" {
			t.Errorf("%q: named twice or without doc", m.Name)
		}
		seen[m.Name] = true
		if !slices.Contains([]string{"ms", "us", "per_s", "share", "count", "ratio"}, m.Unit) {
			t.Errorf("%s: unit %q", m.Name, m.Unit)
		}
	}
	for _, name := range []string{"response.p99", "response.p99.9", "acquired.share", "attempts.mean", "attempts.per_acquire",
		"redis.cpu_us_per_acquire", "violations", "mis_deletes", "throughput_per_s", "fairness.jain", "client.pool_wait_share"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestOfAnEmptyPointOnlyCountsAreKnown(t *testing.T) {
	for _, m := range AllMetrics() {
		v := m.Of(Point{})
		isCount := slices.ContainsFunc(Counts{}.Named(), func(c Count) bool { return c.Name == m.Name })
		if (v != nil) != isCount {
			t.Errorf("%s of an empty point = %v", m.Name, v)
		}
	}
}

func TestMetricsReadWhatTheirNameSays(t *testing.T) {
	p := Point{
		Counts:  Counts{Violations: 3},
		Latency: map[string]*Latency{"wait": {P999: Ptr(7.5)}},
		Shares:  map[string]*float64{"timeout": Ptr(0.25)},
	}
	for name, want := range map[string]float64{"violations": 3, "wait.p99.9": 7.5, "timeout.share": 0.25} {
		m, ok := MetricNamed(name)
		if got := m.Of(p); !ok || got == nil || *got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if _, ok := MetricNamed("response.p98"); ok {
		t.Error("response.p98 is known")
	}
}

func TestCountsAddUpFieldByField(t *testing.T) {
	ones := Counts{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}
	for i, n := range ones.Plus(ones).Named() {
		if n.Value != 2*int64(i+1) {
			t.Errorf("%s = %d, want %d", n.Name, n.Value, 2*(i+1))
		}
	}
	var sum int64
	for o := Acquired; o <= Dropped; o++ {
		sum += ones.Of(o)
	}
	if sum != 2+3+4+5+6+7 {
		t.Errorf("outcomes add up to %d, want 27", sum)
	}
}
