package sim

import (
	"slices"
	"strconv"
)

// hash keeps its fields in the order of their arrival, as Redis does for small hashes; of large ones Redis promises no
// order.
type hash struct {
	fields []field
	at     map[string]int // place of each living field in fields
}

type field struct {
	name, value string
	gone        bool
}

func newHash() *hash { return &hash{at: map[string]int{}} }

func (h *hash) clone() *hash {
	c := newHash()
	for f := range h.living {
		c.put(f.name, f.value)
	}
	return c
}

// living calls yield with each field.
func (h *hash) living(yield func(*field) bool) {
	for i := range h.fields {
		if f := &h.fields[i]; !f.gone && !yield(f) {
			return
		}
	}
}

func (h *hash) get(name string) (value string, found bool) {
	if i, found := h.at[name]; found {
		return h.fields[i].value, true
	}
	return "", false
}

// put tells whether the field is new.
func (h *hash) put(name, value string) bool {
	if i, found := h.at[name]; found {
		h.fields[i].value = value
		return false
	}
	h.at[name] = len(h.fields)
	h.fields = append(h.fields, field{name: name, value: value})
	return true
}

// remove leaves a gap, and closes the gaps once they are the larger part.
func (h *hash) remove(name string) bool {
	i, found := h.at[name]
	if !found {
		return false
	}
	delete(h.at, name)
	h.fields[i] = field{gone: true}
	if len(h.fields) > 2*len(h.at)+8 {
		h.fields = slices.DeleteFunc(h.fields, func(f field) bool { return f.gone })
		for i, f := range h.fields {
			h.at[f.name] = i
		}
	}
	return true
}

// hashToWrite makes the hash where there is none.
func (k *Keyspace) hashToWrite(key string) (*hash, bool) {
	h, ok := k.hash(key)
	if ok && h == nil {
		h = newHash()
		k.put(key, &entry{hash: h})
	}
	return h, ok
}

func hset(k *Keyspace, args []string) reply {
	if len(args)%2 != 0 {
		return wrongArity("hset")
	}
	h, ok := k.hashToWrite(args[1])
	if !ok {
		return wrongType
	}
	var created int64
	for i := 2; i < len(args); i += 2 {
		if h.put(args[i], args[i+1]) {
			created++
		}
	}
	k.dirty++
	return integerReply(created)
}

func hmset(k *Keyspace, args []string) reply {
	if len(args)%2 != 0 {
		return wrongArity("hmset")
	}
	if r := hset(k, args); r.Kind == failure {
		return r
	}
	return okay
}

func hsetnx(k *Keyspace, args []string) reply {
	h, ok := k.hashToWrite(args[1])
	if !ok {
		return wrongType
	}
	if _, found := h.get(args[2]); found {
		return zero
	}
	h.put(args[2], args[3])
	k.dirty++
	return one
}

func hget(k *Keyspace, args []string) reply {
	h, ok := k.hash(args[1])
	if !ok {
		return wrongType
	}
	return h.value(args[2])
}

// value is nil where the field, or the hash itself, is missing.
func (h *hash) value(name string) reply {
	if h != nil {
		if v, found := h.get(name); found {
			return textReply(v)
		}
	}
	return null
}

func hmget(k *Keyspace, args []string) reply {
	h, ok := k.hash(args[1])
	if !ok {
		return wrongType
	}
	all := make([]reply, 0, len(args)-2)
	for _, name := range args[2:] {
		all = append(all, h.value(name))
	}
	return listReply(all)
}

func hdel(k *Keyspace, args []string) reply {
	h, ok := k.hash(args[1])
	switch {
	case !ok:
		return wrongType
	case h == nil:
		return zero
	}
	var n int64
	for _, name := range args[2:] {
		if h.remove(name) {
			n++
		}
	}
	k.dirty += n
	if len(h.at) == 0 {
		delete(k.entries, args[1])
	}
	return integerReply(n)
}

func hexists(k *Keyspace, args []string) reply {
	h, ok := k.hash(args[1])
	if !ok {
		return wrongType
	}
	return boolReply(h.value(args[2]).Kind != null.Kind)
}

func hincrby(k *Keyspace, args []string) reply {
	by, ok := parseInteger(args[3])
	if !ok {
		return notInteger
	}
	h, ok := k.hash(args[1])
	if !ok {
		return wrongType
	}
	var n int64
	if v := h.value(args[2]); v.Kind != null.Kind {
		if n, ok = parseInteger(v.Text); !ok {
			return fail("ERR hash value is not an integer")
		}
	}
	n, ok = sum(n, by)
	if !ok {
		return overflow
	}
	h, _ = k.hashToWrite(args[1])
	h.put(args[2], strconv.FormatInt(n, 10))
	k.dirty++
	return integerReply(n)
}

func hgetall(k *Keyspace, args []string) reply {
	return k.fields(args[1], func(f *field, to []string) []string { return append(to, f.name, f.value) })
}

func hkeys(k *Keyspace, args []string) reply {
	return k.fields(args[1], func(f *field, to []string) []string { return append(to, f.name) })
}

func hvals(k *Keyspace, args []string) reply {
	return k.fields(args[1], func(f *field, to []string) []string { return append(to, f.value) })
}

func (k *Keyspace) fields(key string, add func(f *field, to []string) []string) reply {
	h, ok := k.hash(key)
	switch {
	case !ok:
		return wrongType
	case h == nil:
		return emptyList
	}
	var all []string
	for f := range h.living {
		all = add(f, all)
	}
	return textsReply(all)
}

func hlen(k *Keyspace, args []string) reply {
	h, ok := k.hash(args[1])
	switch {
	case !ok:
		return wrongType
	case h == nil:
		return zero
	}
	return integerReply(int64(len(h.at)))
}
