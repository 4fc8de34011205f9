package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/lockbench/lockbench/internal/bench"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
)

// newProgress shows people how a run goes: a bar on a terminal, a line a trial elsewhere, nothing where none is wanted.
func newProgress(w io.Writer, s *scenarios.Scenario, none bool) bench.Listener {
	trials := len(s.Points()) * s.Trials.Count
	switch {
	case none:
		return silent{}
	case terminal(w):
		return newBar(w, s, trials)
	}
	return &lines{w: w}
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type silent struct{}

func (silent) Topology(results.RunTopology) {}
func (silent) Started(*bench.Trial, int)    {}
func (silent) Moment(bench.Moment)          {}
func (silent) Ended(results.Trial)          {}

// lines is a line for each thing that happened.
type lines struct {
	silent
	w io.Writer
}

func (l *lines) Topology(t results.RunTopology) { fmt.Fprintln(l.w, topologyLine(t)) }

func topologyLine(t results.RunTopology) string {
	line := fmt.Sprintf("topology %s on %s", t.Name, t.Why)
	if len(t.Versions) > 0 && t.Versions[0] != "" {
		line += ": " + t.Versions[0]
	}
	for _, note := range t.Notes {
		line += "\n  note: " + note
	}
	return line
}

func (l *lines) Started(t *bench.Trial, of int) {
	fmt.Fprintf(l.w, "trial %d/%d %s#%d\n", t.Order, of, t.Point.Name, t.Number)
}

func (l *lines) Ended(t results.Trial) {
	if len(t.Invalid) > 0 {
		fmt.Fprintf(l.w, "  invalid: %s\n", strings.Join(t.Invalid, "; "))
	}
}

// bar is one bar over all trials, by their planned time.
type bar struct {
	w     io.Writer
	bar   *progressbar.ProgressBar
	done  time.Duration // planned time of the trials that ended
	now   time.Duration // planned time of the current one
	label string
}

func newBar(w io.Writer, s *scenarios.Scenario, trials int) *bar {
	var total time.Duration
	for _, p := range s.Points() {
		total += planned(p.Scenario) * time.Duration(s.Trials.Count)
	}
	return &bar{w: w, bar: progressbar.NewOptions64(total.Milliseconds(),
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetDescription(fmt.Sprintf("%d trials", trials)),
	)}
}

func planned(s *scenarios.Scenario) time.Duration { return s.Phases.Warmup + s.Phases.Measure }

func (b *bar) Topology(t results.RunTopology) {
	b.bar.Clear()
	fmt.Fprintln(b.w, topologyLine(t))
}

func (b *bar) Started(t *bench.Trial, of int) {
	b.now = planned(t.Point.Scenario)
	b.label = fmt.Sprintf("%d/%d %s", t.Order, of, t.Point.Name)
	b.bar.Describe(b.label)
	b.bar.Set64(b.done.Milliseconds())
}

func (b *bar) Moment(m bench.Moment) {
	words := []string{b.label, fmt.Sprintf("%d/s", m.Second.Acquired)}
	if p := m.Second.P99MS; p != nil {
		words = append(words, fmt.Sprintf("p99 %.3g ms", *p))
	}
	if c := m.Second.RedisCPU; c != nil {
		words = append(words, fmt.Sprintf("redis %.0f %%", *c*100))
	}
	b.bar.Describe(strings.Join(words, "  "))
	b.bar.Set64((b.done + min(m.Elapsed, b.now)).Milliseconds())
}

func (b *bar) Ended(t results.Trial) {
	b.done += b.now
	b.bar.Set64(b.done.Milliseconds())
	if len(t.Invalid) > 0 {
		b.bar.Clear()
		fmt.Fprintf(b.w, "%s#%d invalid: %s\n", t.Point, t.Trial, strings.Join(t.Invalid, "; "))
	}
}
