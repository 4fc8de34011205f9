package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/results"
)

// Text writes what `run` prints on stdout: the verdict, the table with aligned columns, and the footnotes.
func Text(w io.Writer, d results.RunData) error {
	d = withSummary(d)
	t := NewTable(*d.Summary, d.Run.Topologies)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s\n\n", d.Run.Scenario, d.Run.Run, d.Run.Question)
	for _, line := range Headline(d) {
		b.WriteString(line.mark() + line.Text + "\n")
	}
	b.WriteString("\n" + t.text())
	for i, note := range t.Notes {
		fmt.Fprintf(&b, "[%d] %s\n", i+1, note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text is the table with its columns as wide as their widest cell.
func (t Table) text() string {
	grid := [][]string{{}, {}}
	for _, c := range t.Columns {
		grid[0], grid[1] = append(grid[0], c.Name), append(grid[1], c.Unit)
	}
	for _, r := range t.Rows {
		var line []string
		for _, c := range r {
			line = append(line, c.label())
		}
		grid = append(grid, line)
	}
	widths := make([]int, len(t.Columns))
	for _, line := range grid {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range grid {
		b.WriteString(strings.TrimRight(t.align(line, widths), " ") + "\n")
	}
	return b.String()
}

func (t Table) align(line []string, widths []int) string {
	var cells []string
	for i, cell := range line {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if t.Columns[i].Words {
			cells = append(cells, cell+space)
		} else {
			cells = append(cells, space+cell)
		}
	}
	return strings.Join(cells, "  ")
}
