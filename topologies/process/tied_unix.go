//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// startTied starts cmd with a watcher beside it: there is no signal for the death of a parent here.
func startTied(cmd *exec.Cmd) (release func(), err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return watchOver(cmd)
}
