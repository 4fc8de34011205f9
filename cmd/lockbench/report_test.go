package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/results"
)

// smallRun writes the folder of a run of two trials and returns it.
func smallRun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "runs", "20261130T201000Z_small_1a2b3c4d")
	f, err := results.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.WriteRun(results.Run{Run: filepath.Base(dir), Scenario: "small", Status: results.Complete, Points: []string{"a/fixed", "b/fixed"}}); err != nil {
		t.Fatal(err)
	}
	for i, label := range []string{"a", "b"} {
		if err := f.WriteTrial(smallTrial(label, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func smallTrial(label string, order int) results.Trial {
	h := results.NewHistogram(results.DefaultRange)
	for i := range 2000 {
		h.Record(time.Duration(i*order) * time.Microsecond)
	}
	return results.Trial{Point: label + "/fixed", Slug: label + ".fixed", Trial: 1, Order: order, MeasureS: 1, State: results.Steady, Valid: true, OpenLoop: true,
		Params: map[string]string{"strategy": label, "retry": "fixed"}, Verdict: results.Ptr(results.Safe), Counts: results.Counts{Scheduled: 2000, Acquired: 2000},
		Histograms: map[string]*results.Histogram{"response": h}, Attempts: results.AttemptCounts{Counted: true, All: 3000, Histogram: map[int32]int64{1: 1500, 3: 500}}}
}

// reportRun runs `lockbench report` and returns its exit status and output.
func reportRun(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	status = lockbench(t.Context(), append([]string{"report"}, args...), &o, &e)
	return status, o.String(), e.String()
}

func TestReportRebuildsInTheRunFolder(t *testing.T) {
	dir := smallRun(t)
	if status, out, errOut := reportRun(t, dir); status != statusPass || strings.TrimSpace(out) != dir {
		t.Fatalf("status %d, out %q, err %q", status, out, errOut)
	}
	for _, name := range []string{"report.html", "report.md", "summary.json", "gobench.txt", "charts/attempts.png"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestReportGoesElsewhereAndLinksBack(t *testing.T) {
	dir, out := smallRun(t), filepath.Join(t.TempDir(), "public")
	if status, _, errOut := reportRun(t, dir, "--out", out, "--format", "md,csv"); status != statusPass {
		t.Fatalf("status %d: %s", status, errOut)
	}
	page, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "[json](")
	link, _, _ := strings.Cut(rest, ")")
	if _, err := os.Stat(filepath.Join(out, link)); !found || err != nil {
		t.Errorf("link to the first trial: %q, %v", link, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "report.md")); err == nil {
		t.Error("the run folder was written to as well")
	}
}

func TestReportOfSeveralRunsTakesOneFolderEach(t *testing.T) {
	a, out := smallRun(t), t.TempDir()
	b := filepath.Join(filepath.Dir(a), "other")
	if err := os.CopyFS(b, os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := reportRun(t, a, b, "--out", out, "--chart", "attempts", "--format", "svg", "--size", "600x400", "--theme", "dark", "--lang", "zh"); status != statusPass {
		t.Fatalf("status %d: %s", status, errOut)
	}
	for _, dir := range []string{a, b} {
		if _, err := os.Stat(filepath.Join(out, filepath.Base(dir), "charts", "attempts.svg")); err != nil {
			t.Error(err)
		}
	}
}

func TestReportRefusesWhatItCannotDo(t *testing.T) {
	dir := smallRun(t)
	broken := smallRun(t)
	if err := os.WriteFile(filepath.Join(broken, "trials", "001-a.fixed-t1.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"at least 1 arg"}},
		{[]string{filepath.Join(dir, "nowhere")}, []string{"nowhere"}},
		{[]string{filepath.Dir(dir)}, []string{"not a run folder", "the last is " + dir}},
		{[]string{broken}, []string{"trials/001-a.fixed-t1.json", "unexpected end"}},
		{[]string{dir, "--format", "pdf,md", "--theme", "pink", "--size", "big", "--chart", "pie", "--lang", "fr"},
			[]string{"--format pdf", "--theme pink", "--size big", "--chart pie", "response-percentiles", "--lang fr"}},
		{[]string{dir, "--size", "100000x100000"}, []string{"--size 100000x100000"}},
		{[]string{dir, "--chart", "response-vs-rate"}, []string{"response-vs-rate"}},
	} {
		status, _, errOut := reportRun(t, c.args...)
		if status != statusUsage {
			t.Errorf("%v: status %d, want %d", c.args, status, statusUsage)
		}
		for _, want := range c.want {
			if !strings.Contains(errOut, want) {
				t.Errorf("%v: %q does not say %q", c.args, errOut, want)
			}
		}
	}
}

func TestReportSaysWhichTrialsAreMissing(t *testing.T) {
	dir := smallRun(t)
	f, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.WriteRun(results.Run{Run: filepath.Base(dir), Scenario: "small", Status: results.Complete,
		Points: []string{"a/fixed", "b/fixed"}, Order: []string{"a/fixed#1", "b/fixed#1", "a/fixed#2"}}); err != nil {
		t.Fatal(err)
	}
	status, _, errOut := reportRun(t, dir)
	if status != statusPass || !strings.Contains(errOut, "2 of 3 trials are there; missing: a/fixed#2") {
		t.Errorf("status %d, err %q", status, errOut)
	}
}
