// Package results is the file format of lockbench: what happened, as plain data. Load, check, statistics, charts and
// reports meet only here. Durations are offsets from the start of the run (strategies/clock); units stand in the
// JSON names. A missing value is null, never 0.
package results

import "time"

// Outcome of a session, exactly one each: the counts of a trial add up to `scheduled`.
type Outcome uint8

const (
	Acquired Outcome = iota
	Rejected         // one try was allowed and it met a held lock
	GaveUp           // the retry policy ended: max_attempts or within
	Timeout          // lock.acquire_timeout passed
	Failed           // an error, with its cause; killed or cancelled before the decision included
	Dropped          // the in-flight bound was reached: never started
)

var outcomeNames = [...]string{"acquired", "rejected", "gave_up", "timeout", "error", "dropped"}

// String is the name used in summary.json.
func (o Outcome) String() string { return outcomeNames[o] }

// Outcomes lists all names in the order of their numbers.
func Outcomes() []string { return outcomeNames[:] }

// Release is how a session's release ended.
type Release uint8

const (
	NotReleased    Release = iota // no release was sent: not acquired, or the client died
	Released                      // the lock was ours
	Expired                       // nobody held it any more
	Stolen                        // somebody else held it
	ReleaseUnknown                // no reply
)

var releaseNames = [...]string{"", "released", "expired", "stolen", "release_unknown"}

// String is the name used in summary.json; "" for NotReleased.
func (r Release) String() string { return releaseNames[r] }

// Op is one session, from the wish for a lock to its release. It is a value of fixed size but for its strings, which
// the recorder shares.
type Op struct {
	N       int64  // number of the session in the schedule
	Client  int32  // closed loop: which client; open loop: -1
	Process int32  // worker process
	Key     string // Lease.Key: the name at the server (with `sharded`, the stripe)
	Logical string // the key the session asked for

	Intended time.Duration // when the schedule wanted it to start
	Started  time.Duration // when it started
	Asked    time.Duration // the granting attempt's call
	Decided  time.Duration // when the acquisition ended, before any clean-up
	Left     time.Duration // release called: the end of the critical section
	Released time.Duration // release returned
	Until    time.Duration // the lease's end for a careful holder, after the last renewal

	Fence          uint64
	Attempts       int32
	Renewals       int32 // acknowledged
	RenewalsFailed int32
	Outcome        Outcome
	Release        Release
	Held           bool // at least one of its attempts met a held lock (ErrHeld)
	Uncertain      bool // at least one attempt ended with an indefinite error
	Lost           bool // the holder learned that the lease was lost
	Stale          bool // the resource accepted a write with a token older than one it had seen
	Refused        bool // the resource refused the write as stale
	LostUpdate     bool // the write overwrote another holder's
	Crashed        bool // the client died while holding: no release was sent
	Cause          string
}
