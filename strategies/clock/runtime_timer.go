package clock

import "time"

// runtimeTimer is the alarm's timer where the kernel offers no timer that can be polled.
type runtimeTimer struct{ t *time.Timer }

func newRuntimeTimer() precise {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &runtimeTimer{t}
}

func (r *runtimeTimer) arm(at, now time.Duration) { r.t.Reset(at - now) }

func (r *runtimeTimer) ring() error {
	<-r.t.C
	return nil
}
