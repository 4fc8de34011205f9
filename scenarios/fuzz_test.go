package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzRead: no text makes Read panic, ask for more than its bounds, or come back as something else when the resolved
// scenario is read again.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, more...) {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	for _, m := range mistakes {
		f.Add([]byte(minimal + m.src + "\n"))
	}
	v := testVocabulary()
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Read("f", src, v, nil)
		if err != nil {
			var all Errors
			if !errors.As(err, &all) || len(all) == 0 || len(all) > maxErrors || s != nil {
				t.Fatalf("got %v and %v", s, err)
			}
			return
		}
		if n := len(s.Points()); n == 0 || n > MaxPoints {
			t.Fatalf("%d points", n)
		}
		checkBounds(t, s)
		resolved := Marshal(s, v)
		again, err := Read("again", resolved, v, nil)
		if err != nil {
			if len(resolved) > MaxSize {
				return // longer than what it came from, by the defaults
			}
			t.Fatalf("%v\n%s", err, resolved)
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Fatalf("%s\n%s", d, resolved)
		}
	})
}

func checkBounds(t *testing.T, s *Scenario) {
	t.Helper()
	for _, c := range s.Cells {
		x := c.Scenario
		rate := 0.0
		if x.Load.Open != nil {
			rate = x.Load.Open.Rate
		}
		if x.Keys.Count > MaxKeys || x.Trials.Count > MaxTrials || x.Phases.Measure > MaxDuration || x.Lock.TTL < time.Millisecond || rate > MaxRate {
			t.Fatalf("out of bounds: %+v", x)
		}
	}
}

// FuzzSet: nor does any --set.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"load.open.rate=5/s", "strategies.0.shards=3", "retries=[{fixed: 1ms}]", "matrix={keys.count: [1]}", "hold={", "a.b.c=d", "=", "strategies=x", "load=1", "retries.0.x.y.z=1"} {
		f.Add(s)
	}
	v := testVocabulary()
	f.Fuzz(func(t *testing.T, set string) {
		_, _ = Read("f", []byte(minimal), v, []string{set})
	})
}

// FuzzParseThreshold: what is read is within reason.
func FuzzParseThreshold(f *testing.F) {
	f.Add("set-px-lua/full-jitter: response.p99 < 400ms")
	f.Add("violations==0")
	v := testVocabulary()
	f.Fuzz(func(t *testing.T, text string) {
		th, err := ParseThreshold(text, v)
		if err == nil && (th.Value < 0 || th.Metric == "" || strings.Contains(th.Scope, " ")) {
			t.Fatalf("%q is read as %+v", text, th)
		}
	})
}
