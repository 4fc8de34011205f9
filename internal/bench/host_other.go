//go:build !linux

package bench

import (
	"runtime/metrics"
	"time"
)

// processCPU is the runtime's estimate: it counts what the Go code used.
func processCPU() time.Duration {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}

func machineCPU() time.Duration { return 0 }

func throttledPeriods() int64 { return 0 }
