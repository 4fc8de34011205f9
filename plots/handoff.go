package plots

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/results"
)

// handoff draws the share of hand-offs that took longer than x (CCDF), both axes logarithmic, down to
// results.MinBeyond samples.
func handoff(d Data) (Chart, string) {
	c := d.chart("handoff", d.say("Hand-off gap", "交接间隙"))
	lines, absent := d.withCurve(d.lines(), "handoff")
	if len(lines) == 0 {
		return c, d.say("Too few hand-offs to a waiting session were seen.", "交接给等待者的次数过少。")
	}
	fs, notes := d.facets(lines, maxLines)
	c.Columns = grid(len(fs))
	for _, f := range fs {
		c.Panels = append(c.Panels, d.handoffPanel(f, byPanel(fs), len(fs)))
	}
	sameX(c.Panels)
	c.Notes = slices.Concat(c.Notes, notes, d.shareTop(c.Panels), absent)
	return c, ""
}

func (d Data) handoffPanel(f facet, byPanel bool, panels int) Panel {
	p := Panel{Title: f.title, Height: panelHeight(panels)}
	var xs, ys []float64
	for _, l := range f.lines {
		pts := ccdf(d.merged(l.points[0], "handoff"))
		stampLine(pts, d.doubt(l.points[0]))
		for _, pt := range pts {
			xs, ys = append(xs, pt.X), append(ys, pt.Y)
		}
		p.Series = append(p.Series, Series{Name: l.name(byPanel), Kind: Line, Style: l.style, Points: pts})
	}
	p.X = logAxis(d.say("hand-off gap", "交接间隙"), d.say("ms, log", "ms，对数"), xs...)
	p.Y = logAxis(d.say("hand-offs that took longer", "更长的交接占比"), d.say("%, log", "%，对数"), ys...)
	return p
}

// ccdf of a histogram of microseconds: x in milliseconds, at least one microsecond, y in percent. The quantiles 0.5,
// 0.9, 0.99 ... carry the marker.
func ccdf(h *results.Histogram) []Point {
	var (
		n    = float64(h.Count())
		pts  []Point
		seen int64
		next = 2.0
	)
	for i, b := range h.Bars() {
		if i == 0 {
			pts = append(pts, Point{X: ms(max(b.From, 1)), Y: 100})
		}
		seen += b.Count
		rest := n - float64(seen)
		if rest < results.MinBeyond {
			break
		}
		pt := Point{X: ms(max(b.To, 1)), Y: round(100 * rest / n)}
		for n/rest >= next {
			pt.Mark, next = true, nextMark(next)
		}
		if last := pts[len(pts)-1]; pt.Mark || math.Hypot(math.Log10(pt.X/last.X), math.Log10(pt.Y/last.Y)) >= 1.0/perDecade {
			pts = append(pts, pt)
		}
	}
	return pts
}

// sameX gives all panels the widest X axis.
func sameX(panels []Panel) {
	lo, hi := panels[0].X.Min, panels[0].X.Max
	for _, p := range panels {
		lo, hi = min(lo, p.X.Min), max(hi, p.X.Max)
	}
	for i := range panels {
		panels[i].X.Min, panels[i].X.Max = lo, hi
	}
}
