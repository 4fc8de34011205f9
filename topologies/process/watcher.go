//go:build unix

package process

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// watchOver starts a shell that reads from a pipe of which we hold the other end: when we die, however that happens,
// it reads the end of the file and kills the child. It is for systems without Pdeathsig. release ends the shell; call
// it as soon as the child has been waited for, because its process id may then name somebody else.
func watchOver(child *exec.Cmd) (release func(), err error) {
	w, pipe, err := watcherOf(child.Process.Pid)
	if err != nil {
		child.Process.Kill()
		child.Wait()
		return nil, fmt.Errorf("watch over the server: %w", err)
	}
	return func() {
		w.Process.Kill()
		w.Wait()
		pipe.Close()
	}, nil
}

func watcherOf(pid int) (w *exec.Cmd, pipe io.Closer, err error) {
	w = exec.Command("/bin/sh", "-c", fmt.Sprintf("read -r _; kill -9 %d", pid))
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := w.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return w, in, w.Start()
}
