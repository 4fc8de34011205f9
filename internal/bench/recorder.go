package bench

import (
	"math"
	"sync"
	"time"

	"github.com/lockbench/lockbench/results"
)

// shards spread recording over mutexes; a session stays on one. More gain nothing at lock rates.
const shards = 8

// recorder takes what sessions report. Sessions only append to buffers; one collector takes them away and does the
// costly work, so that recording stays off the measured path: a mutex and a copy.
type recorder struct {
	shards [shards]shard
	now    func() time.Duration
}

type shard struct {
	mu       sync.Mutex
	ops      []results.Op
	attempts []attempt
	open     []time.Duration // start of each open session; closed: none
	free     []int32         // closed slots of open
	_        [64]byte        // keeps neighbours off one cache line
}

type attempt struct {
	session time.Duration // its intended time
	took    time.Duration
}

const none = time.Duration(math.MaxInt64)

// ticket is an open session's place.
type ticket struct {
	shard *shard
	slot  int32
}

func newRecorder(now func() time.Duration) *recorder { return &recorder{now: now} }

// begin opens a session. Those of one line come out in the order in which they ended. Whatever the session reports later
// lies at or after the returned time.
func (r *recorder) begin(line int64) (ticket, time.Duration) {
	s := &r.shards[uint64(line)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	at := r.now()
	if last := len(s.free) - 1; last >= 0 {
		slot := s.free[last]
		s.free = s.free[:last]
		s.open[slot] = at
		return ticket{s, slot}, at
	}
	s.open = append(s.open, at)
	return ticket{s, int32(len(s.open) - 1)}, at
}

// end closes the session with what happened.
func (r *recorder) end(t ticket, op *results.Op) {
	t.shard.mu.Lock()
	t.shard.ops = append(t.shard.ops, *op)
	t.shard.open[t.slot] = none
	t.shard.free = append(t.shard.free, t.slot)
	t.shard.mu.Unlock()
}

// attempted reports the time one attempt took.
func (t ticket) attempted(a attempt) {
	t.shard.mu.Lock()
	t.shard.attempts = append(t.shard.attempts, a)
	t.shard.mu.Unlock()
}

// drop records an arrival that was not started.
func (r *recorder) drop(op *results.Op) {
	s := &r.shards[uint64(op.N)%shards]
	s.mu.Lock()
	s.ops = append(s.ops, *op)
	s.mu.Unlock()
}

// batch is what sessions reported since the last one, a part for each shard.
type batch struct {
	parts [shards]struct {
		ops      []results.Op
		attempts []attempt
	}
	// frontier: no session that is still open, or will open, has an event before it.
	frontier time.Duration
	open     int // sessions in flight
}

// take exchanges the buffers with those of b, which sessions fill next. The clock is read before the shards: a session
// that opens in a shard already passed begins after that reading.
func (r *recorder) take(b *batch) {
	b.frontier, b.open = r.now(), 0
	for i := range r.shards {
		s, part := &r.shards[i], &b.parts[i]
		s.mu.Lock()
		s.ops, part.ops = part.ops[:0], s.ops
		s.attempts, part.attempts = part.attempts[:0], s.attempts
		for _, at := range s.open {
			b.frontier = min(b.frontier, at)
		}
		b.open += len(s.open) - len(s.free)
		s.mu.Unlock()
	}
}
