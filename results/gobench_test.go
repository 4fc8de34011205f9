package results

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// benchmarkLine is a result line of the Go benchmark format: name, iterations, pairs of value and unit.
var benchmarkLine = regexp.MustCompile(`^Benchmark[^\s]*-[0-9]+ [0-9]+( [0-9.e+-]+ [^\s]+)+$`)

func benchmarks(t *testing.T, run Run, trials ...Trial) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteGoBench(&b, run, trials); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryLineIsABenchmarkAConfigurationOrAComment(t *testing.T) {
	invalid := exampleTrial(2)
	invalid.Valid, invalid.Invalid = false, []string{"schedule p99 is 12 ms\nBenchmarkFake 1 1 ns/op"}
	saturated := exampleTrial(3)
	saturated.State, saturated.NoFigures = Saturated, true
	saturated.Params = map[string]string{"strategy": "redlock-5", "retry": "staged-50-100", "topology": "a b/c"}
	out := benchmarks(t, exampleRun(), exampleTrial(1), invalid, saturated)
	golden(t, "gobench.txt", out)

	results := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case benchmarkLine.MatchString(line):
			results++
		case strings.HasPrefix(line, "# "), regexp.MustCompile(`^[a-z]+: \S+$`).MatchString(line):
		default:
			t.Errorf("line %q is none of the three", line)
		}
	}
	if results != 2 {
		t.Errorf("%d results, want 2: an invalid trial has none", results)
	}
}

func TestASaturatedTrialShowsNoResponseTime(t *testing.T) {
	saturated := exampleTrial(1)
	saturated.State = Saturated
	if out := benchmarks(t, exampleRun(), saturated); bytes.Contains(out, []byte("ns/op ")) && bytes.Contains(out, []byte("p99-ns")) {
		t.Errorf("it does:\n%s", out)
	}
}

func TestAMissingFigureIsLeftOut(t *testing.T) {
	trial := exampleTrial(1)
	trial.Redis.CPUSeconds = nil
	trial.Attempts.Counted = false
	out := string(benchmarks(t, exampleRun(), trial))
	if strings.Contains(out, "redis-cpu") || strings.Contains(out, "attempts/op") {
		t.Errorf("a missing figure is there:\n%s", out)
	}
}

func TestANameThatEndsInANumberKeepsIt(t *testing.T) {
	trial := exampleTrial(1)
	trial.Params = map[string]string{"strategy": "redlock-5"}
	if out := string(benchmarks(t, Run{}, trial)); !strings.Contains(out, "/strategy=redlock-5-1 ") {
		t.Errorf("no suffix after the name:\n%s", out)
	}
}
