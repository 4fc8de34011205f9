//go:build !unix

package process

import (
	"errors"
	"os/exec"
)

// startTied refuses: a server that could outlive us must not be started.
func startTied(*exec.Cmd) (release func(), err error) {
	return nil, errors.New("this system has no means to end a server together with lockbench; use a container or an external server")
}
