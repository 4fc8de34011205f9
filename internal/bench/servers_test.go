package bench

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/topologies"
)

// used is a reading of a server's CPU at a second of the trial.
func used(at int, cpu time.Duration) serverReading {
	return serverReading{at: time.Duration(at) * time.Second, sample: topologies.Sample{CPU: &cpu}}
}

func TestCPUIsBookedToItsSecondAndShownAtOnce(t *testing.T) {
	w := &watch{cpu: map[int]float64{}, from: 2 * time.Second}
	if w.now() != nil {
		t.Error("there is a figure before the first reading")
	}
	w.addCPU([]serverReading{used(1, 0), used(1, 0)}, []serverReading{used(2, ms(500)), used(2, ms(250))}) // before the window
	w.addCPU([]serverReading{used(3, ms(500)), used(3, ms(250))}, []serverReading{used(4, ms(800)), used(4, ms(350))})
	_, cpu := w.readings()
	if got := w.now(); got == nil || *got < 0.39 || *got > 0.41 || len(cpu) != 1 || cpu[1] != *got {
		t.Errorf("cores by second %v, now %v; want 0.4 in second 1", cpu, got)
	}
	w.addCPU([]serverReading{{}}, []serverReading{{at: time.Second}})
	if w.now() != nil {
		t.Error("servers that tell no CPU have a figure")
	}
}

func TestCallsOfAServerThatDidNotAnswerAreNotCompared(t *testing.T) {
	after := topologies.Sample{Calls: map[string]int64{"set": 1000}}
	before := topologies.Sample{Calls: map[string]int64{"set": 900, "info": 7}}
	if got := callsBetween(before, after); got != 100 {
		t.Errorf("%d calls, want 100", got)
	}
	if got := callsBetween(topologies.Sample{}, after); got != 0 {
		t.Errorf("%d calls since a reading that failed, want 0", got)
	}
}
