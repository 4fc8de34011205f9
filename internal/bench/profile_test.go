package bench

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkSession is the client's CPU for one uncontended session on a real server, everything on, beside the bare
// loop of the overhead report. With -cpuprofile it shows where the difference goes.
func BenchmarkSession(b *testing.B) {
	for _, clients := range []int{1, 50, 200} {
		s := uncontended(clients)
		s.Phases.Measure = 4 * time.Second
		p := point(s, "set-px-lua", "fail-fast", nil)
		top := redis(b, p)
		b.Run(fmt.Sprintf("lockbench-%d", clients), func(b *testing.B) {
			for b.Loop() {
				report(b, harness(b, top, p))
			}
		})
		bare := newBareLoop(b, top.Servers[0].Address, clients)
		b.Run(fmt.Sprintf("bare-%d", clients), func(b *testing.B) {
			for b.Loop() {
				report(b, bare.run(clients))
			}
		})
	}
}

func report(b *testing.B, p pace) {
	b.ReportMetric(p.cpuMicros, "cpu-us/pair")
	b.ReportMetric(p.perSecond, "pairs/s")
	b.ReportMetric(0, "ns/op")
}
