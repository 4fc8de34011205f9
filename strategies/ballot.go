package strategies

import (
	"container/list"
	"context"
	"errors"

	"github.com/lockbench/lockbench/strategies/clock"
)

// ballot collects the answers of all nodes to one command. Every node has one vote; an error is a vote against.
type ballot struct {
	latch   latch
	votes   []vote         // by node; guarded by latch
	need    int            // votes in favour that settle it
	veto    int            // votes against that settle it too
	counted []clock.Signal // by node: its vote is in
	settled clock.Signal   // enough in favour, too many against, or all in
	all     clock.Signal
	close   func(*ballot) // when all are in
}

type vote struct {
	in    bool
	found Outcome // of a release
	err   error   // nil: in favour
}

// why a node did not vote in favour.
func (v vote) why() error {
	if v.in {
		return v.err
	}
	return errUndecided
}

var (
	errUnasked   = errors.New("not asked: the quorum was out of reach")
	errTooLate   = errors.New("the quorum answered after the validity time")
	errUndecided = errors.New("no answer yet")
)

func newBallot(c clock.Clock, nodes, need, veto int) *ballot {
	b := &ballot{votes: make([]vote, nodes), counted: make([]clock.Signal, nodes), need: need, veto: veto,
		settled: c.NewSignal(), all: c.NewSignal(), close: func(*ballot) {}}
	for i := range b.counted {
		b.counted[i] = c.NewSignal()
	}
	return b
}

func (b *ballot) cast(node int, v vote) {
	v.in = true
	b.latch.lock()
	b.votes[node] = v
	yes, no := b.tally()
	b.latch.unlock()
	all := yes+no == len(b.votes)
	if all {
		b.close(b)
		defer b.all.Fire()
	}
	b.counted[node].Fire()
	if all || yes >= b.need || no >= b.veto {
		b.settled.Fire()
	}
}

// tally counts; the latch is held.
func (b *ballot) tally() (yes, no int) {
	for _, v := range b.votes {
		switch {
		case v.in && v.err == nil:
			yes++
		case v.in:
			no++
		}
	}
	return yes, no
}

// outOfReach: so many votes are against that the rest cannot make it.
func (b *ballot) outOfReach() bool {
	b.latch.lock()
	defer b.latch.unlock()
	_, no := b.tally()
	return no >= b.veto
}

// result is the votes as they are now.
func (b *ballot) result() []vote {
	b.latch.lock()
	defer b.latch.unlock()
	return append([]vote(nil), b.votes...)
}

// ledger holds the ballots that are not complete yet: the commands that are still on their way to some node. They are
// kept in the order in which they were entered, so that who waits for all of them wakes equally often in equal runs.
type ledger struct {
	latch latch
	open  *list.List         // of *ballot, the oldest first
	takes map[string]*ballot // acquisitions by owner
}

func newLedger() *ledger { return &ledger{open: list.New(), takes: map[string]*ballot{}} }

// enter keeps b until it is complete; owner names an acquisition and is "" for anything else.
func (l *ledger) enter(b *ballot, owner string) *ballot {
	l.latch.lock()
	defer l.latch.unlock()
	at := l.open.PushBack(b)
	b.close = func(b *ballot) {
		l.latch.lock()
		defer l.latch.unlock()
		l.open.Remove(at)
		if l.takes[owner] == b {
			delete(l.takes, owner)
		}
	}
	if owner != "" {
		l.takes[owner] = b
	}
	return b
}

// take is the incomplete acquisition of owner, or nil.
func (l *ledger) take(owner string) *ballot {
	l.latch.lock()
	defer l.latch.unlock()
	return l.takes[owner]
}

// oldest is the open ballot that was entered first, or nil.
func (l *ledger) oldest() *ballot {
	l.latch.lock()
	defer l.latch.unlock()
	if first := l.open.Front(); first != nil {
		return first.Value.(*ballot)
	}
	return nil
}

// drain waits until nothing is on its way.
func (l *ledger) drain(ctx context.Context) error {
	for b := l.oldest(); b != nil; b = l.oldest() {
		if err := b.all.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
