package report

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// CSV writes one line a point with every metric, full precision, units in the names of the columns. A missing value
// is an empty cell.
func CSV(w io.Writer, s results.Summary) error {
	c := csv.NewWriter(w)
	params := paramNames(s)
	metrics := results.AllMetrics()
	head := slices.Concat([]string{"point"}, params, []string{"trials", "valid", "state", "verdict", "expected", "sabotage", "no_performance_figure"})
	for _, m := range metrics {
		head = append(head, column(m))
	}
	lines := [][]string{head}
	for _, p := range s.Points {
		lines = append(lines, csvLine(p, params, metrics))
	}
	for _, line := range lines {
		for i := range line {
			line[i] = harmless(line[i])
		}
	}
	return c.WriteAll(lines)
}

func csvLine(p results.Point, params []string, metrics []results.Metric) []string {
	line := []string{p.Name}
	for _, name := range params {
		line = append(line, p.Params[name])
	}
	line = append(line, strconv.Itoa(p.Trials), strconv.Itoa(p.Valid), string(p.State), word(p.Verdict), word(p.Expected),
		p.Sabotage, strconv.FormatBool(p.NoFigures))
	for _, m := range metrics {
		v := ""
		if x := m.Of(p); x != nil {
			v = strconv.FormatFloat(*x, 'f', -1, 64)
		}
		line = append(line, v)
	}
	return line
}

func word(v *results.Verdict) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

// column is a metric's name with its unit, where the name does not say it already.
func column(m results.Metric) string {
	if m.Unit == "ms" && !strings.HasSuffix(m.Name, "_ms") {
		return m.Name + "_ms"
	}
	return m.Name
}

// paramNames are strategy and retry, then the others by name.
func paramNames(s results.Summary) []string {
	all := map[string]bool{}
	for _, p := range s.Points {
		for k := range p.Params {
			all[k] = true
		}
	}
	first := []string{"strategy", "retry"}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(k string) bool { return slices.Contains(first, k) })
	return slices.Concat(first, rest)
}

// harmless keeps a spreadsheet from running a cell as a formula: such text gets an apostrophe before it.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
