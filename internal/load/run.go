package load

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// Arrival is a session that should start.
type Arrival struct {
	N        int64         // number in the schedule, from 0; open loop: in order of Intended. It indexes the session's streams
	Client   int32         // closed loop: which client, from 0; open loop: -1
	Intended time.Duration // clock reading at which it should start
	Dropped  bool          // the in-flight bound was reached: it does not start, and is only to be counted
}

// Plan starts sessions side by side, on the clock's group, from the clock reading start on. It starts none after its
// schedule or stop has ended, and returns when all that it started have returned: stop does not end them. Dropped
// arrivals are reported in line, so that session must not wait for anything then.
type Plan func(stop context.Context, c clock.Clock, start time.Duration, session func(Arrival))

// OpenLoop starts a session at each of the offsets, whether or not earlier ones have ended. When the plan wakes up
// late, it starts all that are due at once; each keeps its own Intended, so lateness shows and is never lost. With
// maxInFlight sessions unfinished, further arrivals are dropped; 0 or less is no bound.
func OpenLoop(at iter.Seq[time.Duration], maxInFlight int) Plan {
	return func(stop context.Context, c clock.Clock, start time.Duration, session func(Arrival)) {
		group := c.NewGroup()
		defer group.Wait()
		var inFlight atomic.Int64
		next := Arrival{Client: -1}
		for offset := range at {
			next.Intended = start + offset
			if clock.SleepUntil(stop, c, next.Intended) != nil || stop.Err() != nil {
				return
			}
			// Only this loop adds, so what is seen below the bound stays below it until the next arrival.
			if next.Dropped = maxInFlight > 0 && inFlight.Load() >= int64(maxInFlight); next.Dropped {
				session(next)
			} else {
				inFlight.Add(1)
				group.Go(one(next, session, &inFlight))
			}
			next.N++
		}
	}
}

// one is a session that counts itself out when it ends.
func one(a Arrival, session func(Arrival), inFlight *atomic.Int64) func() {
	return func() {
		defer inFlight.Add(-1)
		session(a)
	}
}

// ClosedLoop runs a fixed number of clients from start to start + length. Each thinks, then has a session, and so on;
// Intended is the end of its think, so the generator's own lateness shows as in an open loop. A client begins at a
// random point of its first think, because clients that all begin at once would stay in step; Constant(0) is no
// think. Session k of client i has number k x clients + i: what it draws does not depend on the other clients.
func ClosedLoop(clients int, think Dist, length time.Duration, seed uint64) Plan {
	return func(stop context.Context, c clock.Clock, start time.Duration, session func(Arrival)) {
		group := c.NewGroup()
		defer group.Wait()
		for i := range clients {
			group.Go(func() {
				r := Stream(seed, "think", uint64(i))
				next := Arrival{N: int64(i), Client: int32(i)}
				// A think longer than the plan ends it as well as one just as long, and cannot overflow.
				next.Intended = start + min(length, time.Duration(r.Float64()*float64(think.Draw(r))))
				for next.Intended < start+length && clock.SleepUntil(stop, c, next.Intended) == nil && stop.Err() == nil {
					session(next)
					next.N += int64(clients)
					next.Intended = c.Now() + min(length, think.Draw(r))
				}
			})
		}
	}
}
