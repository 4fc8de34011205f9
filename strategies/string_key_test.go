package strategies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func build(t *testing.T, name string, o Options, nodes ...Node) Locker {
	t.Helper()
	k, err := New(name, Env{Clock: &jumpClock{}, Nodes: nodes}, o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var someRequest = Request{Key: "lock:1", Owner: "0123456789abcdef", TTL: time.Second}

// singles are the strategies that are one string key on one node.
var singles = []string{"setnx", "setnx-expire", "set-px-del", "set-px-check-del", "set-px-lua", "watchdog"}

func TestCommandsOnTheWire(t *testing.T) {
	for name, want := range map[string]string{
		"ping":             "[PING] [PING] [PING]",
		"setnx":            "[SETNX k o] [EXISTS k] [DEL k]",
		"setnx-expire":     "[SETNX k o] [PEXPIRE k 1500] [PEXPIRE k 1500] [DEL k]",
		"set-px-del":       "[SET k o NX PX 1500] [PEXPIRE k 1500] [DEL k]",
		"set-px-check-del": "[SET k o NX PX 1500] [GET k] [PEXPIRE k 1500] [GET k] [DEL k]",
		"set-px-lua":       "[SET k o NX PX 1500] [renew k o 1500] [release k o]",
		"watchdog":         "[SET k o NX PX 1500] [renew k o 1500] [release k o]",
	} {
		n := newFake(&jumpClock{})
		k := build(t, name, nil, n)
		l, err := k.Acquire(t.Context(), Request{Key: "k", Owner: "o", TTL: 1500*time.Millisecond + 999*time.Microsecond})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if l, err = k.Renew(t.Context(), l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := k.Release(t.Context(), l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Trim(fmt.Sprint(n.sent), "[]"); "["+got+"]" != want {
			t.Errorf("%s sent [%s], want %s", name, got, want)
		}
	}
}

func TestExpireIsSentWhereSecondsCanSayTheTTL(t *testing.T) {
	n := newFake(&jumpClock{})
	if _, err := build(t, "setnx-expire", nil, n).Acquire(t.Context(), Request{Key: "k", Owner: "o", TTL: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(n.sent); got != "[[SETNX k o] [EXPIRE k 30]]" {
		t.Errorf("sent %s", got)
	}
}

func TestAReplyThatCannotBeIsDoubt(t *testing.T) {
	for _, name := range singles {
		n := newFake(&jumpClock{})
		n.answer = &Reply{Kind: List}
		k := build(t, name, nil, n)
		_, err := k.Acquire(t.Context(), someRequest)
		if err == nil || errors.Is(err, ErrHeld) {
			t.Errorf("%s: acquire answered %v", name, err)
		}
		if _, err := k.Renew(t.Context(), Lease{Request: someRequest}); err == nil || errors.Is(err, ErrLost) {
			t.Errorf("%s: renew answered %v", name, err)
		}
		if found, err := k.Release(t.Context(), Lease{Request: someRequest}); err == nil || found != Unknown {
			t.Errorf("%s: release answered %v, %v", name, found, err)
		}
	}
}

func TestErrorsNameTheVerbAndTheKey(t *testing.T) {
	for _, name := range append(singles, "ping") {
		n := newFake(&jumpClock{})
		n.fail = func([]any) error { return errGone }
		k := build(t, name, nil, n)
		_, acquire := k.Acquire(t.Context(), someRequest)
		_, renew := k.Renew(t.Context(), Lease{Request: someRequest})
		_, release := k.Release(t.Context(), Lease{Request: someRequest})
		for verb, err := range map[string]error{"acquire": acquire, "renew": renew, "release": release} {
			if !errors.Is(err, errGone) || !strings.HasPrefix(err.Error(), verb+` "lock:1": `) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestARefusedExpireDoesNotPassAsNothingDone(t *testing.T) {
	n := newFake(&jumpClock{})
	n.fail = func(args []any) error {
		if args[0] == "EXPIRE" {
			return &ServerError{Code: "OOM", Message: "OOM command not allowed"}
		}
		return nil
	}
	_, err := build(t, "setnx-expire", nil, n).Acquire(t.Context(), someRequest)
	if refused := (*ServerError)(nil); err == nil || errors.As(err, &refused) {
		t.Errorf("answered %v though the key is there without a TTL", err)
	}
}

func TestDelexSaysWhichServerItNeeds(t *testing.T) {
	n := newFake(&jumpClock{})
	k := build(t, "set-px-lua", Options{"delex": true}, n)
	_, err := k.Release(t.Context(), Lease{Request: someRequest})
	if err == nil || !strings.Contains(err.Error(), "Redis 8.4") {
		t.Errorf("release answered %v", err)
	}
}

func TestBetweenGetAndDelTheLockMayBecomeAnothers(t *testing.T) {
	n := newFake(&jumpClock{})
	k := build(t, "set-px-check-del", nil, n)
	l, err := k.Acquire(t.Context(), someRequest)
	if err != nil {
		t.Fatal(err)
	}
	n.lose = func(args []any) error {
		if args[0] == "GET" {
			n.keys[l.Key] = fakeKey{value: "somebody else"}
		}
		return nil
	}
	if found, _ := k.Release(t.Context(), l); found != Released || n.has(l.Key) {
		t.Errorf("release reported %s and the stranger's key is there: %v; the race did not show", found, n.has(l.Key))
	}
}

func TestScriptsCountTheirInnerCommands(t *testing.T) {
	for _, s := range []*Script{releaseIfOwner, renewIfOwner} {
		for reply, want := range map[int64]int{1: 2, 0: 1, -1: 1} {
			if got := s.Inner(Reply{Kind: Int, Int: reply}); got != want {
				t.Errorf("%s with reply %d: %d inner commands, want %d", s.Name, reply, got, want)
			}
		}
	}
}

func TestValidityNeverExceedsTheTTLAndShrinksWithDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "asked"))
		ttl := time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "ttl"))
		drift := rapid.Float64Range(0, 0.5).Draw(t, "drift")
		until := Validity(asked, ttl, drift)
		if until > asked+ttl || until < asked {
			t.Fatalf("until %v, asked %v, TTL %v", until, asked, ttl)
		}
		if more := Validity(asked, ttl, drift+0.1); more > until {
			t.Fatalf("more drift, later end: %v after %v", more, until)
		}
		if w := wholeMillis(ttl); w > ttl || ttl >= time.Millisecond && ttl-w >= time.Millisecond {
			t.Fatalf("%v in whole milliseconds is %v", ttl, w)
		}
	})
}

func BenchmarkSetPXLuaOverheadOfTheStrategy(b *testing.B) {
	k := &stringKey{parts: parts{
		take: func(context.Context, Node, Request, int64) error { return nil },
		drop: func(context.Context, Node, Request) (Outcome, error) { return Released, nil },
	}, clock: &jumpClock{}, unit: time.Millisecond}
	for b.Loop() {
		l, _ := k.Acquire(b.Context(), someRequest)
		_, _ = k.Release(b.Context(), l)
	}
}
