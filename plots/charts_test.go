package plots

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/results"
)

func uniform(n int) *results.Histogram {
	h := results.NewHistogram(results.DefaultRange)
	for i := range n {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	return h
}

func TestPercentileCurveEndsWhereTenSamplesLieBeyond(t *testing.T) {
	pts := curve(uniform(2000))
	last := pts[len(pts)-1]
	if last.X != 200 || math.Abs(last.Y-1990) > 2 {
		t.Errorf("the curve of 2000 samples ends at 1/(1-p) = %g, %g ms; want 200 and 1990 ms", last.X, last.Y)
	}
	if pts[0].X != 1 || math.Abs(pts[0].Y-1) > 0.01 {
		t.Errorf("it begins at %+v, want the least value at 0 %%", pts[0])
	}
	for i := 1; i < len(pts); i++ {
		if pts[i].X < pts[i-1].X || pts[i].Y < pts[i-1].Y {
			t.Fatalf("it falls from %+v to %+v", pts[i-1], pts[i])
		}
	}
	if len(pts) > MaxPoints {
		t.Errorf("it has %d points", len(pts))
	}
}

func TestPercentileCurveCarriesItsMarkersAtTheUsualPercentiles(t *testing.T) {
	var at []float64
	for _, p := range curve(uniform(20000)) {
		if p.Mark {
			at = append(at, p.X)
		}
	}
	if diff := cmp.Diff([]float64{2, 10, 100, 1000, 2000}, at); diff != "" {
		t.Error(diff)
	}
}

func TestShareOfLongerHandoffsFallsToTenSamples(t *testing.T) {
	pts := ccdf(uniform(1000))
	if first, last := pts[0], pts[len(pts)-1]; first.Y != 100 || last.Y < 1 || last.Y > 1.1 {
		t.Errorf("from %g to %g %%, want 100 to 1 %%", first.Y, last.Y)
	}
}

func TestAttemptsFallIntoDoublingBuckets(t *testing.T) {
	shares := bucketShares(map[int64]int64{1: 50, 2: 10, 3: 5, 4: 5, 5: 10, 8: 10, 300: 5, 100000: 5})
	if diff := cmp.Diff([]float64{50, 10, 10, 20, 0, 0, 0, 0, 0, 10}, shares); diff != "" {
		t.Error(diff)
	}
	want := []string{"1", "2", "3–4", "5–8", "9–16", "17–32", "33–64", "65–128", "129–256", "257+"}
	if diff := cmp.Diff(want, bucketNames(lastBucket)); diff != "" {
		t.Error(diff)
	}
}

func TestKneeIsWhereALineBendsMost(t *testing.T) {
	line := func(ys ...float64) (pts []Point) {
		for i, y := range ys {
			pts = append(pts, Point{X: float64(i), Y: y})
		}
		return pts
	}
	for _, c := range []struct {
		pts  []Point
		want int
	}{
		{line(1, 1, 1, 2, 50), 3},
		{line(1, 2, 3, 4, 5), -1},
		{line(5, 5, 5, 5), -1},
		{line(1, 1, 50), -1},
		{line(1, 30, 2, 12), -1},
		{line(2, 1.7, 2, 2.1), -1},
	} {
		if got := knee(c.pts); got != c.want {
			t.Errorf("knee of %v is point %d, want %d", c.pts, got, c.want)
		}
	}
}

func TestThresholdOnResponseBecomesAnSLOLine(t *testing.T) {
	var d Data
	for _, text := range []string{"response.p99 < 400ms", "set-px-lua/full-jitter: response.p99 <= 1.5s", "response.p50 < 2ms",
		"acquired.share > 99%", "response.p99 > 1ms", "response.p99 < 400ms"} {
		d.Run.Thresholds = append(d.Run.Thresholds, results.ThresholdResult{Threshold: text})
	}
	want := []Rule{{At: 400, Label: "SLO response.p99 < 400ms"}, {At: 1500, Label: "SLO set-px-lua/full-jitter: response.p99 <= 1.5s"}}
	if diff := cmp.Diff(want, d.slo("response.p99")); diff != "" {
		t.Error(diff)
	}
}

func TestSaturatedPointHasNoPercentileButShows(t *testing.T) {
	d := made{strategies: []string{"set-px-lua"}, retries: map[string]float64{"fixed": 5}, trials: 1, seconds: 4, perSecond: 400,
		capacity: 300, rates: []float64{50, 100, 900}}.data()
	c, missing := rate(d)
	if missing != "" {
		t.Fatal(missing)
	}
	pts := c.Panels[1].Series[0].Points
	if last := pts[len(pts)-1]; !last.Beyond || !last.Hollow || last.Stamp != "saturated" {
		t.Errorf("the point at 900/s is %+v", last)
	}
	c, _ = percentiles(d)
	if !slices.ContainsFunc(c.Notes, func(n string) bool {
		return strings.Contains(n, "saturated, no percentiles: set-px-lua/fixed rate=900")
	}) {
		t.Errorf("notes do not name it: %q", c.Notes)
	}
}

func TestInvalidPointIsHollowAndItsCauseIsNamed(t *testing.T) {
	for _, c := range charts(runs()["hot"]) {
		if c.Name != "redis-cpu" && c.Name != "response-vs-rate" {
			continue
		}
		found := false
		for _, p := range c.Panels {
			for _, s := range p.Series {
				found = found || slices.ContainsFunc(s.Points, func(p Point) bool { return p.Hollow && p.Stamp == "invalid" })
			}
		}
		if !found || !strings.Contains(strings.Join(c.Notes, "\n"), "schedule p99 31 ms") {
			t.Errorf("%s: hollow %v, notes %q", c.Name, found, c.Notes)
		}
	}
}

func TestEmbeddedRunIsStampedOnEveryChart(t *testing.T) {
	for _, c := range charts(runs()["closed"]) {
		if !slices.Contains(c.Stamps, "embedded: not a performance figure") {
			t.Errorf("%s is not stamped", c.Name)
		}
	}
}

func TestChartThatHasNothingToShowSaysWhy(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		for _, e := range Catalogue() {
			if c, missing := e.Make(Data{Lang: lang}); missing == "" {
				t.Errorf("%s of nothing is %+v", e.Name, c)
			}
		}
	}
}

