package topologies

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// ErrPortTaken: somebody else listens on the port that a server of ours was to have. Another port will do.
var ErrPortTaken = errors.New("port is taken by another program")

// Identity is a new name by which Ready recognises a server that we started.
func Identity() string { return "lockbench-" + strings.ToLower(rand.Text()) }

// Ready waits until the server at address answers PING and proves, by its syslog-ident, that it is the one we
// started; the setting has no other effect while syslog is off. It dials anew for each try: a client library's pool
// reports its last dial error for a second before it tries again, which would make the start of a server 50 times
// slower. A stranger's answer is ErrPortTaken.
func Ready(ctx context.Context, address, identity string) error {
	for {
		err := probe(ctx, address, identity)
		if err == nil || errors.Is(err, ErrPortTaken) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w (last: %v)", address, context.Cause(ctx), err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func probe(ctx context.Context, address, identity string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	c.SetDeadline(deadline)
	if _, err := c.Write([]byte("PING\r\nCONFIG GET syslog-ident\r\n")); err != nil {
		return err
	}
	return recognise(bufio.NewReader(c), address, identity)
}

// recognise reads "+PONG" and a list of two bulk strings, name and value.
func recognise(r *bufio.Reader, address, identity string) error {
	lines := make([]string, 6)
	for i := range lines {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		lines[i] = strings.TrimSpace(line)
		if i == 0 && lines[i] != "+PONG" && strings.HasPrefix(lines[i], "-LOADING") {
			return errors.New(lines[i])
		}
		if i < 2 && lines[i] != [...]string{"+PONG", "*2"}[i] {
			return fmt.Errorf("%s: %w", address, ErrPortTaken)
		}
	}
	if lines[5] != identity {
		return fmt.Errorf("%s: %w", address, ErrPortTaken)
	}
	return nil
}

// Reserve finds n free ports on the loopback address. They are held until release, so that no two servers of one
// topology get the same; between release and the server's own listen a port can still be lost, which Ready notices.
func Reserve(n int) (ports []int, release func(), err error) {
	var held []net.Listener
	release = func() {
		for _, l := range held {
			l.Close()
		}
	}
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("reserve a port: %w", err)
		}
		held = append(held, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, release, nil
}
