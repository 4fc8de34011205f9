package topologies

import (
	"fmt"
	"os"
	"strings"
)

// bootID changes with every boot of the machine.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// startTime is field 22 of /proc/PID/stat, in clock ticks since boot. The name in field 2 may hold blanks and
// brackets, so counting starts behind its last bracket. Source: proc_pid_stat(5).
func startTime(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	s := string(b)
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
