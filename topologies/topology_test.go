package topologies

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const canary = "canary-7Qx"

func TestASecretPrintsAsStarsWhateverTheVerb(t *testing.T) {
	spec := Spec{Password: canary}
	j, err := json.Marshal(spec.Password)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		if got := fmt.Sprintf(verb, spec.Password); strings.Contains(got, canary) || strings.Contains(got, fmt.Sprintf("%x", canary)) {
			t.Errorf("%s shows %s", verb, got)
		}
		if got := fmt.Sprintf(verb, spec); strings.Contains(got, canary) {
			t.Errorf("%s of a Spec shows %s", verb, got)
		}
	}
	if string(j) != `"***"` {
		t.Errorf("JSON %s", j)
	}
}

func TestPasswordsComeFromTheEnvironmentOrAFile(t *testing.T) {
	t.Setenv("LOCKBENCH_TEST_PASSWORD", canary)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"": "", "env:LOCKBENCH_TEST_PASSWORD": canary, "file:" + file: canary} {
		got, err := ResolvePassword(from)
		if err != nil || string(got) != want {
			t.Errorf("%q: %v", from, err)
		}
	}
}

func TestNoErrorOfAPasswordShowsIt(t *testing.T) {
	dir := t.TempDir()
	long, empty := filepath.Join(dir, "long"), filepath.Join(dir, "empty")
	os.WriteFile(long, []byte(strings.Repeat(canary, 1000)), 0o600)
	os.WriteFile(empty, []byte("\n"), 0o600)
	for _, from := range []string{canary, "plain:" + canary, "env:", "file:", "env:LOCKBENCH_TEST_UNSET", "file:" + filepath.Join(dir, "missing"), "file:" + dir, "file:" + long, "file:" + empty} {
		got, err := ResolvePassword(from)
		if err == nil || got != "" || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: got an unfit error or none: %v", from, err)
		}
	}
}

func TestAnOwnerIsGoneOnlyIfItCertainlyRunsNoMore(t *testing.T) {
	self := Self()
	if self.Gone() {
		t.Error("this process is gone")
	}
	if o := OwnerFrom(self.Labels()); o != self {
		t.Errorf("labels give %+v, want %+v", o, self)
	}
	for name, c := range map[string]struct {
		change func(*Owner)
		gone   bool
	}{
		"another machine":      {func(o *Owner) { o.Host, o.PID = "elsewhere", 1<<22+1 }, false},
		"no label":             {func(o *Owner) { *o = Owner{} }, false},
		"an unused id":         {func(o *Owner) { o.PID = 1<<22 + 1 }, true},
		"before the last boot": {func(o *Owner) { o.Boot = "other" }, true},
	} {
		o := self
		c.change(&o)
		if o.Gone() != c.gone {
			t.Errorf("%s: gone %v, want %v", name, o.Gone(), c.gone)
		}
	}
}
