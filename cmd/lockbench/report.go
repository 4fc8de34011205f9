package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/plots"
	"github.com/lockbench/lockbench/results"
)

// reportFlags are the flags of report.
type reportFlags struct {
	formats                       []string
	chart, theme, size, lang, out string
}

func newReportCommand(a *app) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Rebuild the report and charts of a run from its files",
		Long: `report reads each RUN, a folder that run has written, and writes charts, report.html and report.md again from the
files alone; nothing is measured. A run that was cut short is reported as far as it came.`,
		Example: `  lockbench report results/runs/20261130T201000Z_quickstart_1a2b3c4d
  lockbench report RUN --format csv --out .
  lockbench report RUN --chart redis-cpu --theme dark --size 1200x600 --out .`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, runs []string) error { return a.report(runs, f) },
	}
	c.Flags().StringSliceVar(&f.formats, "format", nil, "of "+strings.Join(report.Formats, ", ")+" (default html,md,svg,png; with --chart svg,png)")
	c.Flags().StringVar(&f.chart, "chart", "", "only this chart; lockbench list charts names them")
	c.Flags().StringVar(&f.theme, "theme", string(plots.Light), "of the chart files: light or dark; report.html has both")
	c.Flags().StringVar(&f.size, "size", "", "of the chart files in logical pixels, WxH; a PNG has twice as many")
	c.Flags().StringVar(&f.lang, "lang", "en", "of the charts: en or zh")
	c.Flags().StringVar(&f.out, "out", "", "folder to write to, with several runs one folder a run under it (default the run folder)")
	return c
}

// report rebuilds one run after the other. Everything is read before anything is written.
func (a *app) report(dirs []string, f reportFlags) error {
	o, err := f.options()
	if err != nil {
		return usageError(err)
	}
	var runs []results.RunData
	for _, dir := range dirs {
		d, err := results.Read(dir)
		if err != nil {
			return usageError(runHint(dir, err))
		}
		runs = append(runs, d)
	}
	for _, d := range runs {
		if err := a.rebuild(d, f.folder(d, len(runs)), o); err != nil {
			return err
		}
	}
	return nil
}

// runHint adds the runs that are in a folder to the error that it is none itself.
func runHint(dir string, err error) error {
	inside, _ := filepath.Glob(filepath.Join(dir, "*", results.RunFile))
	if len(inside) == 0 {
		return err
	}
	slices.Sort(inside)
	return fmt.Errorf("%w\n  it holds %d of them; the last is %s", err, len(inside), filepath.Dir(inside[len(inside)-1]))
}

// folder that the report of a run goes to.
func (f reportFlags) folder(d results.RunData, runs int) string {
	switch {
	case f.out == "":
		return d.Dir
	case runs > 1:
		return filepath.Join(f.out, filepath.Base(filepath.Clean(d.Dir)))
	}
	return f.out
}

func (a *app) rebuild(d results.RunData, to string, o report.Options) error {
	err := os.MkdirAll(to, 0o755)
	if err == nil {
		o.Data, err = way(to, d.Dir)
	}
	if err != nil {
		return &statusError{statusFailed, fmt.Errorf("report %s: %w", d.Dir, err)}
	}
	f, err := results.Open(to)
	if err != nil {
		return &statusError{statusFailed, err}
	}
	defer f.Close()
	if err := report.WriteAs(f, d, o); err != nil {
		return reportError(d, err)
	}
	if gap := report.Gap(d); gap != "" {
		fmt.Fprintf(a.errOut, "lockbench: %s: %s\n", d.Dir, gap)
	}
	_, err = fmt.Fprintln(a.out, to)
	return err
}

// reportError tells a chart that the run has no data for, which is the user's choice, from a write that failed.
func reportError(d results.RunData, err error) error {
	err = fmt.Errorf("report %s: %w", d.Dir, err)
	if errors.Is(err, report.ErrNoChart) {
		return usageError(err)
	}
	return &statusError{statusFailed, err}
}

// way is the relative address of the run folder as seen from the report, for its links.
func way(from, to string) (string, error) {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	rel, err := filepath.Rel(a, b)
	if err := errors.Join(errA, errB, err); err != nil || rel == "." {
		return "", err
	}
	return filepath.ToSlash(rel) + "/", nil
}

// options checks all flags and says everything that is wrong at once.
func (f reportFlags) options() (report.Options, error) {
	o := report.Options{Formats: f.formats, Chart: f.chart, Lang: f.lang}
	var errs []error
	for _, format := range f.formats {
		if !slices.Contains(report.Formats, format) {
			errs = append(errs, fmt.Errorf("--format %s: there are %s", format, strings.Join(report.Formats, ", ")))
		}
	}
	known := slices.ContainsFunc(plots.Catalogue(), func(e plots.Entry) bool { return e.Name == f.chart })
	if f.chart != "" && !known {
		errs = append(errs, fmt.Errorf("--chart %s: there are %s", f.chart, strings.Join(report.Charts(), ", ")))
	}
	o.Look.Theme = plots.Theme(f.theme)
	if o.Look.Theme != plots.Light && o.Look.Theme != plots.Dark {
		errs = append(errs, fmt.Errorf("--theme %s: there are light and dark", f.theme))
	}
	if f.lang != "en" && f.lang != "zh" {
		errs = append(errs, fmt.Errorf("--lang %s: there are en and zh", f.lang))
	}
	var err error
	if o.Look.Size, err = chartSize(f.size); err != nil {
		errs = append(errs, err)
	}
	return o, errors.Join(errs...)
}

// Bounds of --size in logical pixels: below, nothing can be read; above, a PNG takes more memory than it is worth.
const (
	leastWidth, leastHeight = 320, 200
	mostPixels              = 4000 // a side
)

// chartSize reads WxH; "" is the default of each chart.
func chartSize(s string) (plots.Size, error) {
	if s == "" {
		return plots.Size{}, nil
	}
	w, h, _ := strings.Cut(s, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if errW != nil || errH != nil || width < leastWidth || height < leastHeight || width > mostPixels || height > mostPixels {
		return plots.Size{}, fmt.Errorf("--size %s: want WxH from %dx%d to %dx%d, as 1200x600", s, leastWidth, leastHeight, mostPixels, mostPixels)
	}
	return plots.Size{Width: width, Height: height}, nil
}
