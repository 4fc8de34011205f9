package strategies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/strategies/clock"
)

// Modes of redlock.
const (
	waitAll    = "wait-all"
	atQuorum   = "at-quorum"
	sequential = "sequential"
)

// quorumDrift is how far, as a share of the TTL, clocks may part where nobody says otherwise. Source: as quorumMargin.
const quorumDrift = 0.01

// quorumMargin is taken off the validity of a quorum beside the drift: servers expire in whole milliseconds. Source:
// Redis documentation, Redlock, reference implementations.
const quorumMargin = 2 * time.Millisecond

// Bounds of the default time limit of one command to one node: small against the TTL, or one dead node eats the lease.
const (
	nodeTimeoutShare = 20 // a twentieth of the TTL ...
	nodeTimeoutMost  = 50 * time.Millisecond
)

// redlock holds a lock while a majority of N independent nodes hold its key, the same key and owner on all of them.
// Source: Redis documentation, "Distributed Locks with Redis", the Redlock algorithm.
//
// Acquire asks every node; an answer counts until the node's timeout. It is granted if a majority of the configured
// nodes, not of the reachable ones, set the key and validity is left: asked + TTL - drift - 2 ms is still to come.
// Whatever fails is undone on all nodes, those that did not answer included, on a deadline of its own that the
// caller's cancellation does not reach. A request that is under way is not aborted either: its answer, or its
// timeout, comes first and then the clean-up, which cannot overtake it. So a cancelled Acquire or one whose deadline
// passes returns up to two node timeouts late.
//
// Modes: wait-all asks all nodes side by side and waits for every one. at-quorum returns as soon as a majority has
// granted, or cannot any more; what is under way to the other nodes goes on in the background, bounded by the node
// timeout. sequential asks one node after the other and stops when a majority is out of reach. Renewals wait for
// every node in every mode, so that none is under way when Hold returns.
//
// State: a ledger of commands still on their way to some node. Release asks a node only after the SET of that lease
// was answered there or timed out, and Drain waits for the ledger to be empty.
type redlock struct {
	clock    clock.Clock
	nodes    []Locker // one on each node
	quorum   int
	timeout  time.Duration // of one command to one node; 0: the default
	drift    float64
	mode     string
	sabotage string
	ledger   *ledger
}

func newRedlock(e Env, o Options) (Locker, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New(`strategy "redlock" needs independent nodes and got none`)
	}
	q := &redlock{
		clock:    e.Clock,
		quorum:   len(e.Nodes)/2 + 1,
		timeout:  option(o, "node_timeout", e.NodeTimeout),
		drift:    option(o, "drift", cmp.Or(e.Drift, quorumDrift)),
		mode:     option(o, "mode", waitAll),
		sabotage: e.sabotage,
		ledger:   newLedger(),
	}
	for i := range e.Nodes {
		one := e
		one.Nodes = e.Nodes[i : i+1]
		k, err := New(option(o, "base", "set-px-lua"), one, nil)
		if err != nil {
			return nil, err
		}
		q.nodes = append(q.nodes, k)
	}
	return q, nil
}

func (q *redlock) Acquire(ctx context.Context, r Request) (Lease, error) {
	if err := ctx.Err(); err != nil { // what is sent from here on is no longer the caller's to stop
		return Lease{}, fmt.Errorf("acquire %q: %w", r.Key, err)
	}
	l := Lease{Request: r, Until: q.until(r.TTL)}
	b := q.ledger.enter(q.ballot(), r.Owner)
	q.collect(ctx, b, r)
	votes := b.result()
	if q.won(votes) && l.Until > q.clock.Now() {
		return l, nil
	}
	err := q.withdraw(ctx, r, b, votes)
	return Lease{Request: r}, fmt.Errorf("acquire %q: %w", r.Key, err)
}

// collect asks the nodes and returns when the mode has heard enough.
func (q *redlock) collect(ctx context.Context, b *ballot, r Request) {
	take := func(i int) {
		b.cast(i, vote{err: q.onNode(context.WithoutCancel(ctx), r.TTL, func(ctx context.Context) error {
			_, err := q.nodes[i].Acquire(ctx, r)
			return err
		})})
	}
	if q.mode != sequential {
		q.wait(ctx, b, q.sideBySide(take))
		return
	}
	for i := range q.nodes {
		if b.outOfReach() || ctx.Err() != nil {
			b.cast(i, vote{err: errUnasked})
			continue
		}
		take(i)
	}
}

