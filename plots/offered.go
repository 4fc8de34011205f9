package plots

import (
	"slices"

	"github.com/lockbench/lockbench/results"
)

// offered draws the achieved rate of acquisitions against the offered one, both axes alike, with the diagonal.
func offered(d Data) (Chart, string) {
	c := d.chart("offered-vs-achieved", d.say("Offered against achieved rate", "请求速率与完成速率"))
	lines := d.rated()
	if len(lines) == 0 {
		return c, d.say("No two points differ in the offered rate alone.", "没有仅请求速率不同的数据点。")
	}
	fs, notes := d.facets(lines, maxLines)
	c.Columns = grid(len(fs))
	var points []results.Point
	for _, f := range fs {
		c.Panels = append(c.Panels, d.offeredPanel(f, byPanel(fs), len(fs)))
		for _, l := range f.lines {
			points = append(points, l.points...)
		}
	}
	onTop := d.say("Lines on the diagonal cover each other.", "对角线上的曲线相互重叠。")
	c.Notes = slices.Concat(c.Notes, []string{onTop}, notes, d.causes(points))
	return c, ""
}

func (d Data) offeredPanel(f facet, byPanel bool, panels int) Panel {
	p := Panel{Title: f.title, Height: panelHeight(panels)}
	var all []float64
	for _, l := range f.lines {
		s := Series{Name: l.name(byPanel), Kind: Line, Style: l.style}
		for _, pt := range l.points {
			if pt.Throughput == nil {
				continue
			}
			s.Points = append(s.Points, Point{X: round(*pt.RatePerS), Y: round(*pt.Throughput), Mark: true,
				Hollow: hollow(pt), Stamp: d.doubt(pt)})
			all = append(all, *pt.RatePerS, *pt.Throughput)
		}
		p.Series = append(p.Series, s)
	}
	p.X = fromZero(d.say("offered rate", "请求速率"), "1/s", all...)
	p.Y = fromZero(d.say("achieved rate of acquisitions", "完成的获取速率"), "1/s", all...)
	diagonal := Series{Name: d.say("achieved = offered", "完成 = 请求"), Kind: Line, Style: Style{Colour: grey, Dash: "dot"},
		Points: []Point{{}, {X: p.X.Max, Y: p.X.Max}}}
	p.Series = append([]Series{diagonal}, p.Series...)
	return p
}
