package scenarios

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func names(points []Point) []string {
	var all []string
	for _, p := range points {
		all = append(all, p.Name)
	}
	return all
}

func TestMatrixIsACrossProductInTheOrderOfTheFile(t *testing.T) {
	s := mustRead(t, strings.Replace(minimal, "[set-px-lua]", "[noop, {name: sharded, shards: 2}]", 1)+`
retries: [fail-fast, {full-jitter: {base: 2ms, cap: 8ms}}]
matrix: {load.open.rate: [6k/min, 200/s], retries.1.full-jitter.cap: [8ms, 16ms], strategies.1.shards: [2, 4]}
`)
	if len(s.Cells) != 8 {
		t.Fatalf("%d cells, want 2 x 2 x 2", len(s.Cells))
	}
	want := []Param{{"load.open.rate", "100"}, {"retries.1.full-jitter.cap", "8ms"}, {"strategies.1.shards", "4"}}
	if d := cmp.Diff(want, s.Cells[1].Params); d != "" {
		t.Errorf("the last axis must turn fastest: %s", d)
	}
	last := s.Cells[7].Scenario
	if last.Load.Open.Rate != 200 || last.Retries[1].Args["cap"].(interface{ Milliseconds() int64 }).Milliseconds() != 16 || last.Strategies[1].Options["shards"] != 4 {
		t.Errorf("the last cell has not its values: %+v", last)
	}
	points := s.Points()
	if len(points) != 32 {
		t.Errorf("%d points, want 8 cells x 2 x 2", len(points))
	}
	if p := points[3]; p.Name != "sharded/full-jitter/load.open.rate=100/retries.1.full-jitter.cap=8ms/strategies.1.shards=2" {
		t.Errorf("the name is %q", p.Name)
	}
}

func TestMatrixOpensWhatIsShort(t *testing.T) {
	s := mustRead(t, strings.Replace(minimal, "[set-px-lua]", "[sharded]", 1)+`
hold: 5ms
retries: [{stages: [10ms]}, staged-50-100]
matrix: {strategies.0.shards: [2], hold.exponential.mean: [7ms], retries.1.within: [1s], keys.popularity.zipf: [0.8], retries.0.stages.stages.0: [9ms x2]}
`)
	c := s.Cells[0].Scenario
	if c.Strategies[0].Options["shards"] != 2 || c.Hold.Kind != "exponential" || c.Retries[1].Within.Seconds() != 1 || c.Keys.Popularity.S != 0.8 ||
		c.Retries[0].Args["stages"].([]RetryStage)[0].Times != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestMatrixFillsInWhatTheFileLeavesToIt(t *testing.T) {
	s := mustRead(t, strings.Replace(minimal, "rate: 100/s", "", 1)+"matrix: {load.open.rate: [100/s, 200/s]}\n")
	if s.Load.Open.Rate != 100 {
		t.Errorf("the scenario has rate %v, want that of its first cell", s.Load.Open.Rate)
	}
}

func TestValueThatTheMatrixReplacesIsCheckedAllTheSame(t *testing.T) {
	_, got := read(t, strings.Replace(minimal, "100/s", "lots", 1)+"matrix: {load.open.rate: [1/s]}\n")
	wants(t, got, `3:21: load.open.rate: "lots" is no rate`)
}

func TestMistakeInEveryCellIsToldOnce(t *testing.T) {
	_, got := read(t, minimal+"hodl: 1\nmatrix: {load.open.rate: [1/s, 2/s, 3/s]}\n")
	wants(t, got, `5:1: the key "hodl"`)
}

func TestExcludeSkipsPoints(t *testing.T) {
	s := mustRead(t, strings.Replace(minimal, "[set-px-lua]", "[noop, set-px-lua]", 1)+`
retries: [native, fail-fast]
matrix: {load.open.rate: [1/s, 2/s]}
exclude:
  - {strategy: set-px-lua, retry: native}
  - {load.open.rate: 120/min, strategy: noop}
`)
	want := []string{"noop/native/load.open.rate=1", "noop/fail-fast/load.open.rate=1", "set-px-lua/fail-fast/load.open.rate=1", "set-px-lua/fail-fast/load.open.rate=2"}
	if d := cmp.Diff(want, names(s.Points())); d != "" {
		t.Error(d)
	}
}

func TestCellWithoutPointsIsDropped(t *testing.T) {
	s := mustRead(t, minimal+"matrix: {load.open.rate: [1/s, 2/s]}\nexclude: [{load.open.rate: 1/s}]\n")
	if len(s.Cells) != 1 || s.Load.Open.Rate != 2 {
		t.Errorf("%d cells, rate %v; want the second cell alone", len(s.Cells), s.Load.Open.Rate)
	}
}

func TestBaselineDoublesEveryPoint(t *testing.T) {
	s := mustRead(t, minimal+"baseline: a-a\n")
	if d := cmp.Diff([]string{"set-px-lua/fail-fast", "set-px-lua-again/fail-fast"}, names(s.Points())); d != "" {
		t.Error(d)
	}
	_, got := read(t, strings.Replace(minimal, "[set-px-lua]", "[noop, {name: noop, as: noop-again}]", 1)+"baseline: a-a\n")
	wants(t, got, `4:14: strategies.0: the label "noop-again" is already that of row 2`)
}

func TestSlugsAreShortAndUnique(t *testing.T) {
	taken := map[string]bool{}
	long := "set-px-lua/full-jitter/" + strings.Repeat("very.long.path=1/", 10)
	seen := map[string]string{}
	for _, name := range []string{"a/b", "A/b", "a/b/image=redis:7", "a/b/image=redis 7", long + "x", long + "y"} {
		s := slug(name, taken)
		if len(s) > 80 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.+=-") != "" {
			t.Errorf("slug %q is no file name", s)
		}
		if o, ok := seen[s]; ok {
			t.Errorf("%q and %q share the slug %q", o, name, s)
		}
		seen[s] = name
	}
	if seen["a+b"] != "a/b" {
		t.Errorf("the slugs are %v", seen)
	}
}

func TestRowHasItsOwnTopology(t *testing.T) {
	s := mustRead(t, strings.Replace(minimal, "[set-px-lua]", "[set-px-lua, {name: redlock, on: {shape: independent, nodes: 3}}]", 1)+"topology: {provider: process}\n")
	p := s.Points()
	if p[0].Topology.Shape != "single" || p[1].Topology.Shape != "independent" || p[1].Topology.Nodes != 3 || p[1].Topology.Provider != "process" {
		t.Errorf("topologies %+v and %+v", p[0].Topology, p[1].Topology)
	}
}
