// Package results is the file format of lockbench: what happened, as plain data. Load, check, statistics, charts and
// reports meet only here. Durations are offsets from the start of the run (strategies/clock); units stand in the
// JSON names. A missing value is null, never 0.
package results

import (
	"fmt"
	"slices"
	"time"
)

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

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name and refuses others.
func (o *Outcome) UnmarshalText(b []byte) error {
	i := slices.Index(outcomeNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("outcome %q is not known", b)
	}
	*o = Outcome(i)
	return nil
}

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

// MarshalText writes the name.
func (r Release) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name and refuses others.
func (r *Release) UnmarshalText(b []byte) error {
	i := slices.Index(releaseNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("release outcome %q is not known", b)
	}
	*r = Release(i)
	return nil
}

// Op is one session, from the wish for a lock to its release. It is a value of fixed size but for its strings, which
// the recorder shares. In JSON its times are nanoseconds since the start of the run.
type Op struct {
	N       int64  `json:"n"`       // number of the session in the schedule
	Client  int32  `json:"client"`  // closed loop: which client; open loop: -1
	Process int32  `json:"process"` // worker process
	Key     string `json:"key"`     // Lease.Key: the name at the server (with `sharded`, the stripe)
	Logical string `json:"logical"` // the key the session asked for

	Intended time.Duration `json:"intended_ns"` // when the schedule wanted it to start
	Started  time.Duration `json:"started_ns"`  // when it started
	Asked    time.Duration `json:"asked_ns"`    // the granting attempt's call
	Decided  time.Duration `json:"decided_ns"`  // when the acquisition ended, before any clean-up
	Left     time.Duration `json:"left_ns"`     // release called: the end of the critical section
	Released time.Duration `json:"released_ns"` // release returned
	Until    time.Duration `json:"until_ns"`    // the lease's end for a careful holder, after the last renewal

	Fence          uint64        `json:"fence"`
	Attempts       int32         `json:"attempts"`
	LastAttempt    time.Duration `json:"last_attempt_ns"` // how long the last attempt took; the others are in the histogram only
	Renewals       int32         `json:"renewals"`        // acknowledged
	RenewalsFailed int32         `json:"renewals_failed"`
	Outcome        Outcome       `json:"outcome"`
	Release        Release       `json:"release"`
	Held           bool          `json:"held"`          // at least one of its attempts met a held lock (ErrHeld)
	Uncertain      bool          `json:"uncertain"`     // the last attempt ended with an indefinite error
	Lost           bool          `json:"lost"`          // the holder learned that the lease was lost
	Stale          bool          `json:"stale"`         // the resource accepted a write with a token older than one it had seen
	Refused        bool          `json:"refused"`       // the resource refused the write as stale
	LostUpdate     bool          `json:"lost_update"`   // the write overwrote another holder's
	Crashed        bool          `json:"crashed"`       // the client died while holding: no release was sent
	RenewalCause   string        `json:"renewal_cause"` // of its last failed renewal
	Cause          string        `json:"cause"`
}