func (q *redlock) sideBySide(f func(node int)) clock.Group {
	g := q.clock.NewGroup()
	for i := range q.nodes {
		g.Go(func() { f(i) })
	}
	return g
}

// wait returns when b is settled and the mode asks for no more, else when every node has answered.
func (q *redlock) wait(ctx context.Context, b *ballot, g clock.Group) {
	if q.mode != atQuorum {
		g.Wait()
		return
	}
	// An error means that ctx has ended; what is known by then is in the ballot.
	_ = b.settled.Wait(ctx)
}

// onNode runs one command to one node within the node's time limit.
func (q *redlock) onNode(ctx context.Context, ttl time.Duration, f func(context.Context) error) error {
	ctx, cancel := q.clock.WithTimeout(ctx, q.nodeTimeout(ttl))
	defer cancel()
	return f(ctx)
}

func (q *redlock) nodeTimeout(ttl time.Duration) time.Duration {
	if q.timeout > 0 {
		return q.timeout
	}
	return max(time.Millisecond, min(ttl/nodeTimeoutShare, nodeTimeoutMost))
}

func (q *redlock) until(ttl time.Duration) time.Duration {
	return Validity(q.clock.Now(), wholeMillis(ttl), q.drift) - quorumMargin
}

// ballot settles when a quorum is in favour or out of reach. Where a sabotage counts otherwise, only the first is known
// before all votes are in.
func (q *redlock) ballot() *ballot {
	veto := len(q.nodes) - q.quorum + 1
	if q.sabotage == errorsCount || q.sabotage == quorumOfReachable {
		veto = never(q.nodes)
	}
	return newBallot(q.clock, len(q.nodes), q.quorum, veto)
}

// never is more votes against than there are nodes.
func never(nodes []Locker) int { return len(nodes) + 1 }

// won counts the votes in favour.
func (q *redlock) won(votes []vote) bool {
	yes, need := 0, q.quorum
	for _, v := range votes {
		if v.in && (v.err == nil || q.sabotage == errorsCount && !errors.Is(v.err, ErrHeld) && !errors.Is(v.err, ErrLost)) {
			yes++
		}
	}
	if q.sabotage == quorumOfReachable {
		need = reachable(votes)/2 + 1
	}
	return yes >= need
}

// reachable counts the nodes that answered anything.
func reachable(votes []vote) int {
	n := 0
	for _, v := range votes {
		if v.in && (v.err == nil || errors.Is(v.err, ErrHeld) || errors.Is(v.err, ErrLost) || refused(v.err)) {
			n++
		}
	}
	return n
}

func refused(err error) bool {
	var refusal *ServerError
	return errors.As(err, &refusal)
}

// withdraw undoes a failed attempt on all nodes and says why it failed. It waits for the nodes whose votes are in;
// where the SET is under way still, the clean-up follows it in the background.
func (q *redlock) withdraw(ctx context.Context, r Request, b *ballot, votes []vote) error {
	undone := make([]vote, len(votes))
	if q.sabotage != noCleanUp {
		undone = q.undo(context.WithoutCancel(ctx), r, b, votes)
	}
	e := q.failure(votes, undone)
	if err := ctx.Err(); err != nil {
		e.Certain = false
		return errors.Join(err, e)
	}
	return e
}

func (q *redlock) undo(ctx context.Context, r Request, b *ballot, votes []vote) []vote {
	c := q.ledger.enter(q.ballot(), "")
	q.sideBySide(func(i int) { c.cast(i, q.drop(ctx, b, i, Lease{Request: r})) })
	for i, v := range votes {
		if v.in {
			_ = c.counted[i].Wait(ctx) // ctx cannot end
		}
	}
	return c.result()
}

// drop releases on one node, after the SET of the lease, if one is under way there.
func (q *redlock) drop(ctx context.Context, take *ballot, i int, l Lease) vote {
	if take != nil {
		_ = take.counted[i].Wait(context.WithoutCancel(ctx)) // bounded by the node timeout of the SET
	}
	v := vote{}
	v.err = q.onNode(ctx, l.TTL, func(ctx context.Context) (err error) {
		v.found, err = q.nodes[i].Release(ctx, l)
		return err
	})
	return v
}

