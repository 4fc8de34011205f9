package external

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/topologies"
)

// greeting is a first connection made by hand, so that each thing that can be wrong gets a sentence of its own; a
// client library would fold them all into "EOF".
type greeting struct {
	hostPort string
	tls      *tls.Config // nil: plain
	user     string
	password topologies.Secret // "": none
	patience time.Duration
}

// greet connects, authenticates and sends PING. It tells whether the server is on this machine.
func (g greeting) greet(ctx context.Context) (local bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", g.hostPort)
	if err != nil {
		return false, fmt.Errorf("cannot reach %s: %w", g.hostPort, inner(err))
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	c.SetDeadline(deadline)
	remote, _ := c.RemoteAddr().(*net.TCPAddr)
	local = remote != nil && remote.IP.IsLoopback()
	if g.tls == nil {
		return local, g.talk(c)
	}
	secure := tls.Client(c, g.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		return local, g.handshakeError(err)
	}
	return local, g.talk(secure)
}

// inner takes the address out of a dial error; the sentence around it already has it.
func inner(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func (g greeting) handshakeError(err error) error {
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &record):
		return fmt.Errorf("%s does not speak TLS: use redis:// or leave topology.tls out", g.hostPort)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s has a certificate that nobody we trust has signed: give topology.tls.ca", g.hostPort)
	case errors.As(err, &name):
		return fmt.Errorf("%s has no certificate for the name %s: give topology.tls.server_name", g.hostPort, g.tls.ServerName)
	case isAlert(err):
		return fmt.Errorf("%s refuses our side of TLS: give topology.tls.cert and key that it trusts (%w)", g.hostPort, err)
	case isTimeout(err) || errors.Is(err, io.EOF):
		return fmt.Errorf("%s does not answer the TLS handshake: it may not speak TLS (%w)", g.hostPort, err)
	}
	return fmt.Errorf("TLS handshake with %s: %w", g.hostPort, err)
}

// isAlert tells an error that the other side of TLS sent.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// talk sends AUTH, where there is a password, and PING.
func (g greeting) talk(c io.ReadWriter) error {
	r := bufio.NewReader(c)
	if g.password != "" {
		answer, err := ask(c, r, g.auth()...)
		if err != nil {
			return g.connectionError(err)
		}
		if answer != "+OK" {
			return g.authError(answer)
		}
	}
	answer, err := ask(c, r, "PING")
	if err != nil {
		return g.connectionError(err)
	}
	return g.pingError(answer)
}

func (g greeting) auth() []string {
	if g.user == "" {
		return []string{"AUTH", string(g.password)}
	}
	return []string{"AUTH", g.user, string(g.password)}
}

// ask sends one command in the server's protocol and reads the first line of the answer.
func ask(w io.Writer, r *bufio.Reader, words ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return "", err
	}
	line, err := r.ReadSlice('\n')
	if err != nil && len(line) > 0 && line[0] == alertRecord {
		return string(line), nil
	}
	return strings.TrimSpace(string(line)), err
}

// alertRecord is the first byte of what a TLS server says to a plain client. Source: RFC 8446, section 5.1.
const alertRecord = 21

// connectionError explains a connection that was made and then gave no answer.
func (g greeting) connectionError(err error) error {
	switch {
	case isAlert(err):
		return fmt.Errorf("%s wants a client certificate that it trusts: give topology.tls.cert and key (%w)", g.hostPort, err)
	case g.tls != nil && len(g.tls.Certificates) == 0 && isClosed(err):
		// In TLS 1.3 the server refuses after the handshake, and its reset may overtake the alert that says why.
		return fmt.Errorf("%s closes the TLS connection without an answer: it may want a client certificate (topology.tls.cert and key)", g.hostPort)
	case g.tls == nil && isClosed(err):
		return fmt.Errorf("%s closes the connection without an answer: it may want TLS (rediss:// or topology.tls)", g.hostPort)
	}
	return fmt.Errorf("%s does not answer: %w", g.hostPort, inner(err))
}

// authError says what is wrong without the server's own words, which might quote what we sent.
func (g greeting) authError(answer string) error {
	switch {
	case answer != "" && answer[0] == alertRecord:
		return g.pingError(answer)
	case strings.Contains(answer, "without any password configured"):
		return fmt.Errorf("%s has no password for its default user, but one was given: leave password_from out, or give the username", g.hostPort)
	}
	return fmt.Errorf("%s refuses the user or the password", g.hostPort)
}

func (g greeting) pingError(answer string) error {
	code, _, _ := strings.Cut(strings.TrimPrefix(answer, "-"), " ")
	switch {
	case answer == "+PONG":
		return nil
	case answer != "" && answer[0] == alertRecord:
		return fmt.Errorf("%s speaks TLS: use rediss:// or give topology.tls", g.hostPort)
	case code == "NOAUTH":
		return fmt.Errorf("%s wants a password: give topology.auth.password_from", g.hostPort)
	case code == "NOPERM":
		return fmt.Errorf("%s: the user may not PING; the README lists the commands that it needs", g.hostPort)
	case code == "LOADING":
		return fmt.Errorf("%s is loading its data: try again when it is done", g.hostPort)
	case strings.HasPrefix(answer, "-"):
		return fmt.Errorf("%s answers PING with %q", g.hostPort, answer)
	}
	return fmt.Errorf("%s does not speak the Redis protocol", g.hostPort)
}
