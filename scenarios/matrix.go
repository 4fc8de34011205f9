package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fixedPaths say what a run is as a whole: they cannot differ between its points.
var fixedPaths = []string{"apiVersion", "name", "question", "seed", "matrix", "exclude", "trials", "thresholds", "faults", "expect", "baseline"}

// axes reads the matrix.
func (r *reader) axes(n *node, path string) []Axis {
	if n.kind == mapping && len(n.pairs) == 0 {
		r.fail(n.at, path, "the map is empty: at least one path is needed")
		return nil
	}
	if n.kind != mapping {
		r.fail(n.at, path, "a map from paths to lists of values is needed here, not %s", n.kind)
		return nil
	}
	var axes []Axis
	for _, p := range n.pairs {
		if why := r.wrongAxis(p.key, axes); why != "" {
			r.fail(p.at, path, "%q cannot vary: %s", p.key, why)
			continue
		}
		before := r.all
		if values := r.axisValues(p, join(path, p.key)); r.all == before {
			axes = append(axes, Axis{Path: p.key, Values: values})
		}
	}
	return axes
}

func (r *reader) wrongAxis(path string, others []Axis) string {
	steps := strings.Split(path, ".")
	switch {
	case path == "exclude":
		return "exclude stands beside matrix, not in it"
	case slices.Contains(steps, "") || len(steps) > MaxDepth:
		return "it is no path, as load.open.rate"
	case slices.Contains(fixedPaths, steps[0]):
		return fmt.Sprintf("%s belongs to the run as a whole", steps[0])
	case (steps[0] == "strategies" || steps[0] == "retries") && (len(steps) < 3 || steps[2] == "name" || steps[2] == "as"):
		return fmt.Sprintf("list the rows of %s instead", steps[0])
	}
	for _, o := range others {
		if strings.HasPrefix(path+".", o.Path+".") || strings.HasPrefix(o.Path+".", path+".") {
			return fmt.Sprintf("%q varies too", o.Path)
		}
	}
	return ""
}

func (r *reader) axisValues(p pair, path string) []string {
	if p.value.kind == list && len(p.value.items) == 0 {
		r.fail(p.value.at, path, "the list is empty: at least one value is needed")
		return nil
	}
	if p.value.kind != list {
		r.fail(p.value.at, path, "a list of values is needed here, not %s", p.value.kind)
		return nil
	}
	var values []string
	for _, x := range p.value.items {
		t, ok := r.scalar(x, path, "a single value")
		if ok && slices.ContainsFunc(values, func(o string) bool { return canonical(o) == canonical(t) }) {
			r.fail(x.at, path, "%q stands here twice", t)
		}
		values = append(values, t)
	}
	return values
}

// canonical is equal for two texts of one value: 1s and 1000ms, 60/min and 1/s.
func canonical(text string) string {
	if v, err := parseRate(text); err == nil {
		return printNumber(v)
	}
	if d, err := parseDuration(text); err == nil {
		return printDuration(d)
	}
	return text
}

// shown is a value as names of points print it: rates without /s, no blanks.
func shown(text string) string {
	from, to, ramp := strings.Cut(text, "->")
	if ramp {
		return shown(strings.TrimSpace(from)) + "->" + shown(strings.TrimSpace(to))
	}
	if v, err := parseRate(text); err == nil {
		return printNumber(v)
	}
	return strings.Join(strings.Fields(text), "")
}

// cell is one combination before it is read.
type cell struct {
	params []Param
	values []*node
}

// product is every combination of the axes; the last axis turns fastest.
func product(axes []Axis, matrix *node) []cell {
	cells := []cell{{}}
	for _, a := range axes {
		values := matrix.get(a.Path).items
		var next []cell
		for _, c := range cells {
			for j, v := range a.Values {
				next = append(next, cell{
					params: append(slices.Clone(c.params), Param{Path: a.Path, Value: shown(v)}),
					values: append(slices.Clone(c.values), values[j]),
				})
			}
		}
		cells = next
	}
	return cells
}

// combinations is how many cells the axes have, at most just above MaxPoints.
func combinations(axes []Axis) int {
	n := 1
	for _, a := range axes {
		n = min(n*max(1, len(a.Values)), MaxPoints+1)
	}
	return n
}

// excludes tells whether one entry of exclude names this point. An entry that could not be read is empty.
func excludes(entry []Param, params []Param, strategy, retry string) bool {
	if len(entry) == 0 {
		return false
	}
	for _, e := range entry {
		switch e.Path {
		case "strategy":
			if e.Value != strategy {
				return false
			}
		case "retry":
			if e.Value != retry {
				return false
			}
		default:
			if !slices.ContainsFunc(params, func(p Param) bool { return p.Path == e.Path && canonical(p.Value) == canonical(shown(e.Value)) }) {
				return false
			}
		}
	}
	return true
}

// excluded tells whether a point is skipped.
func excluded(exclude [][]Param, params []Param, strategy, retry string) bool {
	return slices.ContainsFunc(exclude, func(e []Param) bool { return excludes(e, params, strategy, retry) })
}

// Points are what a run measures: each cell with each strategy and each retry, less what is excluded, in the order of
// the file. With `baseline: a-a` every strategy is there once more, its label ending in "-again".
func (s *Scenario) Points() []Point {
	var points []Point
	taken := map[string]bool{}
	for _, c := range s.Cells {
		for _, row := range c.Scenario.rows() {
			for _, retry := range c.Scenario.Retries {
				if excluded(s.Exclude, c.Params, strings.TrimSuffix(row.Label, again(c.Scenario)), retry.Label) {
					continue
				}
				points = append(points, newPoint(c, row, retry, taken))
			}
		}
	}
	return points
}

// again is the end of the labels of a baseline's rows; where there is none, no label ends so.
func again(s *Scenario) string {
	if s.Baseline == "" {
		return "\x00"
	}
	return "-again"
}

func (s *Scenario) rows() []Strategy {
	rows := slices.Clone(s.Strategies)
	if s.Baseline == "" {
		return rows
	}
	for _, r := range s.Strategies {
		r.Label += again(s)
		rows = append(rows, r)
	}
	return rows
}

func newPoint(c Cell, row Strategy, retry Retry, taken map[string]bool) Point {
	p := Point{Name: label(row.Label, retry.Label), Strategy: row, Retry: retry, Topology: c.Scenario.Topology, Cell: c.Params, Scenario: c.Scenario}
	if row.On != nil {
		p.Topology = *row.On
	}
	for _, x := range c.Params {
		p.Name += "/" + x.Path + "=" + x.Value
	}
	p.Slug = slug(p.Name, taken)
	return p
}

var slugUnfit = regexp.MustCompile(`[^a-z0-9.+=-]+`)

// maxSlug keeps file names short enough for every file system.
const maxSlug = 80

// slug is a file name for a point: parts joined by +; cut with a hash where it is too long or taken.
func slug(name string, taken map[string]bool) string {
	s := slugUnfit.ReplaceAllString(strings.ReplaceAll(strings.ToLower(name), "/", "+"), "-")
	if len(s) > maxSlug || taken[s] {
		sum := sha256.Sum256([]byte(name))
		s = s[:min(len(s), maxSlug-9)] + "-" + hex.EncodeToString(sum[:4])
	}
	taken[s] = true
	return s
}
