//go:build unix

package process

import (
	"os/exec"
	"syscall"
	"testing"
)

func TestTheWatcherKillsTheChildWhenItsPipeCloses(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	w, pipe, err := watcherOf(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	pipe.Close() // what the kernel does when we die
	err = child.Wait()
	if got := child.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGKILL {
		t.Errorf("child ended with %v (%v), want SIGKILL", got, err)
	}
	w.Wait()
}

func TestAReleasedWatcherLetsTheChildLive(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	release, err := watchOver(child)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := child.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the child is gone: %v", err)
	}
	child.Process.Kill()
	child.Wait()
}
