package container

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/moby/moby/api/types/container"
)

// limit is what a container may use of the processors.
type limit struct {
	nano int64  // quota, in thousandths of a millionth of a core; 0: none
	set  string // CPUs it may run on, as "0-1,3"; "": all
}

var cpuSet = regexp.MustCompile(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`)

// parseCPU reads topology.cpu: a quota as "25%" of one core, or a set of CPUs as "0-1". A set does not stop a server in
// the middle of a command as a quota does, so a quota is there only for whom wants to see just that.
func parseCPU(s string) (limit, error) {
	if s == "" {
		return limit{}, nil
	}
	if cpuSet.MatchString(s) {
		return limit{set: s}, nil
	}
	if n := len(s) - 1; s[n] == '%' {
		percent, err := strconv.ParseFloat(s[:n], 64)
		if err == nil && percent >= 1 && percent <= 100_000 {
			return limit{nano: int64(percent * 1e7)}, nil
		}
	}
	return limit{}, errors.New(`topology.cpu is a share of a core as "25%", at least 1%, or a set of CPUs as "0-1"`)
}

func (l limit) apply(h *container.HostConfig) { h.NanoCPUs, h.CpusetCpus = l.nano, l.set }
