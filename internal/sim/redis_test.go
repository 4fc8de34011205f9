package sim

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// redisServer is a real one, asked over its wire protocol so that simple and bulk strings, nils and null arrays, and
// errors inside lists are told apart.
type redisServer struct {
	conn net.Conn
	in   *bufio.Reader
}

// startRedis starts a private redis-server that ends with the test.
func startRedis(t testing.TB) *redisServer {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if strings.Contains(os.Getenv("LOCKBENCH_REQUIRE"), "redis") {
			t.Fatal("LOCKBENCH_REQUIRE names redis, but no redis-server is on PATH")
		}
		t.Skip("no redis-server on PATH")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(binary, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	cmd.Stdout = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for range 200 {
		if c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			t.Cleanup(func() { c.Close() })
			r := &redisServer{conn: c, in: bufio.NewReader(c)}
			r.mustBeSeven(t)
			return r
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("redis-server does not answer: %s", log.String())
	return nil
}

// mustBeSeven: later versions word errors in another way and know other options.
func (r *redisServer) mustBeSeven(t testing.TB) {
	t.Helper()
	all, err := r.do([]string{"info", "server"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(all[0].Text, "redis_version:7.0.") {
		t.Skip("the redis-server on PATH is not a Redis 7.0, whose replies are simulated")
	}
}

// do sends all commands at once and reads their replies.
func (r *redisServer) do(commands ...[]string) ([]reply, error) {
	var b bytes.Buffer
	for _, words := range commands {
		fmt.Fprintf(&b, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	r.conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := r.conn.Write(b.Bytes()); err != nil {
		return nil, err
	}
	replies := make([]reply, len(commands))
	for i := range replies {
		var err error
		if replies[i], err = r.read(); err != nil {
			return nil, fmt.Errorf("reply to %q: %w", commands[i], err)
		}
	}
	return replies, nil
}

func (r *redisServer) read() (reply, error) {
	line, err := r.in.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	kind, rest := line[0], line[1:]
	n, _ := strconv.ParseInt(rest, 10, 64)
	switch {
	case kind == '+':
		return reply{Kind: status, Text: rest}, nil
	case kind == '-':
		return fail(rest), nil
	case kind == ':':
		return integerReply(n), nil
	case kind == '$' && n < 0:
		return null, nil
	case kind == '*' && n < 0:
		return reply{Kind: noList}, nil
	case kind == '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(r.in, text)
		return textReply(string(text[:n])), err
	case kind == '*':
		all := make([]reply, n)
		for i := range all {
			if all[i], err = r.read(); err != nil {
				return reply{}, err
			}
		}
		return listReply(all), nil
	}
	return reply{}, fmt.Errorf("unexpected line %q", line)
}

// shown is a reply as a person reads it. Of errors of scripts only the code is compared: their text names lines and
// values in the words of the interpreter.
func shown(r reply, codeOnly bool) string {
	switch r.Kind {
	case strategies.Nil:
		return "nil"
	case noList:
		return "nil list"
	case strategies.Int:
		return strconv.FormatInt(r.Int, 10)
	case strategies.Text:
		return strconv.Quote(r.Text)
	case status:
		return "+" + r.Text
	case failure:
		if code, _, _ := strings.Cut(r.Text, " "); codeOnly {
			return "-" + code
		}
		return "-" + r.Text
	}
	items := make([]string, len(r.List))
	for i, item := range r.List {
		items[i] = shown(item, codeOnly)
	}
	return "[" + strings.Join(items, " ") + "]"
}
