package sim

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/strategies"
)

// sortedSet keeps its members in order of score, then of name byte by byte. Insertion moves what lies behind: of ten
// thousand waiters that is a quarter of a megabyte.
type sortedSet struct {
	ordered []scored
	score   map[string]float64
}

type scored struct {
	score  float64
	member string
}

func compareScored(a, b scored) int {
	return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.member, b.member))
}

func (s *sortedSet) clone() *sortedSet {
	c := &sortedSet{ordered: slices.Clone(s.ordered), score: make(map[string]float64, len(s.score))}
	for _, m := range s.ordered {
		c.score[m.member] = m.score
	}
	return c
}

// rank is the place of a member that is there.
func (s *sortedSet) rank(member string) int {
	i, _ := slices.BinarySearchFunc(s.ordered, scored{s.score[member], member}, compareScored)
	return i
}

func (s *sortedSet) put(member string, score float64) {
	if _, found := s.score[member]; found {
		i := s.rank(member)
		s.ordered = slices.Delete(s.ordered, i, i+1)
	}
	s.score[member] = score
	s.ordered = slices.Insert(s.ordered, s.rank(member), scored{score, member})
}

func (s *sortedSet) remove(member string) bool {
	if _, found := s.score[member]; !found {
		return false
	}
	i := s.rank(member)
	s.ordered = slices.Delete(s.ordered, i, i+1)
	delete(s.score, member)
	return true
}

// zaddOptions are the words between ZADD key and the first score.
type zaddOptions struct{ nx, xx, gt, lt, ch, incr bool }

func readZaddOptions(words []string) (o zaddOptions, used int) {
	for i, word := range words {
		switch strings.ToLower(word) {
		case "nx":
			o.nx = true
		case "xx":
			o.xx = true
		case "gt":
			o.gt = true
		case "lt":
			o.lt = true
		case "ch":
			o.ch = true
		case "incr":
			o.incr = true
		default:
			return o, i
		}
	}
	return o, len(words)
}

func zadd(k *Keyspace, args []string) reply { return k.zadd(args, false) }

// zincrby is ZADD INCR and, as in Redis, takes its options.
func zincrby(k *Keyspace, args []string) reply { return k.zadd(args, true) }

func (k *Keyspace) zadd(args []string, incr bool) reply {
	o, used := readZaddOptions(args[2:])
	o.incr = o.incr || incr
	pairs := args[2+used:]
	switch {
	case len(pairs)%2 != 0 || len(pairs) == 0:
		return badSyntax
	case o.nx && o.xx:
		return fail("ERR XX and NX options at the same time are not compatible")
	case o.gt && o.nx || o.lt && o.nx || o.gt && o.lt:
		return fail("ERR GT, LT, and/or NX options at the same time are not compatible")
	case o.incr && len(pairs) > 2:
		return fail("ERR INCR option supports a single increment-element pair")
	}
	members := make([]scored, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		score, ok := parseFloat(pairs[i])
		if !ok {
			return notFloat
		}
		members = append(members, scored{score, pairs[i+1]})
	}
	return k.addScored(args[1], o, members)
}

func (k *Keyspace) addScored(key string, o zaddOptions, members []scored) reply {
	s, ok := k.set(key)
	switch {
	case !ok:
		return wrongType
	case s == nil && o.xx && o.incr:
		return null
	case s == nil && o.xx:
		return zero
	case s == nil:
		s = &sortedSet{score: map[string]float64{}}
		k.put(key, &entry{set: s})
	}
	var added, updated int64
	for _, m := range members {
		score, outcome := s.add(o, m)
		switch outcome {
		case notANumber:
			return fail("ERR resulting score is not a number (NaN)")
		case untouched:
			if o.incr {
				return null
			}
		case newMember:
			added++
		case newScore:
			updated++
		}
		if o.incr {
			k.dirty += added + updated
			return doubleReply(score)
		}
	}
	k.dirty += added + updated
	if o.ch {
		added += updated
	}
	return integerReply(added)
}

