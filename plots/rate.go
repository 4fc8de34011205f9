package plots

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/results"
)

// ratePath is the matrix path that the X axis of a rate chart shows.
const ratePath = "load.open.rate"

// rate draws response p50 and p99 (or what the sessions suffice for) against the offered rate. Y is logarithmic: below and above the knee differ by
// powers of ten. A saturated point has no percentile; it is hollow at the upper edge.
func rate(d Data) (Chart, string) {
	c := d.chart("response-vs-rate", d.say("Response time against offered rate", "响应时间与请求速率"))
	lines := d.rated()
	if len(lines) == 0 {
		return c, d.say("No two points differ in the offered rate alone.", "没有仅请求速率不同的数据点。")
	}
	fs, notes := d.facets(lines, maxLines)
	tail := d.tail(lines)
	quantiles := []string{tail}
	if len(fs) == 1 && tail != "p50" {
		quantiles = []string{"p50", tail}
	}
	for _, f := range fs {
		for _, q := range quantiles {
			c.Panels = append(c.Panels, d.ratePanel(f, q, byPanel(fs)))
		}
	}
	c.Columns = grid(len(c.Panels))
	c.Notes = slices.Concat(c.Notes, notes, d.shareTop(c.Panels), d.rateNotes(c, lines, quantiles))
	return c, ""
}

// tail is the highest percentile that some line knows at two rates or more.
func (d Data) tail(lines []line) string {
	for _, q := range []string{"p99", "p90"} {
		for _, l := range lines {
			known := 0
			for _, p := range l.points {
				if d.quantile(p, "response", q) != nil {
					known++
				}
			}
			if known > 1 {
				return q
			}
		}
	}
	return "p50"
}

// rated are the lines over the offered rate that have two points or more.
func (d Data) rated() []line {
	lines := d.lines(ratePath)
	for i := range lines {
		lines[i].points = slices.DeleteFunc(lines[i].points, func(p results.Point) bool { return p.RatePerS == nil })
		slices.SortStableFunc(lines[i].points, func(a, b results.Point) int { return int(math.Copysign(1, *a.RatePerS-*b.RatePerS)) })
	}
	return slices.DeleteFunc(lines, func(l line) bool {
		n := len(l.points)
		return n < 2 || *l.points[n-1].RatePerS < 1.05**l.points[0].RatePerS
	})
}

func (d Data) rateNotes(c Chart, lines []line, quantiles []string) []string {
	var (
		notes  []string
		points []results.Point
		knee   bool
	)
	for _, p := range c.Panels {
		for _, s := range p.Series {
			knee = knee || slices.ContainsFunc(s.Points, func(p Point) bool { return p.Knee })
		}
	}
	if knee {
		notes = append(notes, d.say("Ring: the knee, where the line bends most on a linear scale; a visual aid, the SLO is the answer.",
			"圆圈：拐点，线性刻度下弯折最大处；仅供参考，以 SLO 为准。"))
	}
	if len(quantiles) == 1 {
		notes = append(notes, d.sayf("Only %s is drawn; the other percentiles are in the table.", "仅画出 %s；其余百分位见表格。", quantiles[0]))
	}
	if tail := quantiles[len(quantiles)-1]; tail != "p99" {
		notes = append(notes, d.say("Too few sessions for a p99 at two rates or more.", "会话过少，不足以在两个以上速率给出 p99。"))
	}
	for _, l := range lines {
		points = append(points, l.points...)
	}
	return append(notes, d.causes(points)...)
}

func (d Data) ratePanel(f facet, q string, byPanel bool) Panel {
	var (
		p      = Panel{Title: strings.TrimSpace(q + "  " + f.title), Height: 270, HLines: d.slo("response." + q)}
		ys, xs []float64
	)
	for _, l := range f.lines {
		pts := d.ratePoints(l, q)
		for _, pt := range pts {
			xs = append(xs, pt.X)
			if !pt.Beyond {
				ys = append(ys, pt.Y)
			}
		}
		if len(pts) > 0 {
			p.Series = append(p.Series, Series{Name: l.name(byPanel), Kind: Line, Style: l.style, Points: pts})
		}
	}
	for _, h := range p.HLines {
		ys = append(ys, h.At)
	}
	p.X = fromZero(d.say("offered rate", "请求速率"), "1/s", xs...)
	p.Y = logAxis(d.say("response time", "响应时间")+" "+q, d.say("ms, log", "ms，对数"), ys...)
	d.stampOnce(p.Series)
	return p
}

