package retry

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// example holds arguments for every policy that takes some.
var example = map[string]map[string]any{
	"fixed":        {"wait": 10 * ms},
	"uniform":      {"min": 1 * ms, "max": 3 * ms},
	"linear":       {"from": 1 * ms, "to": 5 * ms, "steps": 3},
	"stages":       {"stages": []Stage{{50 * ms, 3}, {100 * ms, 3}}},
	"exponential":  {"base": 2 * ms, "cap": 64 * ms},
	"full-jitter":  {"base": 2 * ms, "cap": 64 * ms},
	"equal-jitter": {"base": 2 * ms, "cap": 64 * ms},
	"decorrelated": {"base": 2 * ms, "cap": 64 * ms},
}

func TestEveryPolicyOfTheCatalogueIsDocumentedAndCanBeBuilt(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Catalogue() {
		if e.Name == "" || e.Doc == "" || seen[e.Name] {
			t.Errorf("entry %q: no name, no doc, or twice", e.Name)
		}
		seen[e.Name] = true
		p, mode, err := New(e.Name, example[e.Name], 0, 0)
		if err != nil || p == nil || mode != e.Mode {
			t.Errorf("%s: policy %v, mode %q, error %v", e.Name, p != nil, mode, err)
		}
		for _, o := range e.Options {
			if o.Doc == "" || o.Kind == "" || o.Min > o.Max {
				t.Errorf("%s: option %+v", e.Name, o)
			}
		}
		if e.Bare != "" && (len(e.Options) != 1 || e.Options[0].Name != e.Bare) {
			t.Errorf("%s: a bare value sets %q, which is not its only option", e.Name, e.Bare)
		}
	}
}

func TestEveryRequiredOptionIsMissed(t *testing.T) {
	for _, e := range Catalogue() {
		for _, o := range e.Options {
			args := map[string]any{}
			for name, v := range example[e.Name] {
				if name != o.Name {
					args[name] = v
				}
			}
			if _, _, err := New(e.Name, args, 0, 0); (err != nil) != o.Required {
				t.Errorf("%s without %s: %v", e.Name, o.Name, err)
			}
		}
	}
}

func TestPresetsAreThoseOfPractice(t *testing.T) {
	check := func(name string, want ...time.Duration) {
		t.Helper()
		p, mode, err := New(name, nil, 0, 0)
		if err != nil || mode != Poll {
			t.Fatalf("%s: %v, mode %q", name, err, mode)
		}
		if got := waits(p, 100, seeded(1)); !slices.Equal(got, want) {
			t.Errorf("%s waits %v, want %v", name, got, want)
		}
	}
	check("linear-50-500", 50*ms, 100*ms, 150*ms, 200*ms, 250*ms, 300*ms, 350*ms, 400*ms, 450*ms)
	check("staged-50-100", 50*ms, 50*ms, 50*ms, 100*ms, 100*ms, 100*ms, 100*ms, 100*ms, 100*ms)
	p, _, err := New("uniform-50-200", nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := waits(p, 100, seeded(1))
	if len(got) != 4 || slices.Min(got) < 50*ms || slices.Max(got) > 200*ms {
		t.Errorf("uniform-50-200 waits %v, want 4 waits between 50 and 200 ms", got)
	}
}

func TestLimitsOfTheScenarioApply(t *testing.T) {
	count := func(name string, maxAttempts int, within time.Duration) int {
		t.Helper()
		p, _, err := New(name, example[name], maxAttempts, within)
		if err != nil {
			t.Fatal(err)
		}
		return len(waits(p, 1000, seeded(1)))
	}
	check := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d waits, want %d", what, got, want)
		}
	}
	check("no limit", count("fixed", 0, 0), 1000)
	check("max_attempts 4", count("fixed", 4, 0), 3)
	check("within 35 ms at 10 ms each", count("fixed", 0, 35*ms), 3)
	check("both, the attempts first", count("fixed", 2, time.Hour), 1)
	check("a preset with more attempts", count("linear-50-500", 12, 0), 11)
	check("a preset with fewer attempts", count("linear-50-500", 3, 0), 2)
	check("fail-fast whatever the limit", count("fail-fast", 10, 0), 0)
}

func TestWhatCannotBeBuiltIsSaid(t *testing.T) {
	check := func(want, name string, args map[string]any, maxAttempts int, within time.Duration) {
		t.Helper()
		if _, _, err := New(name, args, maxAttempts, within); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %v: %v, want it to say %q", name, args, err, want)
		}
	}
	check("no policy of that name", "fibonacci", nil, 0, 0)
	check("negative", "fixed", example["fixed"], -1, 0)
	check("negative", "fixed", example["fixed"], 0, -1)
	check("do not apply", "native", nil, 3, 0)
	check("do not apply", "native", nil, 0, time.Second)
	check("it takes none", "fail-fast", map[string]any{"wait": ms}, 0, 0)
	check("there are base, cap", "full-jitter", map[string]any{"bass": ms}, 0, 0)
	check("is a duration, not a int", "fixed", map[string]any{"wait": 10}, 0, 0)
	check("is a duration, not a string", "fixed", map[string]any{"wait": "10ms"}, 0, 0)
	check("between 1µs and 1h0m0s", "fixed", map[string]any{"wait": 2 * time.Hour}, 0, 0)
	check("between 2 and 1000000", "linear", map[string]any{"from": ms, "to": ms, "steps": 1}, 0, 0)
	check("between 1µs", "stages", map[string]any{"stages": []Stage{{0, 1}}}, 0, 0)
	check("need at least one", "stages", map[string]any{"stages": []Stage{}}, 0, 0)
	check("cap 1ms is below base 2ms", "decorrelated", map[string]any{"base": 2 * ms, "cap": ms}, 0, 0)
}
