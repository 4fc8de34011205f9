package strategies

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sabotages, as scenarios name them.
const (
	noTTL             = "no-ttl"
	plainDel          = "plain-del"
	noOwnerCheck      = "no-owner-check-on-renew"
	renewAfterRelease = "renew-after-release"
	quorumOfReachable = "quorum-of-reachable"
	errorsCount       = "errors-count"
	noCleanUp         = "no-clean-up"
	constantOwner     = "constant-owner"
	ttlUnit           = "ttl-unit"
	clientRetries     = "client-retries"
)

// SabotageEntry is a deliberate fault in a strategy: it shows that the checks see what they are there to see.
type SabotageEntry struct {
	Name, Doc string
	Applies   []string // strategies whose code it changes; one that has such a base is changed with it
}

// Sabotages is all of them.
func Sabotages() []SabotageEntry {
	px := []string{"set-px-del", "set-px-check-del", "set-px-lua"}
	compares := []string{"set-px-check-del", "set-px-lua"}
	quorum := []string{"redlock"}
	servers := []string{"ping", "setnx", "setnx-expire", "set-px-del", "set-px-check-del", "set-px-lua"}
	return []SabotageEntry{
		{noTTL, "the key gets no TTL: a dead holder's lock stays", px},
		{plainDel, "release deletes the key without asking whose it is", compares},
		{noOwnerCheck, "a renewal extends the key without asking whose it is", compares},
		{renewAfterRelease, "renewals go on after the release", compares},
		{quorumOfReachable, "the quorum is a majority of the nodes that answered", quorum},
		{errorsCount, "a node's error counts as a grant", quorum},
		{noCleanUp, "a failed attempt leaves its keys on the nodes that granted", quorum},
		{constantOwner, "all attempts have the same owner token", compares},
		{ttlUnit, "the TTL is sent in seconds where milliseconds are meant", append([]string{"setnx-expire"}, px...)},
		{clientRetries, "the client library sends a command again when the reply is lost; made by the client, not here", servers},
	}
}

// Sabotaged builds a strategy as New does, with a deliberate fault. It refuses a fault that would change nothing.
func Sabotaged(name, sabotage string, e Env, o Options) (Locker, error) {
	all := Sabotages()
	i := slices.IndexFunc(all, func(s SabotageEntry) bool { return s.Name == sabotage })
	if i < 0 {
		return nil, fmt.Errorf("there is no sabotage %q", sabotage)
	}
	if !all[i].AppliesTo(name, o) {
		return nil, fmt.Errorf("sabotage %q changes nothing in strategy %q; it applies to %s", sabotage, name,
			strings.Join(all[i].Applies, ", "))
	}
	e.sabotage = sabotage
	return New(name, e, o)
}

// AppliesTo tells whether the fault changes a strategy with the options o, in itself or in its base.
func (s SabotageEntry) AppliesTo(name string, o Options) bool {
	for ; name != ""; name, o = baseOf(name, o), nil {
		if slices.Contains(s.Applies, name) {
			return true
		}
	}
	return false
}

// baseOf is the strategy that another is built on, or "".
func baseOf(name string, o Options) string {
	e, _ := Find(name)
	for _, x := range e.Options {
		if x.Name == "base" {
			return option(o, "base", x.Default)
		}
	}
	return ""
}

// tamper puts a sabotage into the parts of a string key.
func (k *stringKey) tamper(sabotage string) {
	switch sabotage {
	case noTTL:
		k.take = takeWithoutTTL
	case plainDel:
		k.drop = deleteAnyway
	case noOwnerCheck:
		k.extend = pexpireAnyway
	case renewAfterRelease:
		k.drop = k.dropAndRenew(k.drop)
	case constantOwner:
		k.owner = strings.Repeat("0", 32)
	case ttlUnit:
		k.unit = time.Second
	}
}

func takeWithoutTTL(ctx context.Context, n Node, r Request, _ int64) error {
	reply, err := n.Do(ctx, "SET", r.Key, r.Owner, "NX")
	if err == nil && reply.Kind == Nil {
		return ErrHeld
	}
	return err
}

// lateRenewals is how many renewals follow a release: enough to be seen, and they end.
const lateRenewals = 3

// dropAndRenew is redisson issue 7272: cancelling the renewals and starting them were not ordered.
func (k *stringKey) dropAndRenew(drop dropFunc) dropFunc {
	return func(ctx context.Context, n Node, r Request) (Outcome, error) {
		found, err := drop(ctx, n, r)
		later := context.WithoutCancel(ctx)
		k.clock.NewGroup().Go(func() {
			for range lateRenewals {
				_ = k.clock.Sleep(later, r.TTL/3)         // later never ends
				_ = k.extend(later, n, r, k.units(r.TTL)) // nobody listens, as in the faults this is modelled on
			}
		})
		return found, err
	}
}
