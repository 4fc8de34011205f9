//go:build !linux

package clock

import "time"

func anchor() (time.Time, time.Duration) { return time.Now(), 0 }

func newPrecise() precise { return newRuntimeTimer() }
