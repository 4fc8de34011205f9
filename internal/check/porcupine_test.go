package check

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/results"
)

const never = int64(1) << 60

// act is an operation on an owner-aware mutex: only the owner may release.
type act struct {
	key     string
	session int
	release bool
	unknown bool // an acquire without an answer: it took effect at some time, or never
}

// mutex is the reference: a state is the session that holds, or 0.
var mutex = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{0} },
	Step: func(state, input, _ any) []any {
		a := input.(act)
		switch {
		case a.release && state == a.session:
			return []any{0}
		case a.unknown && state == 0:
			return []any{0, a.session}
		case a.unknown:
			return []any{state}
		case !a.release && state == 0:
			return []any{a.session}
		}
		return nil
	},
	Partition: byKey,
}).ToModel()

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, o := range history {
		k := o.Input.(act).key
		parts[k] = append(parts[k], o)
	}
	var all [][]porcupine.Operation
	for _, p := range parts {
		all = append(all, p)
	}
	return all
}

// linearizable asks porcupine. A hold's release is called at its end by the given reckoning; a hold whose end does not
// lie after its grant by that reckoning is left out, as it never counted.
func linearizable(ops []results.Op, end func(results.Op) (time.Duration, bool)) bool {
	var h []porcupine.Operation
	for _, o := range ops {
		a := act{key: o.Key, session: int(o.N) + 1}
		if o.Outcome != results.Acquired {
			a.unknown = true
			h = append(h, porcupine.Operation{ClientId: int(o.Client), Input: a, Call: int64(o.Asked), Return: never})
			continue
		}
		left, counts := end(o)
		if !counts {
			continue
		}
		h = append(h, porcupine.Operation{ClientId: int(o.Client), Input: a, Call: int64(o.Asked), Return: int64(o.Decided)})
		a.release = true
		returned := int64(max(o.Released, left))
		if o.Crashed {
			returned = never
		}
		h = append(h, porcupine.Operation{ClientId: int(o.Client), Input: a, Call: int64(left), Return: returned})
	}
	return porcupine.CheckOperations(mutex, h)
}

// belief: a holder holds until it releases.
func belief(o results.Op) (time.Duration, bool) { return certainEnd(o), true }

// promise: a holder holds until it releases or its lease ends.
func promise(o results.Op) (time.Duration, bool) {
	return min(certainEnd(o), o.Until), o.Until > o.Decided
}

// clientHistory lets a few clients lock one of two keys, one session after another, with little regard for each other.
func clientHistory(r *rand.Rand) []results.Op {
	var ops []results.Op
	step := func(n int) time.Duration { return time.Duration(r.IntN(n)) }
	for c := range 2 + r.IntN(3) {
		now := step(30)
		for range 1 + r.IntN(3) {
			o := results.Op{N: int64(len(ops)), Client: int32(c), Key: string(rune('a' + r.IntN(2)))}
			o.Asked = now + step(4)
			o.Decided = o.Asked + step(4)
			o.Left = o.Decided + step(5)
			o.Released = o.Left + step(4)
			o.Until = o.Asked + 2 + step(12)
			o.Release = results.Released
			now = o.Released + step(25)
			switch r.IntN(12) {
			case 0:
				o.Crashed, o.Release, o.Released = true, results.NotReleased, 0
				now = max(now, o.Until)
			case 1:
				o.Outcome, o.Uncertain = results.Failed, true
			}
			ops = append(ops, o)
		}
	}
	return ops
}

func TestSweepAndPorcupineAgree(t *testing.T) {
	t.Parallel()
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	var exclusive, promised int
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		ops := clientHistory(r)
		f := stream(r, ops)
		if got, want := f.Violations+f.Overruns == 0, linearizable(ops, belief); got != want {
			t.Fatalf("seed %d: sweep says exclusive %v, porcupine %v: %+v", seed, got, want, ops)
		} else if got {
			exclusive++
		}
		if got, want := f.Violations == 0, linearizable(ops, promise); got != want {
			t.Fatalf("seed %d: sweep says promise kept %v, porcupine %v: %+v", seed, got, want, ops)
		} else if got {
			promised++
		}
	}
	t.Logf("%d histories, %d exclusive, in %d every lease was", rounds, exclusive, promised)
	if min(exclusive, promised-exclusive, rounds-promised) < rounds/50 {
		t.Errorf("histories are too much alike: of %d, %d exclusive, %d with every lease exclusive", rounds, exclusive, promised)
	}
}
