package plots

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// line is what a chart shows as one series: a point, or the points that differ only in what the X axis shows.
type line struct {
	strategy, retry, cell string
	points                []results.Point
	style                 Style
}

// Limits that keep a chart readable at README width.
const (
	maxLines  = 8  // in a panel before retries get panels of their own
	maxChunk  = 12 // in a panel at all
	maxPanels = 6
)

// lines groups the points that are equal but for the matrix paths of skip.
func (d Data) lines(skip ...string) []line {
	var (
		out []line
		st  = d.styles()
	)
	for _, p := range d.Summary.Points {
		l := line{strategy: strategyOf(p), retry: retryOf(p), cell: strings.Join(shortCell(cellOf(p, skip...)), " ")}
		l.style = st.of(l.strategy, l.retry)
		i := slices.IndexFunc(out, func(o line) bool { return o.strategy == l.strategy && o.retry == l.retry && o.cell == l.cell })
		if i < 0 {
			out, i = append(out, l), len(out)
		}
		out[i].points = append(out[i].points, p)
	}
	return out
}

// facet is what one panel shows.
type facet struct {
	title, cell string
	lines       []line
}

// facets spreads lines over panels so that each stays readable: one panel a cell of the matrix; where a cell has more
// than limit lines of several strategies and retries, one panel a retry, which keeps colours apart; where a panel
// still has too many, parts. Beyond maxPanels, cells evenly spread over the matrix are kept and a note says so:
// nothing is left out in silence.
func (d Data) facets(lines []line, limit int) ([]facet, []string) {
	byRetry := d.tooMany(lines, limit)
	var all []facet
	for _, l := range lines {
		f := facet{title: l.cell, cell: l.cell}
		if byRetry {
			f.title = strings.TrimSpace(l.retry + "  " + l.cell)
			l.style.Dash = "solid"
		}
		i := slices.IndexFunc(all, func(o facet) bool { return o.title == f.title })
		if i < 0 {
			all, i = append(all, f), len(all)
		}
		all[i].lines = append(all[i].lines, l)
	}
	return d.keep(d.chunks(all, min(maxChunk, limit+4)))
}

// tooMany: some cell has more lines than limit, and both strategies and retries to tell apart.
func (d Data) tooMany(lines []line, limit int) bool {
	count, strategies, retries := map[string]int{}, map[string]bool{}, map[string]bool{}
	most := 0
	for _, l := range lines {
		count[l.cell]++
		most = max(most, count[l.cell])
		strategies[l.strategy], retries[l.retry] = true, true
	}
	return most > limit && len(strategies) > 1 && len(retries) > 1
}

func (d Data) chunks(all []facet, most int) []facet {
	var out []facet
	for _, f := range all {
		if len(f.lines) <= most {
			out = append(out, f)
			continue
		}
		parts := (len(f.lines) + most - 1) / most
		size := (len(f.lines) + parts - 1) / parts
		n := 0
		for part := range slices.Chunk(f.lines, size) {
			n++
			title := strings.TrimSpace(f.title + "  " + d.sayf("part %d of %d", "第 %d / %d 部分", n, parts))
			out = append(out, facet{title: title, cell: f.cell, lines: part})
		}
	}
	return out
}

func (d Data) keep(all []facet) ([]facet, []string) {
	var (
		cells []string
		each  = map[string]int{}
		most  = 0
	)
	for _, f := range all {
		cells = append(cells, f.cell)
		each[f.cell]++
		most = max(most, each[f.cell])
	}
	cells = uniq(cells)
	slices.SortStableFunc(all, func(a, b facet) int { return slices.Index(cells, a.cell) - slices.Index(cells, b.cell) })
	if len(all) <= maxPanels {
		return all, nil
	}
	cells = spread(cells, max(1, maxPanels/most))
	kept := slices.DeleteFunc(slices.Clone(all), func(f facet) bool { return !slices.Contains(cells, f.cell) })
	kept = spread(kept, maxPanels)
	return kept, []string{d.sayf(
		"%d of %d panels are shown, spread evenly over the run; the table and summary.json hold all points.",
		"共 %[2]d 个子图，均匀选取其中 %[1]d 个；表格与 summary.json 含全部数据点。", len(kept), len(all))}
}

// spread picks n of list at even distances, the first and the last among them; of one the last, which in a growing
// matrix is the most loaded.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	if n == 1 {
		return list[len(list)-1:]
	}
	var out []T
	for i := range n {
		out = append(out, list[i*(len(list)-1)/(n-1)])
	}
	return out
}

// name of a line in the legend; byPanel: the panels name the retry.
func (l line) name(byPanel bool) string {
	if byPanel {
		return l.strategy
	}
	return l.strategy + "/" + l.retry
}

// byPanel: the titles of the panels name the retry, so that the legend need not.
func byPanel(fs []facet) bool {
	for _, f := range fs {
		for _, l := range f.lines {
			if !strings.HasPrefix(f.title, l.retry+" ") && f.title != l.retry {
				return false
			}
		}
	}
	return true
}

// grid is the number of columns for n panels.
func grid(n int) int {
	if n > 1 {
		return 2
	}
	return 1
}

// panelHeight of one panel among n.
func panelHeight(n int) float64 {
	if n > 1 {
		return 230
	}
	return 330
}

// shareTop gives panels one Y axis, so that they can be compared at a glance, unless one would be squashed by it to
// less than a fifth: then each keeps its own and a note says so.
func (d Data) shareTop(panels []Panel) []string {
	if len(panels) < 2 {
		return nil
	}
	lo, hi := panels[0].Y, panels[0].Y
	for _, p := range panels {
		if p.Y.Max < lo.Max {
			lo = p.Y
		}
		if p.Y.Max > hi.Max {
			hi = p.Y
		}
	}
	if hi.Scale != Log && hi.Max > 5*lo.Max {
		return []string{d.say("Mind the vertical axes: each panel has its own.", "注意纵轴：各子图刻度不同。")}
	}
	low := lo.Min
	for _, p := range panels {
		low = min(low, p.Y.Min)
	}
	for i := range panels {
		panels[i].Y.Max, panels[i].Y.Min = hi.Max, low
	}
	return nil
}
