package sim

import (
	"math"
	"strings"
)

func del(k *Keyspace, args []string) reply {
	var n int64
	for _, key := range args[1:] {
		if k.remove(key) {
			n++
		}
	}
	return integerReply(n)
}

// exists counts a key as often as it is named.
func exists(k *Keyspace, args []string) reply {
	var n int64
	for _, key := range args[1:] {
		if k.lookup(key) != nil {
			n++
		}
	}
	return integerReply(n)
}

func typeOf(k *Keyspace, args []string) reply {
	name := "string"
	switch e := k.lookup(args[1]); {
	case e == nil:
		name = "none"
	case e.hash != nil:
		name = "hash"
	case e.list != nil:
		name = "list"
	case e.set != nil:
		name = "zset"
	}
	return reply{Kind: status, Text: name}
}

// expiry is one of the four commands that set a TTL: in units of so many ms, from now or from 1970.
type expiry struct {
	command  string
	unit     int64
	absolute bool
}

func expire(x expiry) func(*Keyspace, []string) reply {
	return func(k *Keyspace, args []string) reply {
		when, bad := readCondition(args[3:])
		if bad != nil {
			return *bad
		}
		at, bad := k.expiresAt(x, args[2])
		if bad != nil {
			return *bad
		}
		e := k.lookup(args[1])
		if e == nil || !when.allows(e.deadline, at) {
			return zero
		}
		k.expireAt(args[1], e, at)
		return one
	}
}

func (k *Keyspace) expiresAt(x expiry, amount string) (at int64, bad *reply) {
	n, ok := parseInteger(amount)
	if !ok {
		return 0, &notInteger
	}
	if n > math.MaxInt64/x.unit || n < math.MinInt64/x.unit {
		return 0, badExpiry(x.command)
	}
	n *= x.unit
	if x.absolute {
		return n, nil
	}
	if n > math.MaxInt64-k.ms {
		return 0, badExpiry(x.command)
	}
	return n + k.ms, nil
}

// expireAt sets the end of a living key; one that has passed deletes it at once.
func (k *Keyspace) expireAt(key string, e *entry, at int64) {
	if at <= k.ms {
		delete(k.entries, key)
	} else {
		e.deadline = at
	}
	k.dirty++
}

// condition is when EXPIRE may act.
type condition struct{ nx, xx, gt, lt bool }

func readCondition(words []string) (c condition, bad *reply) {
	for _, word := range words {
		switch strings.ToLower(word) {
		case "nx":
			c.nx = true
		case "xx":
			c.xx = true
		case "gt":
			c.gt = true
		case "lt":
			c.lt = true
		default:
			r := fail("ERR Unsupported option " + word)
			return c, &r
		}
	}
	if c.nx && (c.xx || c.gt || c.lt) {
		r := fail("ERR NX and XX, GT or LT options at the same time are not compatible")
		return c, &r
	}
	if c.gt && c.lt {
		r := fail("ERR GT and LT options at the same time are not compatible")
		return c, &r
	}
	return c, nil
}

// allows: a key without a TTL counts as one that ends after all others.
func (c condition) allows(old, at int64) bool {
	switch {
	case c.nx && old != 0, c.xx && old == 0,
		c.gt && (old == 0 || at <= old), c.lt && old != 0 && at >= old:
		return false
	}
	return true
}

// ttl answers in units of so many ms, rounded to the nearest: what is left, or when the end is.
func ttl(unit int64, absolute bool) func(*Keyspace, []string) reply {
	return func(k *Keyspace, args []string) reply {
		e := k.lookup(args[1])
		switch {
		case e == nil:
			return integerReply(-2)
		case e.deadline == 0:
			return integerReply(-1)
		}
		ms := e.deadline
		if !absolute {
			ms -= k.ms
		}
		if rest := ms % unit; unit > 1 && rest >= unit/2 {
			return integerReply(ms/unit + 1)
		}
		return integerReply(ms / unit)
	}
}

func persist(k *Keyspace, args []string) reply {
	e := k.lookup(args[1])
	if e == nil || e.deadline == 0 {
		return zero
	}
	e.deadline = 0
	k.dirty++
	return one
}

// dbsize counts living keys; Redis also counts ended ones that it has not met yet.
func dbsize(k *Keyspace, _ []string) reply {
	k.sweep()
	return integerReply(int64(len(k.entries)))
}

func flushall(k *Keyspace, args []string) reply {
	if len(args) > 2 || len(args) == 2 && !strings.EqualFold(args[1], "sync") && !strings.EqualFold(args[1], "async") {
		return badSyntax
	}
	k.entries, k.swept = map[string]*entry{}, 0
	k.dirty++
	return okay
}
