package check

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/results"
)

// rank orders findings by how much they prove, so that the evidence shows the worst.
type rank uint8

const (
	nothing rank = iota
	refusedOverrun
	lostUpdate
	staleWrite
	fenceDisorder
	overrun
	misDelete
	violation
)

// pair compares two holds of one key and classes what they show. Each class has its own condition; a session counts
// once in each.
func (s *Sweep) pair(x, y *hold) {
	older, newer := x, y
	if grantOrder(x.op, y.op) > 0 {
		older, newer = y, x
	}
	s.met(older, newer)
	s.overlap(older, newer)
	s.removed(older, newer)
	s.removed(newer, older)
}

// grantOrder is a total order: by grant, then by call, then by number.
func grantOrder(a, b results.Op) int {
	return cmp.Or(cmp.Compare(a.Decided, b.Decided), cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.N, b.N))
}

// met counts a session that asked while the older hold was certain and was granted after it, where no refusal told:
// a native wait makes one attempt and is never refused.
func (s *Sweep) met(older, newer *hold) {
	if newer.op.Held || newer.waited {
		return
	}
	if older.op.Decided < newer.op.Asked && newer.op.Asked < older.end && older.end <= newer.op.Decided {
		newer.waited = true
		s.f.MetHeld++
	}
}

// overlap classes two holds whose certain parts meet. Ends that touch do not: at one instant the release may have
// come first. The overlap begins at the newer grant; it is a violation when both leases are valid then, and
// otherwise an overrun of the one whose lease had ended, the older one where both had.
func (s *Sweep) overlap(older, newer *hold) {
	at := newer.op.Decided
	if older.end <= at || newer.end <= older.op.Decided {
		return
	}
	s.proveWrite(older.op, newer.op)
	s.proveWrite(newer.op, older.op)
	switch {
	case older.op.Until <= at:
		s.overran(older, at, older.op, newer.op)
	case newer.op.Until <= at:
		s.overran(newer, at, older.op, newer.op)
	default:
		if !newer.violated {
			newer.violated = true
			s.f.Violations++
		}
		s.prove(violation, at, older.op, newer.op)
	}
}

func (s *Sweep) overran(stale *hold, at time.Duration, older, newer results.Op) {
	if !stale.overran {
		stale.overran = true
		s.f.Overruns++
		if stale.op.Refused {
			s.f.RefusedStale++
		}
	}
	if stale.op.Refused {
		s.prove(refusedOverrun, at, older, newer)
	} else {
		s.prove(overrun, at, older, newer)
	}
}

// removed counts a lease that another session's release removed, in either of two forms:
//
//   - the release began after its own lease had ended, reported a lock removed, and ran wholly inside the victim's
//     certain and valid time: what it removed was the victim's;
//   - the victim's own release found its lock gone although its lease was still valid, and the other's release may
//     have run since the victim asked and did not report that it removed nothing.
//
// Source: the class mis-delete of an owner-aware mutex, where only the owner may release.
func (s *Sweep) removed(by, victim *hold) {
	if victim.robbed || !(deletedInside(by.op, victim) || foundGone(by.op, victim.op)) {
		return
	}
	victim.robbed = true
	s.f.MisDeletes++
	s.prove(misDelete, by.op.Left, by.op, victim.op)
}

func deletedInside(by results.Op, victim *hold) bool {
	return by.Release == results.Released && by.Until <= by.Left &&
		victim.op.Decided < by.Left && by.Released < min(victim.end, victim.op.Until)
}

func foundGone(by, victim results.Op) bool {
	gone := victim.Release == results.Expired || victim.Release == results.Stolen
	mayDelete := by.Release == results.Released || by.Release == results.ReleaseUnknown
	return gone && victim.Released <= victim.Until &&
		mayDelete && by.Left <= victim.Released && victim.Asked <= by.Released
}

// written counts what the resource said of a session's write.
func (s *Sweep) written(op results.Op) {
	if op.Stale {
		s.f.StaleWrites++
	}
	if op.LostUpdate {
		s.f.LostUpdates++
	}
	s.proveWrite(op)
}

// proveWrite offers a write that the resource should not have taken as evidence, with those who held beside it.
func (s *Sweep) proveWrite(writer results.Op, beside ...results.Op) {
	if writer.Stale {
		s.prove(staleWrite, writer.Left, append(beside, writer)...)
	}
	if writer.LostUpdate {
		s.prove(lostUpdate, writer.Left, append(beside, writer)...)
	}
}

// prove keeps the sessions behind the worst finding, the earliest of its kind; two say more than one.
func (s *Sweep) prove(r rank, at time.Duration, ops ...results.Op) {
	better := cmp.Or(cmp.Compare(r, s.rank), cmp.Compare(s.at, at), cmp.Compare(len(ops), len(s.f.Evidence)))
	if better <= 0 {
		return
	}
	s.rank, s.at = r, at
	s.f.Evidence = ops
	s.f.Why = r.sentence(at, ops)
}

// sentence says what was found, where and when.
func (r rank) sentence(at time.Duration, ops []results.Op) string {
	first, last := ops[0], ops[len(ops)-1]
	what := ""
	switch r {
	case violation:
		what = fmt.Sprintf("sessions %d and %d both held it inside their leases", first.N, last.N)
	case misDelete:
		what = fmt.Sprintf("the release of session %d removed the lease of session %d", first.N, last.N)
	case overrun:
		what = fmt.Sprintf("sessions %d and %d both held it, one of them beyond its lease", first.N, last.N)
	case refusedOverrun:
		what = fmt.Sprintf("sessions %d and %d both held it, one of them beyond its lease; the resource refused its write", first.N, last.N)
	case fenceDisorder:
		what = fmt.Sprintf("session %d got fencing token %d after session %d had got %d", last.N, last.Fence, first.N, first.Fence)
	case staleWrite:
		what = fmt.Sprintf("the resource accepted the write of session %d, whose token was not the newest", last.N)
	case lostUpdate:
		what = fmt.Sprintf("the write of session %d overwrote another holder's", last.N)
	}
	return fmt.Sprintf("key %q at %.6f s: %s", last.Key, at.Seconds(), what)
}