// failure is certain if fewer nodes than a quorum can hold the key after the clean-up.
func (q *redlock) failure(votes, undone []vote) *QuorumError {
	e := &QuorumError{Need: q.quorum}
	mayHold := 0
	for i, v := range votes {
		switch {
		case !v.in:
			mayHold++
			e.Errs = append(e.Errs, q.named(i, errUndecided))
		case v.err == nil:
			e.Granted++
			if !undone[i].in || undone[i].err != nil {
				mayHold++
			}
		case errors.Is(v.err, ErrHeld):
			e.Held++
		case refused(v.err) || errors.Is(v.err, errUnasked):
			e.Errs = append(e.Errs, q.named(i, v.err))
		default:
			mayHold++
			e.Errs = append(e.Errs, q.named(i, v.err))
		}
	}
	if e.Granted >= e.Need {
		e.Errs = append(e.Errs, errTooLate)
	}
	e.Certain = mayHold < q.quorum
	return e
}

func (q *redlock) named(node int, err error) error { return fmt.Errorf("node %d: %w", node+1, err) }

// Renew extends the lease on all nodes. It is lost once so many nodes deny it that no quorum is left.
func (q *redlock) Renew(ctx context.Context, l Lease) (Lease, error) {
	until, b := q.until(l.TTL), q.ledger.enter(q.ballot(), "")
	q.sideBySide(func(i int) {
		b.cast(i, vote{err: q.onNode(ctx, l.TTL, func(ctx context.Context) error {
			_, err := q.nodes[i].Renew(ctx, l)
			return err
		})})
	}).Wait()
	votes := b.result()
	if q.won(votes) && until > q.clock.Now() {
		l.Until = until
		return l, nil
	}
	return l, fmt.Errorf("renew %q: %w", l.Key, q.notRenewed(votes))
}

func (q *redlock) notRenewed(votes []vote) error {
	lost, e := 0, &QuorumError{Need: q.quorum}
	for i, v := range votes {
		switch {
		case v.err == nil:
			e.Granted++
		case errors.Is(v.err, ErrLost):
			lost++
		default:
			e.Errs = append(e.Errs, q.named(i, v.err))
		}
	}
	if len(votes)-lost < q.quorum {
		return ErrLost
	}
	if e.Granted >= e.Need {
		e.Errs = append(e.Errs, errTooLate)
	}
	return e
}

// Release deletes the key on all nodes. The lease was ours until now if a quorum of them still had it: Released. It
// was somebody else's if they had a quorum: Stolen. Else it was nobody's: Expired. Nodes that did not answer may make
// it Unknown.
func (q *redlock) Release(ctx context.Context, l Lease) (Outcome, error) {
	take, node := q.ledger.take(l.Owner), ctx
	if q.mode == atQuorum {
		node = context.WithoutCancel(ctx) // what follows in the background is bounded by the node timeout
	}
	b := q.ledger.enter(newBallot(q.clock, len(q.nodes), q.quorum, never(q.nodes)), "")
	g := q.sideBySide(func(i int) {
		v := q.drop(node, take, i, l)
		if v.err == nil && v.found != Released {
			v.err = errNotOurs
		}
		b.cast(i, v)
	})
	q.wait(ctx, b, g)
	found, err := q.outcome(b.result())
	if err != nil {
		err = fmt.Errorf("release %q: %w", l.Key, err)
	}
	return found, err
}

// errNotOurs is a definite vote against in a release; it never leaves this file.
var errNotOurs = errors.New("not ours")

func (q *redlock) outcome(votes []vote) (Outcome, error) {
	var n [Stolen + 1]int
	e := &QuorumError{Need: q.quorum}
	for i, v := range votes {
		n[v.found]++
		if v.found == Unknown {
			e.Errs = append(e.Errs, q.named(i, v.why()))
		}
	}
	e.Granted = n[Released]
	switch {
	case n[Released] >= q.quorum:
		return Released, nil
	case n[Stolen] >= q.quorum:
		return Stolen, nil
	case n[Released]+n[Unknown] >= q.quorum || n[Stolen]+n[Unknown] >= q.quorum:
		return Unknown, e
	}
	return Expired, nil
}

// Drain waits until nothing that this Locker sent is under way.
func (q *redlock) Drain(ctx context.Context) error { return q.ledger.drain(ctx) }

var _ Drainer = (*redlock)(nil)
