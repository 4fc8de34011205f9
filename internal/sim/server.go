package sim

import (
	"strings"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// Costs are the CPU times of a server's one thread. One constant a command cannot predict its CPU: what one command
// costs falls as more arrive together, because a cycle of the event loop is shared by all that are ready, and falls
// again as the thread gets less time to sleep, because a processor that has slept is slow to wake.
type Costs struct {
	Cycle   time.Duration            // one cycle of the event loop, however many commands it serves
	Wake    time.Duration            // on top, for a cycle after the thread has slept for Deep or longer; in proportion below
	Deep    time.Duration            // sleep after which a wake-up costs all of Wake
	Command time.Duration            // reading, parsing and answering one top-level command
	Run     map[string]time.Duration // on top, by lower-case name of the command
	Script  time.Duration            // on top of Command, for a script
	Inner   time.Duration            // on top, for each command that a script runs
}

// DefaultCosts are rough figures of a 2-core virtual machine (Xeon, Linux 6.18) with redis-server 7.0.15 and its
// clients on loopback: 45 us of main-thread CPU for a lone PING at 400/s, 11 us for a SET among 24,000/s on one key, 14 us
// for a lock command among 50 clients. Another machine has others.
func DefaultCosts() Costs {
	return Costs{
		Cycle: 2 * time.Microsecond, Wake: 36 * time.Microsecond, Deep: 300 * time.Microsecond,
		Command: 6 * time.Microsecond, Script: 8 * time.Microsecond, Inner: 2 * time.Microsecond,
		Run: map[string]time.Duration{},
	}
}

// Server is one simulated Redis: a keyspace behind a queue with one thread. Commands that are ready when a cycle begins
// are run in it one after the other, and answered at its end, as Redis does.
type Server struct {
	world *World
	keys  *Keyspace
	costs Costs
	ready []request // arrived, not taken into a cycle yet
	busy  bool
	slept time.Duration // since when it has had nothing to do, while not busy
	cpu   time.Duration
}

// request is a command at the server; answer is called at the end of its cycle.
type request struct {
	words  []string
	answer func(response)
}

type response struct {
	reply strategies.Reply
	inner int
	err   error
}

// NewServer makes an idle, empty server.
func NewServer(w *World, keys *Keyspace, costs Costs) *Server {
	s := &Server{world: w, keys: keys, costs: costs}
	keys.Hooks.CPU = func() time.Duration { return s.cpu }
	return s
}

// arrive puts a command at the server's door now.
func (s *Server) arrive(r request) {
	s.ready = append(s.ready, r)
	if !s.busy {
		s.busy = true
		s.cycle(s.costs.wake(s.world.Now() - s.slept))
	}
}

// wake is the cost of waking after a sleep.
func (c Costs) wake(sleep time.Duration) time.Duration {
	if sleep >= c.Deep {
		return c.Wake
	}
	return time.Duration(float64(c.Wake) * float64(sleep) / float64(c.Deep))
}

// cycle takes what is ready and runs it; wake is what it cost to get here.
func (s *Server) cycle(wake time.Duration) {
	batch := s.ready
	s.ready = nil
	s.spend(wake+s.costs.Cycle, func() { s.run(batch, make([]response, 0, len(batch))) })
}

// spend uses the thread for d and goes on then.
func (s *Server) spend(d time.Duration, then func()) {
	s.cpu += d
	s.world.After(d, then)
}

// run executes the next command of the batch; its effect is there when it begins, its cost follows.
func (s *Server) run(batch []request, done []response) {
	if len(done) == len(batch) {
		s.finish(batch, done)
		return
	}
	words := batch[len(done)].words
	reply, err := s.keys.Do(s.world.Now(), words...)
	inner := s.keys.Inner()
	done = append(done, response{reply, inner, err})
	s.spend(s.cost(words, inner), func() { s.run(batch, done) })
}

func (s *Server) cost(words []string, inner int) time.Duration {
	name := strings.ToLower(words[0])
	d := s.costs.Command + s.costs.Run[name] + time.Duration(inner)*s.costs.Inner
	if name == "evalsha" || name == "eval" {
		d += s.costs.Script
	}
	return d
}

func (s *Server) finish(batch []request, done []response) {
	for i, r := range batch {
		r.answer(done[i])
	}
	if s.busy = len(s.ready) > 0; s.busy {
		s.cycle(0)
		return
	}
	s.slept = s.world.Now()
}
