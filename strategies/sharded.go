package strategies

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
)

// Picks of sharded.
const (
	pickRandom   = "random"
	pickHash     = "hash"
	pickLeastOf2 = "least-of-2"
)

// rows is how many groups of keys the in-flight counters of least-of-2 tell apart. Keys that share a group make each
// other's choice a little worse and never wrong.
const rows = 64

// sharded spreads one hot lock over S stripes, each a lock of the base with the key `<key>:s<number>`: up to S holders
// at a time, so it fits what can be split, as a stock of goods. Lease.Key is the stripe. The stripes of a key without
// a hash tag fall into different slots of a cluster; those of a key with one stay together.
//
// The stripe is chosen anew for every attempt. random: evenly. hash: by FNV-1a of the owner token, which needs no
// source of randomness. least-of-2: of two random stripes the one with fewer sessions of this Locker, holding or
// attempting (the power of two choices).
//
// State: for least-of-2 a counter for each stripe and group of keys, up at each attempt and down when it fails or its
// lease is released. A lease that nobody releases stays counted; that makes choices worse and nothing else.
type sharded struct {
	base    Locker
	stripes int
	pick    string
	latch   latch // of rand
	rand    *rand.Rand
	busy    []atomic.Int64 // by group and stripe
}

func newSharded(e Env, o Options) (Locker, error) {
	base, err := New(option(o, "base", "set-px-lua"), e, nil)
	if err != nil {
		return nil, err
	}
	s := &sharded{base: base, stripes: option(o, "shards", 8), pick: option(o, "pick", pickRandom), rand: e.Rand}
	if s.pick != pickHash && s.rand == nil {
		return nil, errors.New(`strategy "sharded": pick ` + s.pick + ` needs a source of randomness`)
	}
	if s.pick == pickLeastOf2 {
		s.busy = make([]atomic.Int64, rows*s.stripes)
	}
	return s, nil
}

// Names lists the stripes of key.
func (s *sharded) Names(key string) []string {
	all := make([]string, s.stripes)
	for i := range all {
		all[i] = StripeKey(key, i)
	}
	return all
}

var _ Namer = (*sharded)(nil)

// StripeKey is the key of a stripe, counted from 0.
func StripeKey(key string, stripe int) string { return key + ":s" + strconv.Itoa(stripe) }

// stripeOf finds the stripe in a key of StripeKey.
func (s *sharded) stripeOf(key string) (logical string, stripe int, ok bool) {
	i := strings.LastIndex(key, ":s")
	if i < 0 {
		return key, 0, false
	}
	stripe, err := strconv.Atoi(key[i+2:])
	return key[:i], stripe, err == nil && stripe >= 0 && stripe < s.stripes && StripeKey(key[:i], stripe) == key
}

func (s *sharded) Acquire(ctx context.Context, r Request) (Lease, error) {
	stripe := s.choose(r)
	logical := r.Key
	s.count(logical, stripe, 1)
	r.Key = StripeKey(logical, stripe)
	l, err := s.base.Acquire(ctx, r)
	if err != nil {
		s.count(logical, stripe, -1)
	}
	return l, err
}

func (s *sharded) choose(r Request) int {
	switch s.pick {
	case pickHash:
		return int(hash(r.Owner) % uint64(s.stripes))
	case pickLeastOf2:
		return s.lesser(r.Key, s.draw(), s.draw())
	default:
		return s.draw()
	}
}

func (s *sharded) draw() int {
	s.latch.lock()
	defer s.latch.unlock()
	return s.rand.IntN(s.stripes)
}

func (s *sharded) lesser(key string, a, b int) int {
	if s.counter(key, b).Load() < s.counter(key, a).Load() {
		return b
	}
	return a
}

func (s *sharded) counter(key string, stripe int) *atomic.Int64 {
	return &s.busy[int(hash(key)%rows)*s.stripes+stripe]
}

func (s *sharded) count(key string, stripe int, by int64) {
	if s.busy == nil {
		return
	}
	if n := s.counter(key, stripe); n.Add(by) < 0 {
		n.Add(1) // released twice
	}
}

// hash is FNV-1a, 64 bits.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (s *sharded) Renew(ctx context.Context, l Lease) (Lease, error) { return s.base.Renew(ctx, l) }

// Release gives up the stripe that the lease names. After an attempt of unknown fate the caller may know the logical
// key alone: then the owner is released on every stripe, which the comparison of owners makes harmless.
func (s *sharded) Release(ctx context.Context, l Lease) (Outcome, error) {
	logical, stripe, ok := s.stripeOf(l.Key)
	if !ok {
		return s.releaseAny(ctx, l)
	}
	s.count(logical, stripe, -1)
	return s.base.Release(ctx, l)
}

func (s *sharded) releaseAny(ctx context.Context, l Lease) (Outcome, error) {
	key, best, errs := l.Key, Expired, []error(nil)
	for i := range s.stripes {
		l.Key = StripeKey(key, i)
		found, err := s.base.Release(ctx, l)
		switch {
		case found == Released:
			return Released, nil
		case err != nil:
			errs = append(errs, err)
		}
	}
	if errs != nil {
		best = Unknown
	}
	return best, errors.Join(errs...)
}
