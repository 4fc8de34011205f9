package plots

import (
	"slices"

	"github.com/lockbench/lockbench/results"
)

// maxRows of a bar chart with one row a point.
const maxRows = 120

// rowPoints are the points that become rows, and a note where there are more.
func (d Data) rowPoints(has func(results.Trial) *float64) ([]results.Point, []string) {
	var points []results.Point
	for _, p := range d.Summary.Points {
		if slices.ContainsFunc(d.trials(p), func(t results.Trial) bool { return has(t) != nil }) {
			points = append(points, p)
		}
	}
	if len(points) <= maxRows {
		return points, nil
	}
	return points[:maxRows], []string{d.sayf("The first %d of %d points are shown; the table holds all.",
		"仅显示前 %d 个数据点，共 %d 个；完整数据见表格。", maxRows, len(points))}
}

// rows is a panel of lying bars, one a point: the median over trials, its spread, and every trial as a dot.
func (d Data) rows(points []results.Point, x Axis, metric string, value func(results.Trial) *float64) Panel {
	var (
		p     = Panel{Height: rowsHeight(d.rowNames(points))}
		st    = d.styles()
		names = d.rowNames(points)
		all   []float64
	)
	for i, pt := range points {
		bar, ok := d.bar(pt, metric, value)
		if !ok {
			continue
		}
		bar.Y = float64(len(points) - 1 - i) // the first point is the topmost row
		for _, s := range bar.Trials {
			all = append(all, s.Value)
		}
		if bar.Spread != nil {
			all = append(all, bar.Spread.Hi)
		}
		p.Series = append(p.Series, Series{Kind: Bars, Style: st.of(strategyOf(pt), retryOf(pt)), Points: []Point{bar}})
	}
	slices.Reverse(names)
	p.X, p.Y = fromZero(x.Label, x.Unit, all...), categories(names)
	return p
}

func (d Data) rowNames(points []results.Point) []string {
	var names []string
	for _, p := range points {
		names = append(names, d.short(p))
	}
	return names
}

func rowsHeight(names []string) float64 {
	per := 22.0
	if len(names) > 40 {
		per = 15
	}
	return 60 + per*float64(len(names))
}

// bar of a point; false where no trial has a value.
func (d Data) bar(p results.Point, metric string, value func(results.Trial) *float64) (Point, bool) {
	b := Point{Hollow: hollow(p), Stamp: d.doubt(p)}
	var counted []float64
	for _, t := range d.trials(p) {
		if v := value(t); v != nil {
			b.Trials = append(b.Trials, Sample{Value: round(*v), Valid: t.Valid})
			if t.Valid || !valid(p) {
				counted = append(counted, round(*v))
			}
		}
	}
	if len(counted) == 0 {
		return b, false
	}
	slices.Sort(counted)
	b.X = median(counted)
	if len(counted) > 1 {
		b.Spread = &Spread{Lo: counted[0], Hi: counted[len(counted)-1]}
	}
	if i, ok := p.Intervals[metric]; ok && i.Lo != nil && i.Hi != nil && i.N >= 6 {
		b.Spread = &Spread{Lo: round(*i.Lo), Hi: round(*i.Hi), Interval: true}
	}
	return b, true
}

// median of sorted values.
func median(v []float64) float64 {
	n := len(v)
	return round((v[(n-1)/2] + v[n/2]) / 2)
}

// rowLegend says what bars, whiskers and dots are.
func (d Data) rowLegend(panels []Panel) string {
	for _, p := range panels {
		for _, s := range p.Series {
			if sp := s.Points[0].Spread; sp != nil && sp.Interval {
				return d.say("Bar: median over trials; capped whisker: its 95 % interval (without caps: range, below 6 trials); dots: trials, hollow where invalid.",
					"柱：各次试验的中位数；带端线的须：95 % 区间（无端线：范围，少于 6 次试验）；圆点：各次试验，空心为无效。")
			}
		}
	}
	return d.say("Bar: median over trials; whisker: their range (an interval takes 6 trials or more); dots: trials, hollow where invalid.",
		"柱：各次试验的中位数；须：范围（区间至少需 6 次试验）；圆点：各次试验，空心为无效。")
}
