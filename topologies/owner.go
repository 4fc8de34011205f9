package topologies

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// Owner names the process that started something, well enough to tell later, on any machine that sees the thing,
// whether it still runs: process ids are used again, and several machines may share one Docker daemon.
type Owner struct {
	Host    string `json:"host"`
	Boot    string `json:"boot"` // "" where the system has no boot id
	PID     int    `json:"pid"`
	Started string `json:"started"` // in the system's own unit; "" where it is not told
}

// Self is the Owner of what this process starts.
func Self() Owner {
	host, _ := os.Hostname()
	pid := os.Getpid()
	return Owner{Host: host, Boot: bootID(), PID: pid, Started: startTime(pid)}
}

// Gone reports that the owner certainly runs no more. For an owner on another machine it is false.
func (o Owner) Gone() bool {
	self := Self()
	switch {
	case o.PID <= 0 || o.Host != self.Host:
		return false
	case o.Boot != self.Boot:
		return true
	}
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return false
	}
	defer p.Release()
	if errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return true
	}
	started := startTime(o.PID)
	return started != "" && started != o.Started
}

// Labels are the Owner as words that a container can carry; OwnerFrom reads them.
func (o Owner) Labels() map[string]string {
	return map[string]string{
		OwnerLabel: strconv.Itoa(o.PID), OwnerLabel + ".host": o.Host, OwnerLabel + ".boot": o.Boot, OwnerLabel + ".started": o.Started,
	}
}

// OwnerLabel is carried by everything of ours that could outlive us; its value is the owner's process id.
const OwnerLabel = "lockbench.owner"

// OwnerFrom reads Labels. Without them it is an Owner that is never Gone.
func OwnerFrom(labels map[string]string) Owner {
	pid, _ := strconv.Atoi(labels[OwnerLabel])
	return Owner{Host: labels[OwnerLabel+".host"], Boot: labels[OwnerLabel+".boot"], PID: pid, Started: labels[OwnerLabel+".started"]}
}
