package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// Table is the main table of a run as data; text, Markdown and HTML are drawn from it.
type Table struct {
	Columns []Column
	Rows    [][]Cell // one a point
	Notes   []string // footnotes; the marks of cells count from 1
}

// Column of a table. Words are aligned left, numbers right.
type Column struct {
	Name, Unit string
	Words      bool
}

// Cell is a text with the numbers of its footnotes.
type Cell struct {
	Text  string
	Marks []int
	Kind  string // for its looks: ok, bad, doubt or ""
}

// columns of the main table: the verdict comes first, for a fast lock that does not lock is worth nothing.
var columns = []Column{
	{Name: "verdict", Words: true},
	{Name: "point", Words: true},
	{Name: "state", Words: true},
	{Name: "valid", Unit: "trials"},
	{Name: "acquired", Unit: "%"},
	{Name: "response p50", Unit: "ms"},
	{Name: "p99", Unit: "ms"},
	{Name: "p99.9", Unit: "ms"},
	{Name: "attempts", Unit: "/acquire"},
	{Name: "commands", Unit: "/acquire"},
	{Name: "Redis CPU", Unit: "µs/acquire"},
	{Name: "granted", Unit: "1/s"},
}

// NewTable makes the main table. Every warning of every trial and every note of a deployment is in its footnotes.
func NewTable(s results.Summary, deployments []results.RunTopology) Table {
	t := Table{Columns: columns}
	for _, p := range s.Points {
		t.Rows = append(t.Rows, t.row(p, noted(p, deployments)))
	}
	return t
}

// noted are the notes of the deployments that a point ran on. A point does not tell deployments of one shape and
// provider apart, so it gets the notes of all of them. What a simulation or an embedded server is stamped with, doubts
// says already.
func noted(p results.Point, deployments []results.RunTopology) []string {
	if p.NoFigures || p.Predicted() {
		return nil
	}
	var notes []string
	for _, d := range deployments {
		if d.Name != p.Params["topology"] || d.Provider != p.Params["provider"] {
			continue
		}
		for _, n := range d.Notes {
			notes = append(notes, "server: "+n)
		}
	}
	return notes
}

func (t *Table) row(p results.Point, deployment []string) []Cell {
	cells := []Cell{
		t.verdict(p),
		{Text: p.Name, Marks: t.notes(slices.Concat(doubts(p), deployment))},
		{Text: string(p.State), Kind: doubtIf(p.State != results.Steady)},
		{Text: fmt.Sprintf("%d/%d", p.Valid, p.Trials), Kind: doubtIf(p.Valid < p.Trials)},
		t.number(p.Shares["acquired"], percent, "nothing was scheduled in the measured window"),
	}
	cells = append(cells, t.response(p)...)
	return append(cells,
		t.number(perAcquire(p), three, attemptsMissing(p)),
		t.number(p.Redis.Commands, three, redisMissing(p)),
		t.number(p.Redis.CPUPerAcquire, three, cpuMissing(p)),
		t.number(p.Throughput, three, "nothing was measured"),
	)
}

func doubtIf(doubt bool) string {
	if doubt {
		return "doubt"
	}
	return ""
}

// judged is the look of a verdict: what was expected is as good as safe.
func judged(p results.Point) string {
	switch {
	case asExpected(p), p.Expected == nil && *p.Verdict == results.Safe:
		return "ok"
	case p.Expected == nil && *p.Verdict == results.NotKnown:
		return "doubt"
	}
	return "bad"
}

func (t *Table) verdict(p results.Point) Cell {
	if p.Verdict == nil {
		return Cell{Text: none, Marks: t.notes([]string{"no verdict: this row promises no exclusion, it is a floor to compare with"})}
	}
	c := Cell{Text: string(*p.Verdict), Kind: judged(p)}
	if len(p.Verdicts) > 1 {
		c.Marks = t.notes([]string{"verdicts over trials: " + verdictCounts(p.Verdicts)})
	}
	switch {
	case p.Expected == nil, asExpected(p) && *p.Verdict == results.Safe:
	case asExpected(p):
		c.Text += ", as expected"
	case *p.Expected == *p.Verdict:
		c.Text += ", but not in every trial"
	default:
		c.Text += ", expected " + string(*p.Expected)
	}
	return c
}