func (d Data) ratePoints(l line, q string) []Point {
	var pts []Point
	for _, p := range l.points {
		pt := Point{X: round(*p.RatePerS), Mark: true, Hollow: hollow(p), Stamp: d.doubt(p)}
		if v := d.quantile(p, "response", q); v != nil && *v > 0 {
			pt.Y = round(*v)
		} else {
			pt.Beyond = true
		}
		if pt.Beyond && p.State != results.Saturated {
			continue // too few samples for this percentile: there is nothing to show
		}
		pts = append(pts, pt)
	}
	if i := knee(pts); q != "p50" && i >= 0 {
		pts[i].Knee = true
	}
	return pts
}

// quantile of a point in milliseconds; nil where it must not be shown. That of an invalid point comes from its
// trials, since the summary holds valid ones only.
func (d Data) quantile(p results.Point, metric, q string) *float64 {
	if p.State == results.Saturated {
		return nil
	}
	if !valid(p) {
		return d.merged(p, metric).Quantile(map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99}[q])
	}
	l := p.Latency[metric]
	switch {
	case l == nil:
		return nil
	case q == "p50":
		return l.P50
	case q == "p90":
		return l.P90
	}
	return l.P99
}

// stampOnce keeps one "saturated" for each rate: a column of them would hide what it stamps.
func (d Data) stampOnce(series []Series) {
	seen := map[float64]bool{}
	for _, s := range series {
		for i, p := range s.Points {
			if !p.Beyond {
				continue
			}
			if seen[p.X] {
				s.Points[i].Stamp = ""
			}
			seen[p.X] = true
		}
	}
}

// knee is the point farthest below the chord from the first to the last, both axes linear and scaled to 0..1; -1 where
// the line has fewer than four solid points, less than triples, hardly bends, or is above that point before it: that
// is noise, not a knee. Source: Satopaa and others, "Finding a kneedle in a haystack", 2011.
func knee(pts []Point) int {
	var solid []int
	for i, p := range pts {
		if !p.Beyond && !p.Hollow {
			solid = append(solid, i)
		}
	}
	if len(solid) < 4 {
		return -1
	}
	a, z := pts[solid[0]], pts[solid[len(solid)-1]]
	best, at, top := 0.2, -1, 0.0
	for _, i := range solid {
		p := pts[i]
		gap := (p.X-a.X)/(z.X-a.X) - (p.Y-a.Y)/(z.Y-a.Y)
		if z.Y > 3*a.Y && p.Y > 0.8*top && gap > best {
			best, at = gap, i
		}
		top = max(top, p.Y)
	}
	return at
}

var sloText = regexp.MustCompile(`^(?:(.+):)?\s*([a-z_.0-9]+)\s*<=?\s*([0-9.]+)\s*([a-zµ]*)$`)

// slo are the thresholds on a latency metric, as lines in milliseconds.
func (d Data) slo(metric string) []Rule {
	var rules []Rule
	for _, t := range d.Run.Thresholds {
		m := sloText.FindStringSubmatch(strings.TrimSpace(t.Threshold))
		if m == nil || m[2] != metric {
			continue
		}
		at, ok := millis(m[3], m[4])
		r := Rule{At: at, Label: strings.TrimSpace("SLO " + t.Threshold)}
		if ok && at > 0 && !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return rules
}

func millis(number, unit string) (float64, bool) {
	if unit == "" {
		v, err := strconv.ParseFloat(number, 64)
		return v, err == nil
	}
	v, err := time.ParseDuration(number + unit)
	return round(v.Seconds() * 1000), err == nil
}
