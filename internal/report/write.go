package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/plots"
	"github.com/lockbench/lockbench/results"
)

// Formats that Options may name.
var Formats = []string{"html", "md", "svg", "png", "csv"}

// CSVFile is the name of the summary as a table.
const CSVFile = "summary.csv"

// Options of a report. The zero value is what `run` writes: everything but CSV.
type Options struct {
	Formats []string   // of Formats; none: html, md, svg and png, or svg and png where Chart is given
	Chart   string     // only this chart of plots.Catalogue; "": all
	Look    plots.Look // of the files in charts/; the HTML page has both themes
	Lang    string     // of the charts: en or zh
	Data    string     // the way from the report to the run folder, "" or ending with a slash; "": they are one
}

func (o Options) formats() []string {
	switch {
	case len(o.Formats) > 0:
		return o.Formats
	case o.Chart != "":
		return []string{"svg", "png"}
	}
	return []string{"html", "md", "svg", "png"}
}

func (o Options) wants(format string) bool { return slices.Contains(o.formats(), format) }

// Write makes the report of a run from its files alone and puts it into the folder: charts, report.html, report.md,
// summary.json and gobench.txt.
func Write(f *results.Folder, d results.RunData) error { return WriteAs(f, d, Options{}) }

// WriteAs is Write with a choice. Pages bring what they link to: summary.json, gobench.txt and, for Markdown, the SVGs.
func WriteAs(f *results.Folder, d results.RunData, o Options) error {
	d = withSummary(d)
	if o.Data == "" {
		d = beside(f, d)
	}
	charts, err := chartsOf(d, o)
	if err != nil {
		return err
	}
	if err := drawFiles(f, charts, o); err != nil {
		return err
	}
	if o.wants("html") || o.wants("md") {
		if err := writeData(f, d); err != nil {
			return err
		}
	}
	for _, file := range []struct {
		format, name string
		write        func(io.Writer) error
	}{
		{"html", results.HTMLFile, func(w io.Writer) error { return html(w, d, charts, o) }},
		{"md", results.MarkdownFile, func(w io.Writer) error { return markdown(w, d, charts, o) }},
		{"csv", CSVFile, func(w io.Writer) error { return CSV(w, *d.Summary) }},
	} {
		if !o.wants(file.format) {
			continue
		}
		if err := writeFile(f, file.name, file.write); err != nil {
			return err
		}
	}
	return nil
}

// beside finds the files that a page can link to, for who hands over data that was not read from the folder.
func beside(f *results.Folder, d results.RunData) results.RunData {
	d.Logs = nil
	for _, t := range d.Trials {
		if log := trialFile(t) + ".hlog"; f.Has(log) {
			d.Logs = append(d.Logs, log)
		}
	}
	if d.Scenario == nil && f.Has(results.ScenarioFile) {
		d.Scenario = []byte{}
	}
	return d
}

// trialFile is the path of a trial's files in the run folder, without ending.
func trialFile(t results.Trial) string {
	return results.TrialsDir + "/" + results.TrialName(t.Order, t.Slug, t.Trial)
}

func writeFile(f *results.Folder, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.WriteBytes(name, b.Bytes())
}

func writeData(f *results.Folder, d results.RunData) error {
	if err := f.WriteSummary(*d.Summary); err != nil {
		return err
	}
	return writeFile(f, results.GoBenchFile, func(w io.Writer) error { return results.WriteGoBench(w, d.Run, d.Trials) })
}

// made is a chart of the catalogue, or why there is none.
type made struct {
	plots.Entry
	chart   plots.Chart
	missing string
}

// ErrNoChart: the chart that was asked for by name is not known, or the run has no data for it.
var ErrNoChart = errors.New("no such chart")

// chartsOf makes the charts that are asked for. One that is asked for by name and cannot be made is an error.
func chartsOf(d results.RunData, o Options) ([]made, error) {
	data := plots.Data{Run: d.Run, Summary: *d.Summary, Trials: d.Trials, Lang: o.Lang}
	var out []made
	for _, e := range plots.Catalogue() {
		if o.Chart != "" && o.Chart != e.Name {
			continue
		}
		m := made{Entry: e}
		m.chart, m.missing = e.Make(data)
		if o.Chart != "" && m.missing != "" {
			return nil, fmt.Errorf("%w: %s: %s", ErrNoChart, e.Name, m.missing)
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %q is not known; there are %s", ErrNoChart, o.Chart, list(Charts()))
	}
	return out, nil
}

// Charts are the names that Options.Chart may have.
func Charts() []string {
	var names []string
	for _, e := range plots.Catalogue() {
		names = append(names, e.Name)
	}
	return names
}

func chartFile(name, format string) string { return path.Join(results.ChartsDir, name+"."+format) }

// drawFiles draws the files of charts/, as many at a time as there are processors.
func drawFiles(f *results.Folder, charts []made, o Options) error {
	var jobs []func() error
	add := func(m made, format string, draw func(io.Writer, plots.Chart, plots.Look) error) {
		jobs = append(jobs, func() error {
			return writeFile(f, chartFile(m.Name, format), func(w io.Writer) error { return draw(w, m.chart, o.Look) })
		})
	}
	for _, m := range charts {
		if m.missing != "" {
			continue
		}
		if o.wants("png") {
			add(m, "png", plots.PNG)
		}
		if o.wants("svg") || o.wants("md") {
			add(m, "svg", plots.SVG)
		}
	}
	return together(jobs)
}

// together runs jobs in parallel and returns the first error in their order.
func together(jobs []func() error) error {
	errs := make([]error, len(jobs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(len(jobs), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				errs[i] = jobs[i]()
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// alternative is what a reader who cannot see a chart needs: what it is, how it is read and what is in doubt.
func alternative(m made) string {
	parts := append([]string{m.chart.Title + ".", m.chart.Doc}, m.chart.Stamps...)
	return strings.Join(parts, " ")
}
