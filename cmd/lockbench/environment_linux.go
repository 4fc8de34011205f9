package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockbench/lockbench/internal/bench"
)

// machineFacts are what Linux tells beside the Go runtime.
func machineFacts() map[string]string {
	return map[string]string{
		"cpu":               cpuModel(),
		"governor":          firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		"kernel":            "Linux " + firstLine("/proc/sys/kernel/osrelease"),
		"load_1m":           firstWord(firstLine("/proc/loadavg")),
		"clock_source":      firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		"cgroup_cpu_limit":  cgroupLimit(),
		"throttled_periods": cgroupValue("cpu.stat", "nr_throttled"),
		"open_files_limit":  openFiles(),
		"memory_gib":        memory(),
	}
}

// firstLine of a small file of the kernel; "" where there is none.
func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// field is the value of the first line "name<blanks>separator value" of a file.
func field(path, name, separator string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		if n, v, ok := strings.Cut(line, separator); ok && strings.TrimSpace(n) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// cpuModel is not told by every architecture.
func cpuModel() string { return field("/proc/cpuinfo", "model name", ":") }

func memory() string {
	kib, err := strconv.ParseFloat(firstWord(field("/proc/meminfo", "MemTotal", ":")), 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.1f", kib/(1<<20))
}

func openFiles() string {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return ""
	}
	return strconv.FormatUint(r.Cur, 10)
}

// cgroupLimit is the smallest quota above this process, in cores; "" where there is none.
func cgroupLimit() string {
	smallest := math.Inf(1)
	for _, dir := range bench.CgroupDirs() {
		quota, period := firstLine(filepath.Join(dir, "cpu.cfs_quota_us")), firstLine(filepath.Join(dir, "cpu.cfs_period_us"))
		if quota == "" {
			quota, period, _ = strings.Cut(firstLine(filepath.Join(dir, "cpu.max")), " ")
		}
		smallest = min(smallest, cores(quota, period))
	}
	if math.IsInf(smallest, 1) {
		return ""
	}
	return strconv.FormatFloat(smallest, 'g', 3, 64)
}

// cores of a quota and its period in microseconds; infinite for "max", -1 and what is no number.
func cores(quota, period string) float64 {
	q, errQ := strconv.ParseFloat(quota, 64)
	p, errP := strconv.ParseFloat(period, 64)
	if errQ != nil || errP != nil || q <= 0 || p <= 0 {
		return math.Inf(1)
	}
	return q / p
}

// cgroupValue is a line of a file of the nearest cgroup that has it.
func cgroupValue(file, name string) string {
	for _, dir := range bench.CgroupDirs() {
		if v := field(filepath.Join(dir, file), name, " "); v != "" {
			return v
		}
	}
	return ""
}

// freeDisk is what this user may still write where path is, or will be made, in bytes.
func freeDisk(path string) (bytes uint64, known bool) {
	for {
		var s syscall.Statfs_t
		if syscall.Statfs(path, &s) == nil {
			return s.Bavail * uint64(s.Bsize), true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return 0, false
		}
		path = parent
	}
}
