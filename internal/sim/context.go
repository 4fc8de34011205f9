package sim

import (
	"context"
	"time"
)

// scope is a context in virtual time. Its deadline needs no event of its own: who waits with it is woken by a timer of
// the wait, and who asks is told by the clock. Only a real channel that somebody has asked for, and what was
// registered with AfterFunc, need the moment itself.
//
// A nil scope is a context that does not end.
type scope struct {
	world    *World
	parent   context.Context
	deadline time.Duration // its own or an ancestor's, whichever is first
	err      error         // nil too where only the deadline has passed
	done     chan struct{} // made when asked for
	armed    uint64
	waiters  line[process]
	children line[scope]
	above    seat[scope] // among the parent's children
	calls    line[afterCall]
	foreign  context.Context // what this stands for, where it is a context from outside
}

// ended is Done of a scope that had ended before anybody asked.
var ended = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// WithTimeout returns a context that ends after d of virtual time. Its Deadline is a virtual
// date.
func (w *World) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c := w.child(ctx, w.after(d))
	return c, c.cancel
}

// WithCancel returns a context that ends when cancel is called. Who waits with it, or with a context that came from
// it, goes on in the same moment.
func (w *World) WithCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	c := w.child(ctx, never)
	return c, c.cancel
}

func (w *World) child(ctx context.Context, deadline time.Duration) *scope {
	up := w.scope(ctx)
	c := &scope{world: w, parent: ctx, deadline: min(deadline, up.until()), err: up.Err()}
	if up != nil && c.err == nil {
		up.children.push(&c.above, c)
	}
	return c
}

// Deadline is a virtual date. A deadline of a context from outside is one of the machine's clock and not told.
func (c *scope) Deadline() (time.Time, bool) {
	if c.deadline == never {
		return time.Time{}, false
	}
	return c.world.Date(c.deadline), true
}

func (c *scope) Err() error {
	switch {
	case c == nil:
		return nil
	case c.err != nil:
		return c.err
	case c.world.now >= c.deadline:
		return context.DeadlineExceeded
	case c.foreign != nil:
		return c.foreign.Err()
	}
	return nil
}

// Done is for code that selects on it while it does something else. Waiting for it would stop the world.
func (c *scope) Done() <-chan struct{} {
	if c.done == nil {
		if c.Err() != nil {
			c.done = ended
			return c.done
		}
		c.done = make(chan struct{})
		c.arm()
	}
	return c.done
}

// scopeKey is the key under which a context tells the scope that it came from.
var scopeKey = new(byte)

func (c *scope) Value(key any) any {
	if key == any(scopeKey) {
		return c
	}
	return c.parent.Value(key)
}

// AfterFunc calls f in the moment in which c ends; package context looks for this method when it makes a child of c,
// and would start a goroutine without it.
func (c *scope) AfterFunc(f func()) (stop func() bool) {
	a := &afterCall{f: f}
	if c.Err() != nil {
		c.world.After(0, f)
	} else {
		c.calls.push(&a.seat, a)
		c.arm()
	}
	return func() bool {
		registered := a.seat.in != nil
		a.seat.leave()
		return registered
	}
}

type afterCall struct {
	f    func()
	seat seat[afterCall]
}

// until is when c ends by itself.
func (c *scope) until() time.Duration {
	if c == nil {
		return never
	}
	return c.deadline
}

// hold lets p hear of the end of c.
func (c *scope) hold(p *process) {
	if c != nil {
		c.waiters.push(&p.under, p)
	}
}

// arm makes the deadline an event.
func (c *scope) arm() {
	if c.armed == 0 && c.deadline != never {
		c.armed = c.world.schedule(c.deadline, c)
	}
}

func (c *scope) stands(number uint64) bool { return c.armed == number }

func (c *scope) happen() {
	c.armed = 0
	c.end(context.DeadlineExceeded)
}

func (c *scope) cancel() { c.end(context.Canceled) }

// end ends c, and then what came from it, in the order in which it came. Where the deadline has passed already, that
// is the reason.
func (c *scope) end(err error) {
	if c.err != nil {
		return
	}
	if c.err = err; c.world.now >= c.deadline {
		c.err = context.DeadlineExceeded
	}
	c.above.leave()
	c.world.agenda.drop(&c.armed)
	if c.done != nil && c.done != ended {
		close(c.done)
	}
	wakeAll(&c.waiters)
	for c.children.first != nil {
		c.children.first.of.end(err)
	}
	c.callAll()
}

func (c *scope) callAll() {
	for c.calls.first != nil {
		a := c.calls.first.of
		a.seat.leave()
		a.f()
		c.world.look = 0 // contexts of package context may have ended with c
	}
}

// scope finds what ctx ends with: nil if with nothing. A context that only carries values has the Done of the one it
// came from; one cut off by WithoutCancel has none.
func (w *World) scope(ctx context.Context) *scope {
	if c, ok := ctx.(*scope); ok && c.world == w {
		return c
	}
	if ctx.Done() == nil {
		return nil
	}
	if c, ok := ctx.Value(scopeKey).(*scope); ok && c.world == w && c.Done() == ctx.Done() {
		return c
	}
	return w.outside.scope(w, ctx)
}

// outside are the contexts that the world did not make. They end whenever they do; the world looks at them once in a
// while, and before it calls a deadlock.
type outside struct {
	known map[<-chan struct{}]*scope
	all   []*scope // in order of arrival
}

func (o *outside) scope(w *World, ctx context.Context) *scope {
	if c := o.known[ctx.Done()]; c != nil {
		return c
	}
	c := &scope{world: w, parent: ctx, deadline: never, err: ctx.Err(), foreign: ctx}
	if c.err != nil {
		return c
	}
	if o.known == nil {
		o.known = map[<-chan struct{}]*scope{}
	}
	o.known[ctx.Done()] = c
	o.all = append(o.all, c)
	return c
}

// lookOutside ends what has ended outside and forgets what nobody uses any more. It reports whether anything ended.
func (w *World) lookOutside() bool {
	o, all, news := &w.outside, w.outside.all, false
	o.all = nil // an end may make others known
	for _, c := range all {
		err := c.foreign.Err()
		if err == nil && (c.waiters.first != nil || c.children.first != nil) {
			o.all = append(o.all, c)
			continue
		}
		delete(o.known, c.foreign.Done())
		if err != nil {
			c.end(err)
			news = true
		}
	}
	return news
}
