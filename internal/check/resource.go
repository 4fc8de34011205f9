package check

import (
	"hash/maphash"
	"sync"
)

// Counter is a protected resource in memory: one counter a key, raised by read, work, write. Two holders at once show
// as a lost update. A fenced Counter remembers the largest fencing token it was shown for a key, by readers and
// writers alike, and refuses writes with a smaller one. It is safe for concurrent use and never waits for a holder.
type Counter struct {
	fenced bool
	seed   maphash.Seed
	shards [64]shard
}

// shard is a part of the keys, so that holders of different keys rarely meet at one mutex.
type shard struct {
	mu    sync.Mutex
	cells map[string]cell
}

type cell struct {
	value uint64 // writes accepted
	seen  uint64 // largest fencing token shown
}

// Visit is what a holder carries from reading to writing.
type Visit struct {
	key   string
	value uint64 // as read
	fence uint64
}

// Result says what became of a write.
type Result struct {
	Refused    bool // not written: a newer token had been shown
	Stale      bool // written although a newer token had been shown
	LostUpdate bool // written over an update made since the read
}

// NewCounter is a resource with all counters at 0.
func NewCounter(fenced bool) *Counter {
	c := &Counter{fenced: fenced, seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].cells = map[string]cell{}
	}
	return c
}

// Enter reads the counter of key at the start of a critical section. fence is the lease's token, 0 where the holder
// presents none. The read presents it too: with writes alone an older holder could still write between a newer one's
// read and write, and its update would be lost.
func (c *Counter) Enter(key string, fence uint64) Visit {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.cells[key]
	x.seen = max(x.seen, fence)
	s.cells[key] = x
	return Visit{key: key, value: x.value, fence: fence}
}

// Leave writes what was read plus one, at the end of the critical section.
func (c *Counter) Leave(v Visit) Result {
	s := c.shard(v.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.cells[v.key]
	stale := v.fence != 0 && v.fence < x.seen
	if stale && c.fenced {
		return Result{Refused: true}
	}
	lost := x.value != v.value
	x.value++
	s.cells[v.key] = x
	return Result{Stale: stale, LostUpdate: lost}
}

func (c *Counter) shard(key string) *shard {
	return &c.shards[maphash.String(c.seed, key)%uint64(len(c.shards))]
}
