package check

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockbench/lockbench/results"
)

// specified is the definition of Findings, pair by pair over the whole history: slow and without state.
func specified(ops []results.Op) Findings {
	var f Findings
	for _, b := range ops {
		f.MetHeld += one(b.Held || b.Outcome == results.Acquired && anyOther(ops, b, waitedFor))
	}
	ops = slices.DeleteFunc(slices.Clone(ops), func(o results.Op) bool { return o.Outcome != results.Acquired })
	for _, b := range ops {
		f.Grants++
		f.StaleWrites += one(b.Stale)
		f.LostUpdates += one(b.LostUpdate)
		disordered := anyOther(ops, b, tokenNotAbove)
		f.FenceDisorder += one(disordered)
		f.Violations += one(anyOther(ops, b, violates)) + one(disordered)
		f.MisDeletes += one(anyOther(ops, b, robs))
		overran := anyOther(ops, b, showsOverrunOf)
		f.Overruns += one(overran)
		f.RefusedStale += one(overran && b.Refused)
	}
	return f
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func anyOther(ops []results.Op, b results.Op, is func(a, b results.Op) bool) bool {
	return slices.ContainsFunc(ops, func(a results.Op) bool {
		return a.N != b.N && a.Key == b.Key && a.Outcome == results.Acquired && is(a, b)
	})
}

func certainEnd(o results.Op) time.Duration {
	if o.Crashed {
		return max(o.Until, o.Decided)
	}
	return o.Left
}

func overlap(a, b results.Op) bool { return certainEnd(a) > b.Decided && certainEnd(b) > a.Decided }

func waitedFor(a, b results.Op) bool {
	return a.Decided < b.Asked && b.Asked < certainEnd(a) && certainEnd(a) <= b.Decided
}

func violates(a, b results.Op) bool {
	return grantOrder(a, b) < 0 && overlap(a, b) && b.Decided < a.Until && b.Decided < b.Until
}

func showsOverrunOf(a, b results.Op) bool {
	from := max(a.Decided, b.Decided)
	older := grantOrder(b, a) < 0
	return overlap(a, b) && b.Until <= from && (older || a.Until > from)
}

func robs(a, b results.Op) bool {
	inside := a.Release == results.Released && a.Until <= a.Left && a.Left > b.Decided && a.Released < b.Until && a.Released < certainEnd(b)
	gone := (b.Release == results.Expired || b.Release == results.Stolen) && b.Released <= b.Until
	suspect := (a.Release == results.Released || a.Release == results.ReleaseUnknown) && a.Left <= b.Released && a.Released >= b.Asked
	return inside || gone && suspect
}

func tokenNotAbove(a, b results.Op) bool {
	if a.Fence == 0 || b.Fence == 0 {
		return false
	}
	return a.Decided < b.Asked && a.Fence >= b.Fence || a.Fence == b.Fence && grantOrder(a, b) < 0
}

// anyHistory makes sessions that obey nothing but the order of their own events. Times are small, so that ties abound.
func anyHistory(r *rand.Rand) []results.Op {
	ops := make([]results.Op, 1+r.IntN(12))
	step := func(n int) time.Duration { return time.Duration(r.IntN(n)) }
	for i := range ops {
		o := &ops[i]
		o.N, o.Key = int64(i), string(rune('a'+r.IntN(2)))
		o.Asked = step(40)
		o.Decided = o.Asked + step(5)
		o.Left = o.Decided + step(9)
		o.Released = o.Left + step(5)
		o.Until = o.Asked + step(20)
		o.Release = results.Release(1 + r.IntN(4))
		o.Fence = uint64(r.IntN(2) * (i + r.IntN(4)))
		o.Held, o.Refused, o.Stale, o.LostUpdate = r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(9) == 0, r.IntN(9) == 0
		if r.IntN(6) == 0 {
			o.Crashed, o.Release, o.Released = true, results.NotReleased, 0
		}
		if r.IntN(6) == 0 {
			o.Outcome = results.Outcome(r.IntN(5))
		}
	}
	return ops
}

// stream feeds ops in random order with random valid frontiers and forgets whenever it may.
func stream(r *rand.Rand, ops []results.Op) Findings {
	s := NewSweep(Options{})
	order := r.Perm(len(ops))
	for i, n := range order {
		s.Add(ops[n])
		oldest := time.Duration(1 << 40)
		for _, later := range order[i+1:] {
			oldest = min(oldest, ops[later].Asked)
		}
		s.Settle(oldest - time.Duration(r.IntN(3)))
		s.forget()
	}
	return s.Finish()
}

func TestFindingsDependNeitherOnOrderNorOnFrontiers(t *testing.T) {
	t.Parallel()
	rounds := 30_000
	if testing.Short() {
		rounds = 3_000
	}
	seen := Findings{}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		ops := anyHistory(r)
		want, got := specified(ops), stream(r, ops)
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Findings{}, "Evidence", "Why")); d != "" {
			t.Fatalf("seed %d: findings differ from their definition (-want +got):\n%s%+v", seed, d, ops)
		}
		proves(t, seed, got)
		seen.Violations += got.Violations - got.FenceDisorder
		seen.FenceDisorder += got.FenceDisorder
		seen.Overruns += got.Overruns
		seen.MisDeletes += got.MisDeletes
		seen.MetHeld += got.MetHeld
	}
	if min(seen.Violations, seen.FenceDisorder, seen.Overruns, seen.MisDeletes, seen.MetHeld) < int64(rounds)/20 {
		t.Errorf("some class hardly occurs: %+v", seen)
	}
}

