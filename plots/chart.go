// Package plots turns the results of a run into charts. A chart is plain data, made by one function in one file and
// listed in Catalogue; draw.go is the only file that draws, as SVG or PNG. The package computes no statistic that the
// results do not hold: it picks, merges exact histograms and thins lines out for display.
package plots

import (
	"math"
	"slices"
)

// Chart is one picture as data: what is drawn where, in which unit, and what a reader must know beside it.
type Chart struct {
	Name    string   `json:"name"` // file name without its ending, as in Catalogue
	Title   string   `json:"title"`
	Doc     string   `json:"doc"`              // how to read it, one sentence
	Source  string   `json:"source,omitempty"` // scenario, run and servers
	Stamps  []string `json:"stamps,omitempty"` // what forbids to quote it, as "not a performance figure"
	Columns int      `json:"columns"`          // of the grid of panels, filled row by row
	Panels  []Panel  `json:"panels"`
	Notes   []string `json:"notes,omitempty"` // footnotes: what is left out, merged or in doubt
}

// Panel is one pair of axes.
type Panel struct {
	Title  string   `json:"title,omitempty"`
	Height float64  `json:"height,omitempty"` // wanted, in logical pixels; 0: the default
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Bands  []Band   `json:"bands,omitempty"`
	Shades []Shade  `json:"shades,omitempty"`
	HLines []Rule   `json:"hlines,omitempty"`
	VLines []Rule   `json:"vlines,omitempty"`
}

// Scale of an axis.
type Scale string

const (
	Linear     Scale = "linear"
	Log        Scale = "log"        // values are above 0
	Percentile Scale = "percentile" // values are 1/(1-p), from 1; the ticks read 0, 90, 99, 99.9 %
	Category   Scale = "category"   // values are indices into Categories
)

// Axis from Min to Max, in the unit of the values.
type Axis struct {
	Label      string   `json:"label,omitempty"`
	Unit       string   `json:"unit,omitempty"`
	Scale      Scale    `json:"scale"`
	Min        float64  `json:"min"`
	Max        float64  `json:"max"`
	Categories []string `json:"categories,omitempty"`
	Bare       bool     `json:"bare,omitempty"` // tick labels are those of the panel to the left or below
}

// Kind of a series.
type Kind string

const (
	Line Kind = "line"
	Dots Kind = "dots"
	Bars Kind = "bars" // from the low end of the axis; lying where Y is the category axis
)

// Series is one row of the legend; series without a name are not in it.
type Series struct {
	Name   string  `json:"name,omitempty"`
	Kind   Kind    `json:"kind"`
	Style  Style   `json:"style"`
	Points []Point `json:"points"`
}

// Point of a series.
type Point struct {
	X      float64  `json:"x"`
	Y      float64  `json:"y"`
	Mark   bool     `json:"mark,omitempty"`   // carries the marker of its series; lines of many points mark a few
	Hollow bool     `json:"hollow,omitempty"` // saturated or invalid
	Beyond bool     `json:"beyond,omitempty"` // has no value: drawn at the upper end of the Y axis
	Knee   bool     `json:"knee,omitempty"`   // where the line bends most
	Stamp  string   `json:"stamp,omitempty"`  // written beside it
	Spread *Spread  `json:"spread,omitempty"` // of bars
	Trials []Sample `json:"trials,omitempty"` // of bars: one dot each
}

// Spread of a bar over trials: the 95 % interval of the median, or the range where trials are too few for one.
type Spread struct {
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	Interval bool    `json:"interval"`
}

// Sample is one trial's value.
type Sample struct {
	Value float64 `json:"value"`
	Valid bool    `json:"valid"`
}

// Band between two lines, drawn under the series of its style.
type Band struct {
	Style Style     `json:"style"`
	X     []float64 `json:"x"`
	Lo    []float64 `json:"lo"`
	Hi    []float64 `json:"hi"`
}

// Shade is a span of X that is apart from the measurement, as warm-up or a fault.
type Shade struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Label string  `json:"label,omitempty"`
}

// Rule is a line across the panel, as an SLO.
type Rule struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// MaxPoints of a line: more cannot be seen at this size, and a jagged line of them takes seconds to draw.
const MaxPoints = 1000

// round keeps six significant digits: a picture shows no more, and the data is then the same on every machine.
func round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	digits := 5 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits < 0 {
		unit := math.Pow10(-digits)
		return math.Round(v/unit) * unit
	}
	unit := math.Pow10(digits)
	return math.Round(v*unit) / unit
}

// niceStep is the least of 1, 2, 5 x 10^k that divides span into at most n parts.
func niceStep(span float64, n int) float64 {
	if span <= 0 {
		return 1
	}
	unit := math.Pow10(int(math.Floor(math.Log10(span / float64(n)))))
	for _, m := range []float64{1, 2, 5} {
		if span/(m*unit) <= float64(n)+1e-9 {
			return m * unit
		}
	}
	return 10 * unit
}

// fromZero is a linear axis from 0 to the next step above the largest value.
func fromZero(label, unit string, values ...float64) Axis {
	top := 0.0
	if len(values) > 0 {
		top = max(0, slices.Max(values))
	}
	if top == 0 {
		top = 1
	}
	step := niceStep(top, 6)
	return Axis{Label: label, Unit: unit, Scale: Linear, Max: round(math.Ceil(top/step-1e-9) * step)}
}

// logAxis spans the values, rounded outwards to 1, 2 or 5 x 10^k. Values of 0 and less are not on it.
func logAxis(label, unit string, values ...float64) Axis {
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if hi == 0 {
		lo, hi = 1, 10
	}
	a := Axis{Label: label, Unit: unit, Scale: Log, Min: logDown(lo), Max: logUp(hi)}
	if a.Max <= a.Min {
		a.Max = a.Min * 10
	}
	return a
}

// logUp is the least of 1, 2, 5 x 10^k that is not below v; logDown the largest not above.
func logUp(v float64) float64 {
	unit := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= v*(1-1e-9) {
			return round(m * unit)
		}
	}
	return round(10 * unit)
}

func logDown(v float64) float64 {
	unit := math.Pow10(int(math.Floor(math.Log10(v) + 1e-9)))
	for _, m := range []float64{5, 2} {
		if m*unit <= v*(1+1e-9) {
			return round(m * unit)
		}
	}
	return round(unit)
}

// categories are one slot each.
func categories(names []string) Axis {
	return Axis{Scale: Category, Min: -0.5, Max: float64(len(names)) - 0.5, Categories: names}
}
