package lockertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// spy sits on a node, writes down what is sent, and can put trouble in the way.
type spy struct {
	strategies.Node
	clock clock.Clock
	mu    sync.Mutex
	seen  []command
	// request may wait or fail; then the command never reaches the server. reply may wait or fail; then the command
	// was executed and its answer is lost. nth counts the commands of this node from 1.
	request, reply func(ctx context.Context, c command) error
}

type command struct {
	name string // upper case; of a script its name
	nth  int
	at   time.Duration
}

var errCut = errors.New("connection lost")

// cut loses a command.
func cut(context.Context, command) error { return errCut }

// cutTake loses what acquires and lets all else pass.
func cutTake(_ context.Context, c command) error {
	if c.takes() {
		return errCut
	}
	return nil
}

// takes tells the command that acquires.
func (c command) takes() bool { return c.name == "SET" || c.name == "SETNX" }

func (p *spy) Do(ctx context.Context, args ...any) (strategies.Reply, error) {
	return p.send(ctx, strings.ToUpper(fmt.Sprint(args[0])), func(ctx context.Context) (strategies.Reply, error) {
		return p.Node.Do(ctx, args...)
	})
}

func (p *spy) Eval(ctx context.Context, s *strategies.Script, keys []string, args ...any) (strategies.Reply, error) {
	return p.send(ctx, s.Name, func(ctx context.Context) (strategies.Reply, error) {
		return p.Node.Eval(ctx, s, keys, args...)
	})
}

// send keeps a command whole where its reply is in trouble: it is executed and answered before the caller hears that
// its context has ended. A torn one may be executed later than what is sent after it on another connection; that is
// the network's doing, against which no strategy of one node has a means.
func (p *spy) send(ctx context.Context, name string, f func(context.Context) (strategies.Reply, error)) (strategies.Reply, error) {
	c, request, reply := p.note(name)
	if request != nil {
		if err := request(ctx, c); err != nil {
			return strategies.Reply{}, err
		}
	}
	whole := ctx
	if reply != nil {
		whole = context.WithoutCancel(ctx)
	}
	r, err := f(whole)
	if err == nil && reply != nil {
		err = reply(ctx, c)
	}
	if err != nil {
		return strategies.Reply{}, err
	}
	return r, nil
}

func (p *spy) note(name string) (c command, request, reply func(context.Context, command) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c = command{name: name, nth: len(p.seen) + 1, at: p.clock.Now()}
	p.seen = append(p.seen, c)
	return c, p.request, p.reply
}

// trouble sets what stands in the way from now on.
func (p *spy) trouble(request, reply func(context.Context, command) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.request, p.reply = request, reply
}

func (p *spy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen)
}

// commands is what was sent, in order.
func (p *spy) commands() []command {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]command(nil), p.seen...)
}
