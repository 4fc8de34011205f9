package bench

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/check"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/strategies/retry"
)

// releaseTimeout bounds a clean-up, which runs on a context that nothing cancels.
const releaseTimeout = 2 * time.Second

// workload is what every session of a trial does: pick a key, acquire through the loop, hold, release, report. This
// file must also run in virtual time: it takes time, randomness and concurrency from its fields.
type workload struct {
	clock    clock.Clock
	start    time.Duration   // of the trial on the clock; Ops count from it
	life     context.Context // ends when the trial must end now
	beyond   context.Context // life without its end, for releases: the node's own time limit bounds them
	locker   strategies.Locker
	loop     retry.Loop
	oneTry   bool          // the policy allows a single attempt
	every    time.Duration // renewal interval; 0: no renewal
	maxLease time.Duration // no renewal beyond; 0: no cap
	retries  int           // further tries of a release
	ttl      time.Duration
	crash    float64
	keys     load.Keys
	prefix   string
	names    []string // of the first keys
	touched  bitmap   // keys that a session asked for
	hold     load.Dist
	resource *check.Counter // nil: nothing is protected
	seed     uint64
	recorder *recorder
}

// session is one arrival from wish to release.
func (w *workload) session(a load.Arrival) {
	t := &trip{workload: w, op: results.Op{N: a.N, Client: a.Client, Intended: a.Intended - w.start}}
	if a.Dropped {
		t.op.Outcome = results.Dropped
		w.recorder.drop(&t.op)
		return
	}
	load.Reseed(&t.source, w.seed, "session", uint64(a.N))
	t.rnd = *rand.New(&t.source)
	var at time.Duration
	t.ticket, at = w.recorder.begin(line(a))
	t.op.Started = at - w.start
	t.run()
	w.recorder.end(t.ticket, &t.op)
}

// trip is what one session carries, in one piece of memory.
type trip struct {
	*workload
	ticket ticket
	op     results.Op
	source rand.PCG
	rnd    rand.Rand
}

// attempted hears of every attempt but the last.
func (t *trip) attempted(took time.Duration) { t.ticket.attempted(attempt{t.op.Intended, took}) }

// line is what decides the recorder's shard: sessions of one client follow each other, and a shard keeps their order.
func line(a load.Arrival) int64 {
	if a.Client >= 0 {
		return int64(a.Client)
	}
	return a.N
}

// run draws the key, the hold and the crash before anything else, so that the same session of the same seed wants the
// same under every strategy and policy.
func (t *trip) run() {
	w, op, rnd := t.workload, &t.op, &t.rnd
	key := w.keys.Pick(rnd)
	hold := w.hold.Draw(rnd)
	crashes := w.crash > 0 && rnd.Float64() < w.crash
	w.touched.set(key)
	op.Logical = w.name(key)
	op.Key = op.Logical

	loop := w.loop
	loop.Observe = t.attempted
	got := loop.Acquire(w.life, strategies.Request{Key: op.Logical, TTL: w.ttl}, rnd)
	w.decide(op, got)
	if got.Err != nil {
		return
	}
	lease := w.work(op, got.Lease, hold)
	if crashes {
		op.Crashed = true
		return
	}
	w.release(op, lease)
}

func (w *workload) decide(op *results.Op, got retry.Acquisition) {
	op.Asked, op.Decided = got.Asked-w.start, got.Decided-w.start
	op.Attempts, op.LastAttempt, op.Held, op.Uncertain = int32(got.Attempts), got.LastAttempt(), got.Held, got.Uncertain
	op.Outcome = w.outcome(got.Err)
	if op.Outcome == results.Failed || got.Uncertain {
		op.Cause = cause(got.Err)
	}
}

func (w *workload) outcome(err error) results.Outcome {
	switch {
	case err == nil:
		return results.Acquired
	case errors.Is(err, retry.ErrGaveUp) && w.oneTry:
		return results.Rejected
	case errors.Is(err, retry.ErrGaveUp):
		return results.GaveUp
	case errors.Is(err, retry.ErrTimeout):
		return results.Timeout
	}
	return results.Failed
}

