package check

import (
	"slices"
	"sort"
	"time"

	"github.com/lockbench/lockbench/results"
)

// tokens checks the fencing tokens of one key: a grant that returned before another was asked for has the smaller
// token, and no two grants share one. It retains the grants that may still be compared and, of all others, the one
// with the largest token.
type tokens struct {
	grants []token // in order of Decided
	floor  results.Op
	any    bool // floor is set
}

type token struct {
	op         results.Op
	top        int // place of the largest token up to this one
	disordered bool
}

// fence checks the token of op against those of its key.
func (s *Sweep) fence(h *history, op results.Op) {
	if h.tokens == nil {
		h.tokens = &tokens{}
	}
	h.tokens.add(op, func(earlier, later results.Op) {
		s.f.FenceDisorder++
		s.f.Violations++
		s.prove(fenceDisorder, later.Decided, earlier, later)
	})
}

// add inserts op and calls found once for each grant that turns out to be out of order.
func (t *tokens) add(op results.Op, found func(earlier, later results.Op)) {
	i := sort.Search(len(t.grants), func(i int) bool { return grantOrder(t.grants[i].op, op) > 0 })
	t.grants = slices.Insert(t.grants, i, token{op: op})
	t.measure(i)
	t.checkOwn(i, found)
	t.checkLater(i, found)
	t.checkEqual(i, found)
}

// checkOwn compares the grant at place i with the largest token granted before it was asked for.
func (t *tokens) checkOwn(i int, found func(earlier, later results.Op)) {
	x := &t.grants[i]
	if t.any && t.floor.Decided < x.op.Asked { // not so only where the history was truncated
		x.against(t.floor, found)
	}
	before := sort.Search(len(t.grants), func(j int) bool { return t.grants[j].op.Decided >= x.op.Asked })
	if before > 0 {
		x.against(t.grants[t.grants[before-1].top].op, found)
	}
}

// checkLater compares every grant asked for after the grant at place i was decided with its token.
func (t *tokens) checkLater(i int, found func(earlier, later results.Op)) {
	x := t.grants[i].op
	for j := i + 1; j < len(t.grants); j++ {
		if t.grants[j].op.Asked > x.Decided {
			t.grants[j].against(x, found)
		}
	}
}

// checkEqual looks for the token of the grant at place i among those that were in flight together with it; the
// other two checks have seen the rest.
func (t *tokens) checkEqual(i int, found func(earlier, later results.Op)) {
	x := &t.grants[i]
	from := sort.Search(len(t.grants), func(j int) bool { return t.grants[j].op.Decided >= x.op.Asked })
	for j := from; j < len(t.grants); j++ {
		y := &t.grants[j]
		switch {
		case j < i && y.op.Fence == x.op.Fence:
			x.against(y.op, found)
		case j > i && y.op.Fence == x.op.Fence:
			y.against(x.op, found)
		}
	}
}

// against marks x as out of order where its token is not above that of an earlier grant.
func (x *token) against(earlier results.Op, found func(earlier, later results.Op)) {
	if !x.disordered && x.op.Fence <= earlier.Fence {
		x.disordered = true
		found(earlier, x.op)
	}
}

// measure renews top from place i on.
func (t *tokens) measure(i int) {
	for ; i < len(t.grants); i++ {
		t.grants[i].top = i
		if i > 0 {
			if p := t.grants[i-1].top; t.grants[p].op.Fence >= t.grants[i].op.Fence {
				t.grants[i].top = p
			}
		}
	}
}

// drop forgets grants decided before frontier, but for the largest token among them.
func (t *tokens) drop(frontier time.Duration) {
	t.grants = slices.DeleteFunc(t.grants, func(x token) bool {
		old := x.op.Decided < frontier
		if old && (!t.any || x.op.Fence > t.floor.Fence) {
			t.floor, t.any = x.op, true
		}
		return old
	})
	t.measure(0)
}
