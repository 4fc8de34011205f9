package process

import (
	"os/exec"
	"syscall"
)

// startTied starts cmd so that the kernel kills it when the calling thread ends; the caller keeps the thread locked.
// Its own process group keeps a Ctrl-C at the terminal from the servers: the run stops them when it is done.
func startTied(cmd *exec.Cmd) (release func(), err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return func() {}, cmd.Start()
}
