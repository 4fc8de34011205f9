package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// Delay draws the time that a message needs for one direction of a link.
type Delay func(*rand.Rand) time.Duration

// Link is the network between a client and a server, one delay a direction. Messages on different connections may
// overtake each other, as those of a pool do.
type Link struct{ There, Back Delay }

// Always is a delay that never varies.
func Always(d time.Duration) Delay { return func(*rand.Rand) time.Duration { return d } }

// Node is a client's view of one server: strategies.Node in virtual time. It has as many connections as there are
// commands under way. A command whose caller has gone is still executed, and its reply is lost.
type Node struct {
	world   *World
	server  *Server
	link    Link
	rnd     *rand.Rand
	name    string
	timeout time.Duration // of one command whose context has no earlier deadline
	traffic strategies.Traffic
	shas    map[*strategies.Script]string
}

// NewNode connects to s; name names it in reports, and picks its stream of delays.
func NewNode(w *World, s *Server, link Link, name string, timeout time.Duration) *Node {
	return &Node{
		world: w, server: s, link: link, rnd: w.Stream("link "+name, 0), name: name, timeout: timeout,
		traffic: strategies.Traffic{Commands: map[string]int64{}}, shas: map[*strategies.Script]string{},
	}
}

// ErrNoReply: the node's own time limit passed; the command may have been executed.
var ErrNoReply = errors.New("no reply in time")

// Do sends one command.
func (n *Node) Do(ctx context.Context, args ...any) (strategies.Reply, error) {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = word(a)
	}
	return n.send(ctx, words)
}

// word is an argument as the wire carries it.
func word(a any) string {
	switch a := a.(type) {
	case string:
		return a
	case int:
		return strconv.Itoa(a)
	case int64:
		return strconv.FormatInt(a, 10)
	default:
		return fmt.Sprint(a)
	}
}

// Eval runs a script by its digest, and by its text where the server does not know it yet.
func (n *Node) Eval(ctx context.Context, s *strategies.Script, keys []string, args ...any) (strategies.Reply, error) {
	sha, ok := n.shas[s]
	if !ok {
		sha = Digest(s.Lua)
		n.shas[s] = sha
	}
	reply, err := n.send(ctx, evalWords("evalsha", sha, keys, args))
	var refused *strategies.ServerError
	if errors.As(err, &refused) && refused.Code == "NOSCRIPT" {
		return n.send(ctx, evalWords("eval", s.Lua, keys, args))
	}
	return reply, err
}

func evalWords(command, script string, keys []string, args []any) []string {
	words := append([]string{command, script, strconv.Itoa(len(keys))}, keys...)
	for _, a := range args {
		words = append(words, word(a))
	}
	return words
}

func (n *Node) send(ctx context.Context, words []string) (strategies.Reply, error) {
	if err := ctx.Err(); err != nil {
		return strategies.Reply{}, err
	}
	n.traffic.Commands[strings.ToLower(words[0])]++
	n.traffic.Bytes += commandSize(words)
	limited, cancel := n.world.WithTimeout(ctx, n.timeout)
	defer cancel()
	got := NewFuture[response](n.world, "the reply of "+n.name)
	n.world.After(n.link.There(n.rnd), func() {
		n.server.arrive(request{words, func(r response) { n.world.After(n.link.Back(n.rnd), func() { got.Resolve(r) }) }})
	})
	r, err := got.Await(limited)
	if err != nil {
		n.traffic.Errors++
		if ctx.Err() == nil {
			err = ErrNoReply
		}
		return strategies.Reply{}, err
	}
	n.traffic.Inner += int64(r.inner)
	n.traffic.Bytes += replySize(r)
	if r.err != nil {
		n.traffic.Errors++
	}
	return r.reply, r.err
}

// Traffic is what was sent so far.
func (n *Node) Traffic() strategies.Traffic {
	t := n.traffic
	t.Commands = maps.Clone(t.Commands)
	return t
}

// Warm loads scripts; connections cost nothing here.
func (n *Node) Warm(ctx context.Context, _ int, scripts []*strategies.Script) error {
	for _, s := range scripts {
		if _, err := n.Do(ctx, "script", "load", s.Lua); err != nil {
			return fmt.Errorf("load script %s: %w", s.Name, err)
		}
	}
	return nil
}

// commandSize is the number of bytes of a command in the Redis protocol.
func commandSize(words []string) int64 {
	size := headSize(len(words))
	for _, w := range words {
		size += bulkSize(len(w))
	}
	return size
}

// headSize is that of "*<n>\r\n" or ":<n>\r\n".
func headSize(n int) int64 { return int64(len(strconv.Itoa(n)) + 3) }

func bulkSize(n int) int64 { return headSize(n) + int64(n) + 2 }

func replySize(r response) int64 {
	if r.err != nil {
		return int64(len(r.err.Error()) + 3)
	}
	return valueSize(r.reply)
}

func valueSize(r strategies.Reply) int64 {
	switch r.Kind {
	case strategies.Int:
		return int64(len(strconv.FormatInt(r.Int, 10)) + 3)
	case strategies.Text:
		if r.Text == "OK" || r.Text == "PONG" { // status replies carry no length
			return int64(len(r.Text) + 3)
		}
		return bulkSize(len(r.Text))
	case strategies.List:
		size := headSize(len(r.List))
		for _, e := range r.List {
			size += valueSize(e)
		}
		return size
	}
	return int64(len("$-1\r\n"))
}

var _ strategies.Node = (*Node)(nil)
