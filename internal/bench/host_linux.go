package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of /proc/stat, which the kernel fixes at 1/100 s for user space.
const tick = 10 * time.Millisecond

func processCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// machineCPU is the busy time of all processors: user, nice, system, irq, softirq and steal of /proc/stat.
func machineCPU() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := strings.Fields(string(line))
	var busy int64
	for i, f := range fields {
		switch i {
		case 1, 2, 3, 6, 7, 8:
			n, _ := strconv.ParseInt(f, 10, 64)
			busy += n
		}
	}
	return time.Duration(busy) * tick
}

// throttledPeriods is how often a cgroup quota stopped this process, at any level of its groups.
func throttledPeriods() (sum int64) {
	for _, dir := range CgroupDirs() {
		b, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if value, ok := strings.CutPrefix(line, "nr_throttled "); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
				sum += n
			}
		}
	}
	return sum
}
