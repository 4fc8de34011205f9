package sim

import "slices"

// list is a queue with room at both ends: its items are buf[head:].
type list struct {
	buf  []string
	head int
}

func (l *list) clone() *list { return &list{buf: slices.Clone(l.items())} }

func (l *list) items() []string { return l.buf[l.head:] }
func (l *list) len() int        { return len(l.buf) - l.head }

func (l *list) pushBack(s string) {
	if l.head > 32 && l.head > len(l.buf)/2 {
		l.buf = append(l.buf[:0], l.items()...)
		l.head = 0
	}
	l.buf = append(l.buf, s)
}

func (l *list) pushFront(s string) {
	if l.head == 0 {
		room := l.len() + 8
		grown := make([]string, room, 2*room)
		l.buf, l.head = append(grown, l.buf...), room
	}
	l.head--
	l.buf[l.head] = s
}

func (l *list) popFront() string {
	s := l.buf[l.head]
	l.buf[l.head] = ""
	l.head++
	return s
}

func (l *list) popBack() string {
	last := len(l.buf) - 1
	s := l.buf[last]
	l.buf[last] = ""
	l.buf = l.buf[:last]
	return s
}

func lpush(k *Keyspace, args []string) reply { return k.push(args, (*list).pushFront) }
func rpush(k *Keyspace, args []string) reply { return k.push(args, (*list).pushBack) }

func (k *Keyspace) push(args []string, one func(*list, string)) reply {
	l, ok := k.list(args[1])
	switch {
	case !ok:
		return wrongType
	case l == nil:
		l = &list{}
		k.put(args[1], &entry{list: l})
	}
	for _, item := range args[2:] {
		one(l, item)
	}
	k.dirty++
	if k.Pushed != nil {
		k.Pushed(args[1])
	}
	return integerReply(int64(l.len()))
}

func lpop(k *Keyspace, args []string) reply { return k.pop(args, (*list).popFront) }
func rpop(k *Keyspace, args []string) reply { return k.pop(args, (*list).popBack) }

func (k *Keyspace) pop(args []string, one func(*list) string) reply {
	count, missing := int64(-1), null
	switch {
	case len(args) > 3:
		return wrongArity(lookupCommand(args[0]).name)
	case len(args) == 3:
		var ok bool
		if count, ok = parseInteger(args[2]); !ok || count < 0 {
			return fail("ERR value is out of range, must be positive")
		}
		missing = reply{Kind: noList}
	}
	l, ok := k.list(args[1])
	switch {
	case !ok:
		return wrongType
	case l == nil:
		return missing
	case count < 0:
		item := one(l)
		k.popped(args[1], l)
		return textReply(item)
	case count == 0:
		return emptyList
	}
	all := make([]reply, min(count, int64(l.len())))
	for i := range all {
		all[i] = textReply(one(l))
	}
	k.popped(args[1], l)
	return listReply(all)
}

// popped records a change and deletes a list that has become empty.
func (k *Keyspace) popped(key string, l *list) {
	k.dirty++
	if l.len() == 0 {
		delete(k.entries, key)
	}
}

func llen(k *Keyspace, args []string) reply {
	l, ok := k.list(args[1])
	switch {
	case !ok:
		return wrongType
	case l == nil:
		return zero
	}
	return integerReply(int64(l.len()))
}

func lrange(k *Keyspace, args []string) reply {
	from, ok1 := parseInteger(args[2])
	to, ok2 := parseInteger(args[3])
	if !ok1 || !ok2 {
		return notInteger
	}
	l, ok := k.list(args[1])
	switch {
	case !ok:
		return wrongType
	case l == nil:
		return emptyList
	}
	low, high := bounds(from, to, l.len())
	return textsReply(l.items()[low:high])
}

// bounds turns two inclusive indexes, negative ones from the end, into those of a slice of n items.
func bounds(from, to int64, n int) (low, high int) {
	size := int64(n)
	if from < 0 {
		from = max(from+size, 0)
	}
	if to < 0 {
		to += size
	}
	to = min(to, size-1)
	if from > to {
		return 0, 0
	}
	return int(from), int(to) + 1
}

func lindex(k *Keyspace, args []string) reply {
	l, ok := k.list(args[1])
	switch {
	case !ok:
		return wrongType
	case l == nil:
		return null
	}
	i, ok := parseInteger(args[2])
	if !ok {
		return notInteger
	}
	if i < 0 {
		i += int64(l.len())
	}
	if i < 0 || i >= int64(l.len()) {
		return null
	}
	return textReply(l.items()[i])
}

// lrem removes the first count items equal to the value, the last ones for a negative count, all for 0.
func lrem(k *Keyspace, args []string) reply {
	count, ok := parseInteger(args[2])
	if !ok {
		return notInteger
	}
	l, ok := k.list(args[1])
	switch {
	case !ok:
		return wrongType
	case l == nil:
		return zero
	}
	if count < 0 {
		slices.Reverse(l.items())
	}
	n := l.drop(args[3], count)
	if count < 0 {
		slices.Reverse(l.items())
	}
	if n > 0 {
		k.popped(args[1], l)
	}
	return integerReply(n)
}

func (l *list) drop(value string, count int64) (n int64) {
	kept := slices.DeleteFunc(l.items(), func(s string) bool {
		if s != value || count != 0 && n == max(count, -count) {
			return false
		}
		n++
		return true
	})
	l.buf = l.buf[:l.head+len(kept)]
	return n
}
