package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/topologies"
)

const (
	quietStop = 3 * time.Second // a server ends within one tick of 100 ms after SIGTERM
	forceStop = 5 * time.Second // after SIGKILL only the kernel is in the way
	lastWords = 6               // lines of the log that tell why a server ended
)

// server is a child process.
type server struct {
	address string
	log     string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the child has been waited for
	err     error         // of the wait; read after ended
}

// start launches one server in a directory of its own and returns when it answers.
func (b binary) start(ctx context.Context, port int, dir string, config map[string]string) (*server, error) {
	identity := topologies.Identity()
	s, err := spawn(b.path, b.args(port, identity, config), dir)
	if err != nil {
		return nil, err
	}
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return s, s.ready(ctx, identity)
}

func (b binary) args(port int, identity string, config map[string]string) []string {
	args := topologies.ServerArgs("127.0.0.1", port, true, identity, config)
	if b.name == "valkey-server" || b.major() >= 7 {
		args = append(args, "--enable-debug-command", "local")
	}
	return args
}

// spawn starts the child with its log in dir. One goroutine, locked to its thread, both starts it and waits for it:
// the signal that ends an orphan is sent when the thread that forked ends, which may be long before the process does.
func spawn(path string, args []string, dir string) (*server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &server{log: filepath.Join(dir, "log"), cmd: exec.Command(path, args...), ended: make(chan struct{})}
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, out, out
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		release, err := startTied(s.cmd)
		started <- err
		if err == nil {
			s.err = s.cmd.Wait()
			release()
		}
		close(s.ended)
	}()
	return s, <-started
}

// ready waits until the server answers or has ended.
func (s *server) ready(ctx context.Context, identity string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-s.ended:
			cancel(s.died())
		case <-stop:
		}
	}()
	err := topologies.Ready(ctx, s.address, identity)
	var died *DiedError
	if cause := context.Cause(ctx); err != nil && errors.As(cause, &died) {
		return cause
	}
	return err
}

// DiedError is a server that ended though nobody asked it to.
type DiedError struct {
	Address string
	State   string // as "signal: killed"
	Log     string // its last lines
}

func (e *DiedError) Error() string {
	return fmt.Sprintf("server at %s ended (%s); last lines of its log:\n%s", e.Address, e.State, e.Log)
}

// Unwrap tells the one reason that a new start can cure.
func (e *DiedError) Unwrap() error {
	if strings.Contains(e.Log, "Address already in use") {
		return topologies.ErrPortTaken
	}
	return nil
}

// died describes the end of a child that has been waited for.
func (s *server) died() error {
	state := "exit status 0"
	if s.err != nil {
		state = s.err.Error()
	}
	return &DiedError{Address: s.address, State: state, Log: s.tail()}
}

// check is nil while the server runs.
func (s *server) check() error {
	select {
	case <-s.ended:
		return s.died()
	default:
		return nil
	}
}

// tail is the end of the log, of at most 4 KiB.
func (s *server) tail() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b[max(0, len(b)-4096):])), "\n")
	return strings.Join(lines[max(0, len(lines)-lastWords):], "\n")
}

// stop ends the child, quietly first. It is no error if it has ended before.
func (s *server) stop() error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	if s.endsWithin(quietStop) {
		return nil
	}
	s.cmd.Process.Kill()
	if s.endsWithin(forceStop) {
		return nil
	}
	return fmt.Errorf("stop server at %s: process %d did not end after SIGKILL", s.address, s.cmd.Process.Pid)
}

func (s *server) endsWithin(d time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(d):
		return false
	}
}
