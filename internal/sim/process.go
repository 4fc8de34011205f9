package sim

import (
	"fmt"
	"iter"
	"path"
	"runtime"
	"strings"
	"time"
)

// process is a coroutine that runs one function after another, so that a short session costs no new stack.
type process struct {
	world *World
	work  func()
	group *group // hears of its end; nil: nobody does
	place int    // in World.processes

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	waiting bool          // nothing has woken it yet
	what    string        // it waits for, or waited for last
	armed   uint64        // the event that resumes it; 0: none
	under   seat[process] // in the line of the context that it waits with
	beside  seat[process] // in the line of those who wait for the same
	born    uint64
	pcs     []uintptr // where it waited when it was unwound
}

// start makes a process that runs f, after all that is due in this moment.
func (w *World) start(f func(), g *group) {
	if w.stopping {
		return
	}
	p := w.fresh()
	w.born++
	p.work, p.group, p.born, p.place = f, g, w.born, len(w.processes)
	w.processes = append(w.processes, p)
	p.armed = w.schedule(w.now, p)
}

func (w *World) fresh() *process {
	if n := len(w.idle); n > 0 {
		p := w.idle[n-1]
		w.idle[n-1] = nil
		w.idle = w.idle[:n-1]
		return p
	}
	p := &process{world: w}
	p.resume, p.stop = iter.Pull(p.body)
	return p
}

// body is the coroutine.
func (p *process) body(yield func(struct{}) bool) {
	p.yield = yield
	for {
		p.work()
		p.end()
		if !yield(struct{}{}) {
			return
		}
	}
}

// end makes the coroutine idle.
func (p *process) end() {
	w := p.world
	last := len(w.processes) - 1
	w.processes[p.place] = w.processes[last]
	w.processes[p.place].place = p.place
	w.processes[last] = nil
	w.processes = w.processes[:last]
	w.idle = append(w.idle, p)
	g := p.group
	p.work, p.group = nil, nil
	if g != nil {
		g.done()
	}
}

func (p *process) stands(number uint64) bool { return p.armed == number }

// happen lets the process run until it waits or ends.
func (p *process) happen() {
	p.armed = 0
	if p.waiting {
		p.leave()
	}
	p.world.current = p
	p.resume()
	p.world.current = nil
}

func (p *process) leave() {
	p.waiting = false
	p.under.leave()
	p.beside.leave()
}

// self is the process that runs.
func (w *World) self() *process {
	if w.current == nil {
		panic("sim: a wait outside of the world's processes; a callback must not wait")
	}
	if w.stopping {
		runtime.Goexit()
	}
	return w.current
}

// arm makes the process go on at a time.
func (p *process) arm(at time.Duration) { p.armed = p.world.schedule(at, p) }

// park waits until the process is woken or its time has come. It does not return if the world ends before.
func (p *process) park(what string) {
	p.waiting, p.what = true, what
	if !p.yield(struct{}{}) {
		p.pcs = make([]uintptr, 32)
		p.pcs = p.pcs[:runtime.Callers(2, p.pcs)]
		runtime.Goexit() // not a panic: that could be recovered, and the process would go on
	}
}

// obey ends a process that runs beyond a limit.
func (p *process) obey() {
	if p.world.halted != nil {
		p.park("time to pass")
	}
}

// wake lets a waiting process go on in this moment, after all that is due in it.
func (p *process) wake() {
	if !p.waiting {
		return
	}
	p.leave()
	p.world.agenda.drop(&p.armed)
	p.arm(p.world.now)
}

// wait parks the process that runs until somebody wakes l or c ends.
func (w *World) wait(c *scope, l *line[process], what string) {
	p := w.self()
	l.push(&p.beside, p)
	c.hold(p)
	if until := c.until(); until != never {
		p.arm(until)
	}
	p.park(what)
}

// wakeAll wakes those who wait in l, the first to come first.
func wakeAll(l *line[process]) {
	for l.first != nil {
		l.first.of.wake()
	}
}

// unwind ends all coroutines. It returns an account of those that were not done.
func (w *World) unwind() string {
	left := append([]*process(nil), w.processes...)
	w.stopping = true
	for _, p := range left {
		w.current = p
		p.kill()
	}
	w.current = nil
	for _, p := range w.idle {
		p.stop()
	}
	w.idle, w.processes, w.stopping = nil, nil, false
	return account(left)
}

// kill unwinds the stack of a coroutine in a goroutine of its own, because its Goexit reaches the caller of stop. A
// panic in a deferred call is dropped: whatever ended the world came first.
func (p *process) kill() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer func() { _ = recover() }()
		p.stop()
	}()
	<-gone
}

// told is how many different waits an account tells.
const told = 10

// account says who waits for what, equal ones together, in the order in which the first of them was started.
func account(left []*process) string {
	count, sites, eldest := map[string]int{}, []string{}, map[string]uint64{}
	for _, p := range left {
		s := p.wait()
		if count[s]++; count[s] == 1 {
			sites, eldest[s] = append(sites, s), p.born
		}
		eldest[s] = min(eldest[s], p.born)
	}
	sortBy(sites, eldest)
	var b strings.Builder
	for i, s := range sites {
		if i == told {
			fmt.Fprintf(&b, "; and %d other waits", len(sites)-told)
			break
		}
		fmt.Fprintf(&b, "; %d waiting for %s", count[s], s)
	}
	return b.String()
}

// wait says what p waited for when it was unwound, and where: the caller of this package, and the process's function.
func (p *process) wait() string {
	if len(p.pcs) == 0 {
		return "its turn"
	}
	var site, root string
	for frames, more := runtime.CallersFrames(p.pcs), true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if inside(f) {
			continue
		}
		if site == "" {
			site = fmt.Sprintf("%s at %s (%s:%d)", p.what, path.Base(f.Function), path.Base(f.File), f.Line)
		}
		root = path.Base(f.Function)
	}
	return site + ", in " + root
}

// inside: the frame belongs to this package's machinery, or to what carries a coroutine.
func inside(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "iter.") ||
		strings.HasPrefix(f.Function, pkg+".") && !strings.HasSuffix(f.File, "_test.go")
}

const pkg = "github.com/lockbench/lockbench/internal/sim"
