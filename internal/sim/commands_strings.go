package sim

import (
	"math"
	"strconv"
	"strings"
)

// setOptions are the words after SET key value, or after GETEX key.
type setOptions struct {
	nx, xx, get, keep, persist bool
	unit                       string // ex, px, exat, pxat or empty
	amount                     string // of the unit
}

// readSetOptions knows which words exclude each other. GETEX has no NX, XX, GET, KEEPTTL; SET has no PERSIST.
func readSetOptions(words []string, getex bool) (o setOptions, ok bool) {
	for i := 0; i < len(words); i++ {
		switch word := strings.ToLower(words[i]); {
		case word == "nx" && !o.xx && !getex:
			o.nx = true
		case word == "xx" && !o.nx && !getex:
			o.xx = true
		case word == "get" && !getex:
			o.get = true
		case word == "keepttl" && o.unit == "" && !getex:
			o.keep = true
		case word == "persist" && o.unit == "" && getex:
			o.persist = true
		case isUnit(word) && !o.keep && !o.persist && (o.unit == "" || o.unit == word) && i+1 < len(words):
			i++
			o.unit, o.amount = word, words[i]
		default:
			return o, false
		}
	}
	return o, true
}

func isUnit(word string) bool {
	return word == "ex" || word == "px" || word == "exat" || word == "pxat"
}

// deadline is the wall clock in ms at which a TTL of so many units ends; bad is an error reply.
func (k *Keyspace) deadline(command, unit, amount string) (at int64, bad *reply) {
	n, ok := parseInteger(amount)
	if !ok {
		return 0, &notInteger
	}
	seconds := unit == "ex" || unit == "exat"
	if n <= 0 || seconds && n > math.MaxInt64/1000 {
		return 0, badExpiry(command)
	}
	if seconds {
		n *= 1000
	}
	if unit == "ex" || unit == "px" {
		n += k.ms // wraps around for what is too large
	}
	if n <= 0 {
		return 0, badExpiry(command)
	}
	return n, nil
}

func badExpiry(command string) *reply {
	r := fail("ERR invalid expire time in '" + command + "' command")
	return &r
}

func set(k *Keyspace, args []string) reply {
	o, ok := readSetOptions(args[3:], false)
	if !ok {
		return badSyntax
	}
	return k.setWith(o, "set", args[1], args[2])
}

func (k *Keyspace) setWith(o setOptions, command, key, value string) reply {
	var at int64
	if o.unit != "" {
		var bad *reply
		if at, bad = k.deadline(command, o.unit, o.amount); bad != nil {
			return *bad
		}
	}
	old := k.lookup(key)
	answer := okay
	if o.get {
		if answer = get(k, []string{"get", key}); answer.Kind == failure {
			return answer
		}
	}
	if o.nx && old != nil || o.xx && old == nil {
		if o.get {
			return answer
		}
		return null
	}
	if o.keep && old != nil {
		at = old.deadline
	}
	k.setText(key, value, at)
	return answer
}

// setText replaces whatever key holds.
func (k *Keyspace) setText(key, value string, deadline int64) {
	k.put(key, &entry{text: value, deadline: deadline})
	k.dirty++
}

func get(k *Keyspace, args []string) reply {
	e, ok := k.text(args[1])
	switch {
	case !ok:
		return wrongType
	case e == nil:
		return null
	}
	return textReply(e.text)
}

func setnx(k *Keyspace, args []string) reply {
	if k.lookup(args[1]) != nil {
		return zero
	}
	k.setText(args[1], args[2], 0)
	return one
}

func setex(k *Keyspace, args []string) reply {
	return k.setWith(setOptions{unit: "ex", amount: args[2]}, "setex", args[1], args[3])
}

func psetex(k *Keyspace, args []string) reply {
	return k.setWith(setOptions{unit: "px", amount: args[2]}, "psetex", args[1], args[3])
}

func getset(k *Keyspace, args []string) reply {
	old := get(k, args)
	if old.Kind != failure {
		k.setText(args[1], args[2], 0)
	}
	return old
}

func getdel(k *Keyspace, args []string) reply {
	old := get(k, args)
	if old.Kind != failure {
		k.remove(args[1])
	}
	return old
}

func getex(k *Keyspace, args []string) reply {
	o, ok := readSetOptions(args[2:], true)
	if !ok {
		return badSyntax
	}
	e, ok := k.text(args[1])
	switch {
	case !ok:
		return wrongType
	case e == nil:
		return null
	}
	if o.unit != "" {
		at, bad := k.deadline("getex", o.unit, o.amount)
		if bad != nil {
			return *bad
		}
		k.expireAt(args[1], e, at)
	} else if o.persist && e.deadline != 0 {
		e.deadline = 0
		k.dirty++
	}
	return textReply(e.text)
}

func appendText(k *Keyspace, args []string) reply {
	e, ok := k.text(args[1])
	switch {
	case !ok:
		return wrongType
	case e == nil:
		k.setText(args[1], args[2], 0)
		return integerReply(int64(len(args[2])))
	}
	e.text += args[2]
	k.dirty++
	return integerReply(int64(len(e.text)))
}

func strlen(k *Keyspace, args []string) reply {
	e, ok := k.text(args[1])
	switch {
	case !ok:
		return wrongType
	case e == nil:
		return zero
	}
	return integerReply(int64(len(e.text)))
}

func incr(k *Keyspace, args []string) reply { return k.add(args[1], 1) }
func decr(k *Keyspace, args []string) reply { return k.add(args[1], -1) }

func incrby(k *Keyspace, args []string) reply {
	n, ok := parseInteger(args[2])
	if !ok {
		return notInteger
	}
	return k.add(args[1], n)
}

func decrby(k *Keyspace, args []string) reply {
	n, ok := parseInteger(args[2])
	switch {
	case !ok:
		return notInteger
	case n == math.MinInt64:
		return fail("ERR decrement would overflow")
	}
	return k.add(args[1], -n)
}

// add keeps the TTL.
func (k *Keyspace) add(key string, by int64) reply {
	e, ok := k.text(key)
	if !ok {
		return wrongType
	}
	var n int64
	if e != nil {
		if n, ok = parseInteger(e.text); !ok {
			return notInteger
		}
	}
	sum, ok := sum(n, by)
	if !ok {
		return overflow
	}
	k.dirty++
	if e == nil {
		k.put(key, &entry{text: strconv.FormatInt(sum, 10)})
	} else {
		e.text = strconv.FormatInt(sum, 10)
	}
	return integerReply(sum)
}

// sum is not ok where it does not fit.
func sum(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func mset(k *Keyspace, args []string) reply {
	if len(args)%2 == 0 {
		return wrongArity("mset")
	}
	for i := 1; i < len(args); i += 2 {
		k.setText(args[i], args[i+1], 0)
	}
	return okay
}

func msetnx(k *Keyspace, args []string) reply {
	if len(args)%2 == 0 {
		return wrongArity("msetnx")
	}
	for i := 1; i < len(args); i += 2 {
		if k.lookup(args[i]) != nil {
			return zero
		}
	}
	mset(k, args)
	return one
}

func mget(k *Keyspace, args []string) reply {
	all := make([]reply, len(args)-1)
	for i, key := range args[1:] {
		if e, ok := k.text(key); ok && e != nil {
			all[i] = textReply(e.text)
		}
	}
	return listReply(all)
}
