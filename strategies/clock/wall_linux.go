package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// anchor pairs a runtime reading with CLOCK_MONOTONIC: the tightest of many brackets, so that a preemption between
// the two readings does no harm.
func anchor() (time.Time, time.Duration) {
	var at time.Time
	var offset time.Duration
	best := time.Hour
	for range 100 {
		before := time.Now()
		mono := monotonic()
		if width := time.Since(before); width < best {
			best, at, offset = width, before, mono-width/2
		}
	}
	return at, offset
}

func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("clock: CLOCK_MONOTONIC cannot be read: " + err.Error())
	}
	return time.Duration(t.Nano())
}

// timerfd is a kernel timer that the runtime's poller watches. It is not subject to timer slack.
type timerfd struct {
	fd   int
	file *os.File
	buf  [8]byte
}

func newPrecise() precise {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newRuntimeTimer()
	}
	return &timerfd{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
}

func (t *timerfd) arm(at, _ time.Duration) {
	// Zero would disarm: a moment in the past is as good as one nanosecond.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(at, 1)))}
	if err := unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		panic("clock: arm timer: " + err.Error())
	}
}

func (t *timerfd) ring() error {
	_, err := t.file.Read(t.buf[:])
	return err
}