func verdictCounts(counts map[results.Verdict]int) string {
	var parts []string
	for _, v := range results.Verdicts {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	return list(parts)
}

// response percentiles; each one that is missing says why.
func (t *Table) response(p results.Point) []Cell {
	l := p.Latency["response"]
	if l == nil {
		l = &results.Latency{}
	}
	var cells []Cell
	for _, q := range []struct {
		name  string
		value *float64
	}{{"p50", l.P50}, {"p99", l.P99}, {"p99.9", l.P999}} {
		cells = append(cells, t.number(q.value, three, responseMissing(p, l, q.name)))
	}
	return cells
}

const offeredExceedsCapacity = "saturated: offered exceeds capacity; percentiles of response and wait would only tell how long the run was"

func responseMissing(p results.Point, l *results.Latency, percentile string) string {
	switch {
	case p.State == results.Saturated:
		return offeredExceedsCapacity
	case l.Count == 0:
		return "no session was acquired, gave up or timed out: there is no response time"
	case l.Mean == nil:
		return "response times beyond the range of the histogram: no percentile is known"
	}
	return fmt.Sprintf("response %s: fewer than %d of %d samples lie beyond it", percentile, results.MinBeyond, l.Count)
}

func perAcquire(p results.Point) *float64 {
	if p.Attempts == nil {
		return nil
	}
	return p.Attempts.PerAcquire
}

const nothingAcquired = "nothing was acquired: there is nothing to divide by"

func attemptsMissing(p results.Point) string {
	if p.Attempts == nil {
		return "attempts are not counted: this row waits by its own means (native)"
	}
	return nothingAcquired
}

func redisMissing(p results.Point) string {
	if len(p.Redis.Nodes) == 0 {
		return "no server takes part in this row"
	}
	return nothingAcquired
}

func cpuMissing(p results.Point) string {
	switch {
	case len(p.Redis.Nodes) == 0, p.Counts.Acquired == 0:
		return redisMissing(p)
	case p.NoFigures:
		return "no Redis CPU: the embedded server has no process of its own"
	}
	return "no Redis CPU: not every trial could read it from the server"
}

// doubts about a whole point.
func doubts(p results.Point) []string {
	var notes []string
	if p.Sabotage != "" {
		notes = append(notes, "deliberately wrong (sabotage: "+p.Sabotage+")")
	}
	if p.NoFigures {
		notes = append(notes, embedded)
	}
	if p.Predicted() {
		notes = append(notes, predicted)
	}
	if p.State == results.Saturated {
		notes = append(notes, offeredExceedsCapacity)
	}
	if p.State == results.Unsteady {
		notes = append(notes, "unsteady: the numbers moved during the measurement")
	}
	if p.Valid == 0 {
		notes = append(notes, "no trial is valid: the numbers are shown over all of them and must not be quoted")
	}
	for _, cause := range p.Invalid {
		notes = append(notes, "invalid: "+cause)
	}
	return append(notes, p.Warnings...)
}

const embedded = "embedded server: not a performance figure"

func (t *Table) number(v *float64, write func(float64) string, missing string) Cell {
	if v == nil {
		return Cell{Text: none, Marks: t.notes([]string{missing})}
	}
	return Cell{Text: write(*v)}
}

// notes gives texts their numbers; a text that is there already keeps its own.
func (t *Table) notes(texts []string) []int {
	var marks []int
	for _, text := range texts {
		i := slices.Index(t.Notes, text)
		if i < 0 {
			t.Notes = append(t.Notes, text)
			i = len(t.Notes) - 1
		}
		if !slices.Contains(marks, i+1) {
			marks = append(marks, i+1)
		}
	}
	return marks
}

// label is the cell with its marks in brackets, for plain text.
func (c Cell) label() string {
	if len(c.Marks) == 0 {
		return c.Text
	}
	return c.Text + " [" + joined(c.Marks) + "]"
}

func joined(marks []int) string {
	var words []string
	for _, m := range marks {
		words = append(words, strconv.Itoa(m))
	}
	return strings.Join(words, ",")
}