// What adding one member came to.
type addOutcome uint8

const (
	untouched addOutcome = iota // the options forbade it
	unchanged                   // it had this score already
	newMember
	newScore
	notANumber
)

func (s *sortedSet) add(o zaddOptions, m scored) (float64, addOutcome) {
	old, found := s.score[m.member]
	switch {
	case !found && o.xx, found && o.nx:
		return 0, untouched
	case !found:
		s.put(m.member, m.score)
		return m.score, newMember
	}
	score := m.score
	if o.incr {
		score += old
	}
	switch {
	case math.IsNaN(score):
		return 0, notANumber
	case o.lt && score >= old, o.gt && score <= old:
		return 0, untouched
	case score == old:
		return score, unchanged
	}
	s.put(m.member, score)
	return score, newScore
}

func zrem(k *Keyspace, args []string) reply {
	s, ok := k.set(args[1])
	switch {
	case !ok:
		return wrongType
	case s == nil:
		return zero
	}
	var n int64
	for _, member := range args[2:] {
		if s.remove(member) {
			n++
		}
	}
	k.removedScored(args[1], s, n)
	return integerReply(n)
}

func (k *Keyspace) removedScored(key string, s *sortedSet, n int64) {
	k.dirty += n
	if len(s.ordered) == 0 {
		delete(k.entries, key)
	}
}

func zcard(k *Keyspace, args []string) reply {
	s, ok := k.set(args[1])
	switch {
	case !ok:
		return wrongType
	case s == nil:
		return zero
	}
	return integerReply(int64(len(s.ordered)))
}

func zscore(k *Keyspace, args []string) reply {
	s, ok := k.set(args[1])
	if !ok {
		return wrongType
	}
	if s != nil {
		if score, found := s.score[args[2]]; found {
			return doubleReply(score)
		}
	}
	return null
}

func zrank(k *Keyspace, args []string) reply {
	s, ok := k.set(args[1])
	if !ok {
		return wrongType
	}
	if s != nil {
		if _, found := s.score[args[2]]; found {
			return integerReply(int64(s.rank(args[2])))
		}
	}
	return null
}

// rangeQuery is what the words after ZRANGE key min max ask for.
type rangeQuery struct {
	byScore, rev, scores bool
	offset, limit        int64
}

