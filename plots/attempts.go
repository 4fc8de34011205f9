package plots

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// lastBucket of attempts holds all from 257 on.
const lastBucket = 9

// attempts draws the share of acquisitions by the number of attempts they took, in buckets 1, 2, 3-4, 5-8 and so on.
// Y is logarithmic, since the rare acquisition with very many attempts is the point; a log axis has no zero, so its
// label says where the bars start.
func attempts(d Data) (Chart, string) {
	c := d.chart("attempts", d.say("Attempts per acquisition", "每次获取的尝试次数"))
	var (
		lines []line
		none  []string
	)
	for _, l := range d.lines() {
		if len(d.attemptCounts(l.points[0])) > 0 {
			lines = append(lines, l)
		} else {
			none = append(none, d.short(l.points[0]))
		}
	}
	if len(lines) == 0 {
		return c, d.say("No point counted attempts.", "没有数据点统计了尝试次数。")
	}
	fs, notes := d.facets(lines, 6)
	c.Columns = grid(len(fs))
	var points []results.Point
	for _, f := range fs {
		c.Panels = append(c.Panels, d.attemptPanel(f, byPanel(fs), len(fs)))
		for _, l := range f.lines {
			points = append(points, l.points[0])
		}
	}
	d.alignAttempts(c.Panels)
	if len(none) > 0 {
		notes = append(notes, d.sayf("no attempts counted: %s", "未统计尝试次数：%s", strings.Join(none, ", ")))
	}
	c.Notes = slices.Concat(c.Notes, notes, d.causes(points))
	return c, ""
}

// attemptCounts: attempts -> acquisitions.
func (d Data) attemptCounts(p results.Point) map[int64]int64 {
	out := map[int64]int64{}
	if valid(p) && p.Attempts != nil {
		for k, n := range p.Attempts.Histogram {
			if a, err := strconv.ParseInt(k, 10, 64); err == nil && a > 0 {
				out[a] += n
			}
		}
		return out
	}
	if valid(p) {
		return nil // `native`: nobody knows
	}
	for _, t := range d.counted(p) {
		for a, n := range t.Attempts.Histogram {
			if t.Attempts.Counted && a > 0 {
				out[int64(a)] += n
			}
		}
	}
	return out
}

func (d Data) attemptPanel(f facet, byPanel bool, panels int) Panel {
	p := Panel{Title: f.title, Height: panelHeight(panels)}
	last, least := 0, 100.0
	for _, l := range f.lines {
		pt := l.points[0]
		shares := bucketShares(d.attemptCounts(pt))
		name := l.name(byPanel)
		if a := pt.Attempts; panels == 1 && a != nil && a.Mean != nil && a.Max != nil {
			name += d.sayf(" (mean %.3g, max %d)", "（均值 %.3g，最大 %d）", *a.Mean, *a.Max)
		}
		s := Series{Name: name, Kind: Bars, Style: l.style}
		for b, share := range shares {
			if share > 0 {
				s.Points = append(s.Points, Point{X: float64(b), Y: share, Hollow: hollow(pt)})
				last, least = max(last, b), min(least, share)
			}
		}
		if n := len(s.Points); n > 0 {
			s.Points[n-1].Stamp = d.doubt(pt)
		}
		p.Series = append(p.Series, s)
	}
	p.X = categories(bucketNames(last))
	p.Y = Axis{Scale: Log, Min: math.Pow10(int(math.Floor(math.Log10(least) - 1e-9))), Max: 100}
	return p
}

func bucketShares(counts map[int64]int64) []float64 {
	var (
		sum    int64
		shares = make([]float64, lastBucket+1)
	)
	for a, n := range counts {
		shares[min(bits.Len64(uint64(a-1)), lastBucket)] += float64(n)
		sum += n
	}
	for i := range shares {
		shares[i] = round(100 * shares[i] / float64(sum))
	}
	return shares
}

func bucketNames(last int) []string {
	var names []string
	for b := range last + 1 {
		lo, hi := 1<<b/2+1, 1<<b
		switch {
		case b <= 1:
			names = append(names, strconv.Itoa(b+1))
		case b == lastBucket:
			names = append(names, fmt.Sprintf("%d+", lo))
		default:
			names = append(names, fmt.Sprintf("%d–%d", lo, hi))
		}
	}
	return names
}

// alignAttempts gives all panels the same buckets and floor, and says the floor in the label.
func (d Data) alignAttempts(panels []Panel) {
	floor, x := panels[0].Y.Min, panels[0].X
	for _, p := range panels {
		floor = min(floor, p.Y.Min)
		if p.X.Max > x.Max {
			x = p.X
		}
	}
	for i := range panels {
		y := &panels[i].Y
		panels[i].X, y.Min = x, floor
		panels[i].X.Label = d.say("attempts of one acquisition", "一次获取的尝试次数")
		y.Label = d.say("share of acquisitions", "获取占比")
		y.Unit = d.sayf("%%, log from %g %%", "%%，对数，从 %g %% 起", floor)
	}
}