// work is the critical section.
func (w *workload) work(op *results.Op, lease strategies.Lease, hold time.Duration) strategies.Lease {
	op.Key = lease.Key
	var visit check.Visit
	if w.resource != nil {
		visit = w.resource.Enter(lease.Key, lease.Fence)
	}
	section := func(ctx context.Context) error {
		if hold <= 0 {
			return nil
		}
		return clock.SleepUntil(ctx, w.clock, w.clock.Now()+hold)
	}
	if w.every > 0 {
		lease = w.renewed(op, lease, section)
	} else {
		_ = section(w.life) // cut short only when the trial must end now
	}
	if w.resource != nil && !op.Lost { // who knows that the lease is lost does not write
		r := w.resource.Leave(visit)
		op.Refused, op.Stale, op.LostUpdate = r.Refused, r.Stale, r.LostUpdate
	}
	op.Left, op.Until, op.Fence = w.clock.Now()-w.start, lease.Until-w.start, lease.Fence
	return lease
}

func (w *workload) renewed(op *results.Op, lease strategies.Lease, section func(context.Context) error) strategies.Lease {
	h := strategies.Holder{Clock: w.clock, Locker: w.locker, Every: w.every, MaxLease: w.maxLease}
	lease, report, _ := h.Hold(w.life, lease, section)
	op.Renewals, op.RenewalsFailed, op.Lost = int32(report.Renewals), int32(report.Failed), report.Lost
	if report.Err != nil {
		op.RenewalCause = cause(report.Err)
	}
	return lease
}

// release gives the lock up, again where the reply was lost. After a lost reply a later try that finds the lock gone
// proves nothing: the first one may have released it.
func (w *workload) release(op *results.Op, lease strategies.Lease) {
	for try := 0; ; try++ {
		outcome, err := w.locker.Release(w.beyond, lease)
		op.Released = w.clock.Now() - w.start
		if op.Release = released[outcome]; try > 0 && outcome != strategies.Released {
			op.Release = results.ReleaseUnknown
		}
		if err == nil {
			return
		}
		op.Cause = cause(err)
		if try >= w.retries {
			return
		}
	}
}

var released = [...]results.Release{
	strategies.Unknown:  results.ReleaseUnknown,
	strategies.Released: results.Released,
	strategies.Expired:  results.Expired,
	strategies.Stolen:   results.Stolen,
}

// named is how many names are built before the run; beyond it a name is built when it is asked for.
const named = 1 << 16

// setNames builds the names of the keys, which all begin with prefix.
func (w *workload) setNames(prefix string, count int) {
	w.prefix = prefix
	for i := range min(count, named) {
		w.names = append(w.names, prefix+strconv.Itoa(i))
	}
}

func (w *workload) name(key int) string {
	if key < len(w.names) {
		return w.names[key]
	}
	return w.prefix + strconv.Itoa(key)
}

// cancelled is the cause of sessions that ended because the trial had to.
const cancelled = "cancelled"

// cause is an error in few words, so that equal causes are counted together.
func cause(err error) string {
	var refused *strategies.ServerError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.Is(err, context.Canceled):
		return cancelled
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no reply in time"
	}
	return innermost(err)
}

// innermost drops what wrapped the error: addresses and keys differ where the cause is one.
func innermost(err error) string {
	for {
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			if next := e.Unwrap(); next != nil {
				err = next
				continue
			}
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				err = all[len(all)-1]
				continue
			}
		}
		return err.Error()
	}
}

// bitmap is a set of small numbers that any number of sessions may add to.
type bitmap []atomic.Uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) set(i int) {
	word, bit := &b[i/64], uint64(1)<<(i%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// members lists the set in ascending order.
func (b bitmap) members() []int {
	var all []int
	for w := range b {
		for set := b[w].Load(); set != 0; set &= set - 1 {
			all = append(all, w*64+bits.TrailingZeros64(set))
		}
	}
	return all
}