func TestCatalogueNamesAreThoseOfTheCharts(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Catalogue() {
		if c, _ := e.Make(runs()["hot"]); c.Name != e.Name || c.Doc != e.Doc || seen[e.Name] {
			t.Errorf("entry %q makes chart %q, %q", e.Name, c.Name, c.Doc)
		}
		seen[e.Name] = true
	}
}

func TestPanelsThatAreLeftOutAreNamedInANote(t *testing.T) {
	c, _ := percentiles(runs()["matrix"])
	if len(c.Panels) != maxPanels || !strings.Contains(strings.Join(c.Notes, "\n"), "6 of 18 panels are shown") {
		t.Errorf("%d panels, notes %q", len(c.Panels), c.Notes)
	}
	var titles []string
	for _, p := range c.Panels {
		titles = append(titles, p.Title)
	}
	want := []string{"fixed  rate=100 count=1", "full-jitter  rate=100 count=1", "staged-50-100  rate=100 count=1",
		"fixed  rate=300 count=20", "full-jitter  rate=300 count=20", "staged-50-100  rate=300 count=20"}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Error(diff)
	}
}

func TestPanelsThatCanBeComparedShareTheirAxis(t *testing.T) {
	panels := []Panel{{Y: Axis{Scale: Linear, Max: 20}}, {Y: Axis{Scale: Linear, Max: 80}}}
	if notes := (Data{}).shareTop(panels); notes != nil || panels[0].Y.Max != 80 {
		t.Errorf("20 and 80 became %g, notes %q", panels[0].Y.Max, notes)
	}
	panels[0].Y.Max = 1
	if notes := (Data{}).shareTop(panels); len(notes) != 1 || panels[0].Y.Max != 1 {
		t.Errorf("1 beside 80 became %g, notes %q", panels[0].Y.Max, notes)
	}
}

func TestLongSeriesIsJoinedToStepsAndSaysSo(t *testing.T) {
	d := made{strategies: []string{"set-px-lua"}, retries: map[string]float64{"fixed": 5}, trials: 2, seconds: 900, perSecond: 2, capacity: 300}.data()
	c, _ := overTime(d)
	if n := len(c.Panels[0].Series[0].Points); n > maxSteps {
		t.Errorf("%d steps", n)
	}
	if !strings.Contains(strings.Join(c.Notes, "\n"), "Each step joins 4 s") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestFaultIsShadedFromItsFirstToItsLastSecond(t *testing.T) {
	tr := results.Trial{MeasureS: 4}
	for i, share := range []float64{0, 0.5, 1, 0} {
		tr.Series = append(tr.Series, results.Second{AtS: float64(i), LengthS: 1, FaultShare: share})
	}
	if diff := cmp.Diff([]Shade{{From: 1, To: 3, Label: "fault"}}, (Data{}).shades([]results.Trial{tr})); diff != "" {
		t.Error(diff)
	}
}

func TestNiceAxesEndOnATick(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.9: 1, 7: 8, 101: 120, 247: 250, 1962: 2000} {
		if a := fromZero("", "", v); a.Max != want || a.Min != 0 {
			t.Errorf("up to %g: %g to %g, want 0 to %g", v, a.Min, a.Max, want)
		}
	}
	if a := logAxis("", "", 0, 0.3, 700); a.Min != 0.2 || a.Max != 1000 {
		t.Errorf("log axis from %g to %g, want 0.2 to 1000", a.Min, a.Max)
	}
}