func readRangeQuery(words []string, legacy bool) (q rangeQuery, bad *reply) {
	q = rangeQuery{byScore: legacy, limit: -1}
	for i := 0; i < len(words); i++ {
		switch word := strings.ToLower(words[i]); {
		case word == "withscores":
			q.scores = true
		case word == "limit" && i+2 < len(words):
			var ok1, ok2 bool
			q.offset, ok1 = parseInteger(words[i+1])
			q.limit, ok2 = parseInteger(words[i+2])
			if !ok1 || !ok2 {
				return q, &notInteger
			}
			i += 2
		case word == "rev" && !legacy && !q.rev:
			q.rev = true
		case word == "byscore" && !legacy && !q.byScore:
			q.byScore = true
		case word == "bylex" && !legacy:
			r := notSimulated("ZRANGE BYLEX")
			return q, &r
		default:
			return q, &badSyntax
		}
	}
	if q.limit != -1 && !q.byScore {
		r := fail("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
		return q, &r
	}
	return q, nil
}

func zrange(k *Keyspace, args []string) reply        { return k.zrange(args, false) }
func zrangebyscore(k *Keyspace, args []string) reply { return k.zrange(args, true) }

func (k *Keyspace) zrange(args []string, legacy bool) reply {
	q, bad := readRangeQuery(args[4:], legacy)
	if bad != nil {
		return *bad
	}
	from, to := args[2], args[3]
	if q.byScore {
		if q.rev {
			from, to = to, from
		}
		r, ok := readScoreRange(from, to)
		if !ok {
			return badScoreRange
		}
		return k.selected(args[1], q, r.in)
	}
	low, ok1 := parseInteger(from)
	high, ok2 := parseInteger(to)
	if !ok1 || !ok2 {
		return notInteger
	}
	return k.selected(args[1], q, func(all []scored) (int, int) {
		from, to := bounds(low, high, len(all))
		if q.rev {
			return len(all) - to, len(all) - from
		}
		return from, to
	})
}

var badScoreRange = fail("ERR min or max is not a float")

// selected answers the members whose places choose gives.
func (k *Keyspace) selected(key string, q rangeQuery, choose func([]scored) (low, high int)) reply {
	s, ok := k.set(key)
	switch {
	case !ok:
		return wrongType
	case s == nil:
		return emptyList
	}
	low, high := choose(s.ordered)
	some := s.ordered[low:high]
	if q.rev {
		some = slices.Clone(some)
		slices.Reverse(some)
	}
	all := make([]reply, 0, len(some))
	for _, m := range q.page(some) {
		all = append(all, textReply(m.member))
		if q.scores {
			all = append(all, doubleReply(m.score))
		}
	}
	return reply{Kind: strategies.List, List: all}
}

// page applies LIMIT to scores: a negative offset skips all, a negative count takes all. Of ranks Redis refuses it, but
// for LIMIT n -1, which it ignores.
func (q rangeQuery) page(some []scored) []scored {
	switch {
	case !q.byScore:
		return some
	case q.offset < 0:
		return nil
	}
	some = some[min(q.offset, int64(len(some))):]
	if q.limit >= 0 {
		some = some[:min(q.limit, int64(len(some)))]
	}
	return some
}

// scoreRange is a range of scores; an exclusive end is written "(5".
type scoreRange struct {
	min, max     float64
	over, before bool // exclusive at min, at max
}

func readScoreRange(from, to string) (r scoreRange, ok bool) {
	var ok1, ok2 bool
	r.min, r.over, ok1 = readBound(from)
	r.max, r.before, ok2 = readBound(to)
	return r, ok1 && ok2
}

// readBound is more lenient than scores: nothing counts as 0, leading blanks are skipped, a zero byte ends it.
func readBound(s string) (f float64, exclusive, ok bool) {
	s, exclusive = strings.CutPrefix(s, "(")
	s, _, _ = strings.Cut(s, "\x00")
	if s == "" {
		return 0, exclusive, true
	}
	f, ok = strtod(strings.TrimLeft(s, " \t\n\v\f\r"))
	return f, exclusive, ok && !math.IsNaN(f)
}

// in gives the places of the members in range.
func (r scoreRange) in(all []scored) (low, high int) {
	place := func(score float64, after bool) int {
		i, _ := slices.BinarySearchFunc(all, score, func(m scored, score float64) int {
			if m.score < score || after && m.score == score {
				return -1
			}
			return 1
		})
		return i
	}
	low, high = place(r.min, r.over), place(r.max, !r.before)
	return low, max(low, high)
}

func zcount(k *Keyspace, args []string) reply {
	r, ok := readScoreRange(args[2], args[3])
	if !ok {
		return badScoreRange
	}
	s, ok := k.set(args[1])
	switch {
	case !ok:
		return wrongType
	case s == nil:
		return zero
	}
	low, high := r.in(s.ordered)
	return integerReply(int64(high - low))
}

func zremrangebyscore(k *Keyspace, args []string) reply {
	r, ok := readScoreRange(args[2], args[3])
	if !ok {
		return badScoreRange
	}
	s, ok := k.set(args[1])
	switch {
	case !ok:
		return wrongType
	case s == nil:
		return zero
	}
	low, high := r.in(s.ordered)
	for _, m := range s.ordered[low:high] {
		delete(s.score, m.member)
	}
	s.ordered = slices.Delete(s.ordered, low, high)
	k.removedScored(args[1], s, int64(high-low))
	return integerReply(int64(high - low))
}
