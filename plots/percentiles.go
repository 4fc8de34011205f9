package plots

import (
	"math"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// percentiles draws one curve a point: y is the response time that a share of 1 - 1/x of the acquisitions does not
// exceed. It ends where fewer than results.MinBeyond samples lie beyond. Source of the form: HdrHistogram's plotter.
func percentiles(d Data) (Chart, string) {
	c := d.chart("response-percentiles", d.say("Response time by percentile", "响应时间的百分位分布"))
	lines, absent := d.withCurve(d.lines(), "response")
	if len(lines) == 0 {
		return c, d.say("No point has enough response times that may be shown.", "没有数据点有足够的可展示的响应时间。")
	}
	fs, notes := d.facets(lines, maxLines)
	c.Columns = grid(len(fs))
	for _, f := range fs {
		c.Panels = append(c.Panels, d.percentilePanel(f, byPanel(fs), len(fs)))
	}
	if len(c.Panels[0].Bands) > 0 {
		c.Notes = append(c.Notes, d.say("Band: least to largest of the trials.", "色带：各次试验的最小值到最大值。"))
	}
	c.Notes = slices.Concat(c.Notes, notes, d.shareTop(c.Panels), absent)
	return c, ""
}

// withCurve splits off the lines whose only point has no distribution to show; notes name them.
func (d Data) withCurve(lines []line, metric string) (kept []line, notes []string) {
	var (
		saturated, short []string
		points           []results.Point
	)
	for _, l := range lines {
		p := l.points[0]
		switch h := d.merged(p, metric); {
		case p.State == results.Saturated:
			saturated = append(saturated, d.short(p))
		case h.Count() < 2*results.MinBeyond || h.Overflow() > 0:
			short = append(short, d.short(p))
		default:
			kept, points = append(kept, l), append(points, p)
		}
	}
	if len(saturated) > 0 {
		notes = append(notes, d.sayf("saturated, no percentiles: %s", "饱和，无百分位：%s", strings.Join(saturated, ", ")))
	}
	if len(short) > 0 {
		notes = append(notes, d.sayf("too few samples: %s", "样本过少：%s", strings.Join(short, ", ")))
	}
	return kept, append(notes, d.causes(points)...)
}

func (d Data) percentilePanel(f facet, byPanel bool, panels int) Panel {
	var (
		tops []float64
		p    = Panel{Title: f.title, Height: panelHeight(panels)}
		end  = 10.0
	)
	for _, l := range f.lines {
		pts := curve(d.merged(l.points[0], "response"))
		stampLine(pts, d.doubt(l.points[0]))
		last := pts[len(pts)-1]
		end, tops = max(end, last.X), append(tops, last.Y)
		p.Series = append(p.Series, Series{Name: l.name(byPanel), Kind: Line, Style: l.style, Points: pts})
		if len(f.lines) <= 4 && panels == 1 {
			p.Bands = append(p.Bands, d.trialBand(l)...)
		}
	}
	for _, b := range p.Bands {
		tops = append(tops, slices.Max(b.Hi))
	}
	p.X = Axis{Label: d.say("percentile", "百分位"), Scale: Percentile, Min: 1, Max: round(end)}
	p.Y = fromZero(d.say("response time", "响应时间"), "ms", tops...)
	return p
}

// stampLine makes the markers hollow and writes the doubt at the line's end.
func stampLine(pts []Point, doubt string) {
	if doubt == "" {
		return
	}
	for i := range pts {
		pts[i].Hollow = pts[i].Mark
	}
	pts[len(pts)-1].Stamp = doubt
}

// perDecade is how many points of a curve lie in a factor of ten: more cannot be told apart.
const perDecade = 40

// curve walks a histogram of microseconds: x = 1/(1-p), y in milliseconds. The quantiles 0.5, 0.9, 0.99 ... are on it
// exactly and carry the marker.
func curve(h *results.Histogram) []Point {
	var (
		n    = float64(h.Count())
		end  = n / results.MinBeyond
		pts  []Point
		seen int64
	)
	for i, b := range h.Bars() {
		if i == 0 {
			pts = append(pts, Point{X: 1, Y: ms(b.From)})
		}
		seen += b.Count
		if x := n / (n - float64(seen)); x <= end && math.Log10(x/pts[len(pts)-1].X) >= 1.0/perDecade {
			pts = append(pts, Point{X: round(x), Y: ms(b.To)})
		}
	}
	for x := 2.0; x <= end; x = nextMark(x) {
		pts = append(pts, mark(h, x))
	}
	pts = append(pts, mark(h, end))
	slices.SortStableFunc(pts, func(a, b Point) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
	return pts
}

func nextMark(x float64) float64 {
	if x == 2 {
		return 10
	}
	return x * 10
}

func mark(h *results.Histogram, x float64) Point {
	v, _ := h.Value(1 - 1/x)
	return Point{X: round(x), Y: ms(v), Mark: true}
}

// ms from microseconds.
func ms(us int64) float64 { return round(float64(us) / 1000) }

// trialBand is the range of the trials around a merged curve; none where there is one trial only.
func (d Data) trialBand(l line) []Band {
	var hs []*results.Histogram
	for _, t := range d.counted(l.points[0]) {
		hs = append(hs, t.Histograms["response"])
	}
	if len(hs) < 2 {
		return nil
	}
	b := Band{Style: l.style}
	for k := 0; ; k++ {
		x := math.Pow(10, float64(k)/10)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, h := range hs {
			v, ok := h.Value(1 - 1/x)
			if !ok {
				return bandOf(b)
			}
			lo, hi = min(lo, ms(v)), max(hi, ms(v))
		}
		b.X, b.Lo, b.Hi = append(b.X, round(x)), append(b.Lo, lo), append(b.Hi, hi)
	}
}

func bandOf(b Band) []Band {
	if len(b.X) < 2 {
		return nil
	}
	return []Band{b}
}