// proves: the evidence of f alone shows what f says in words.
func proves(t *testing.T, seed int, f Findings) {
	t.Helper()
	if len(f.Evidence) == 0 {
		if f.Why != "" || f.broken() {
			t.Fatalf("seed %d: no evidence for %q", seed, f.Why)
		}
		return
	}
	alone := specified(f.Evidence)
	for sentence, n := range map[string]int64{
		"inside their leases": alone.Violations - alone.FenceDisorder, "removed the lease": alone.MisDeletes,
		"beyond its lease": alone.Overruns, "got fencing token": alone.FenceDisorder,
		"the resource accepted": alone.StaleWrites, "overwrote": alone.LostUpdates,
	} {
		if strings.Contains(f.Why, sentence) && n == 0 {
			t.Fatalf("seed %d: %q is not shown by %+v", seed, f.Why, f.Evidence)
		}
	}
}

// quietRun is a run of a sound lock: clients take the keys in turn, one session after another.
func quietRun(s *Sweep, sessions, clients, keys int) (most int) {
	r := rand.New(rand.NewPCG(1, 1))
	free := make([]time.Duration, keys)
	started := make([]time.Duration, clients)
	for n := range sessions {
		c, k := n%clients, r.IntN(keys)
		op := results.Op{N: int64(n), Key: "key-" + string(rune('A'+k)), Outcome: results.Acquired, Release: results.Released}
		op.Asked = max(started[c], free[k])
		op.Decided = op.Asked + ms
		op.Left = op.Decided + time.Duration(1+r.IntN(5))*ms
		op.Released = op.Left + ms
		op.Until = op.Asked + time.Second
		free[k], started[c] = op.Left, op.Released
		s.Add(op)
		s.Settle(slices.Min(started))
		most = max(most, s.kept)
	}
	return most
}

func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	t.Parallel()
	sessions := 1_000_000
	if testing.Short() {
		sessions = 100_000
	}
	s := NewSweep(Options{})
	if most := quietRun(s, sessions, 64, 50); most > 4*cleanUp {
		t.Errorf("%d sessions were retained at once, want at most %d", most, 4*cleanUp)
	}
	f := s.Finish()
	if f.Truncated || f.broken() || f.Grants != int64(sessions) {
		t.Errorf("a sound run of %d sessions gave %+v", sessions, f)
	}
}

func TestAHistoryBeyondTheBoundIsTruncatedAndSaysSo(t *testing.T) {
	s := NewSweep(Options{Keep: 100})
	for n := range int64(1000) { // nothing is ever settled
		s.Add(with(session(n, int(10*n+1), int(10*n+5), int(10*n+9)), func(o *results.Op) { o.Fence = uint64(n + 1) }))
		if s.kept > 100 {
			t.Fatalf("%d sessions retained, want at most 100", s.kept)
		}
	}
	check(t, s.Finish(), Findings{Grants: 1000, Truncated: true})
}

func TestATruncatedHistoryRaisesNoFalseAlarm(t *testing.T) {
	s := NewSweep(Options{Keep: 10})
	for n := range int64(100) { // all in flight together: no order among their tokens is promised
		s.Add(with(session(n, int(100+n), int(100+n), 1000), func(o *results.Op) { o.Asked, o.Fence = 0, uint64(200-n) }))
	}
	check(t, s.Finish(), Findings{Grants: 100, Truncated: true})
}

func BenchmarkSweep(b *testing.B) {
	b.ReportAllocs()
	s := NewSweep(Options{})
	quietRun(s, b.N, 64, 50)
}
