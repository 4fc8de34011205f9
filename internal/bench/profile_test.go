package bench

import (
	"testing"

	"github.com/lockbench/lockbench/strategies/clock"
)

// BenchmarkSession is one uncontended session on a real server with 50 clients, everything on.
func BenchmarkSession(b *testing.B) {
	s := uncontended(50)
	s.Phases.Measure = 4e9
	p := point(s, "set-px-lua", "fail-fast", nil)
	top := redis(b, p)
	for _, x := range top.Servers {
		x.Warm(b.Context(), 50, nil)
	}
	for b.Loop() {
		trial := &Trial{Run: "test", Scenario: "test", Point: p, Number: 1, Order: 1, Seed: 7, Clock: clock.Wall(), Topology: top, HLog: nowhere{}}
		got, err := trial.Measure(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(*got.Client.CPUUtilisation*1e6/got.Throughput, "cpu-us/pair")
		b.ReportMetric(got.Throughput, "pairs/s")
	}
}
