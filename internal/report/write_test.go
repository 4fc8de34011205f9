package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/plots"
	"github.com/lockbench/lockbench/results"
)

// stored writes the files of a run as `run` does and returns its folder.
func stored(t testing.TB, d results.RunData) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	f, err := results.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	must(t, f.WriteRun(d.Run))
	must(t, f.WriteScenario(d.Scenario))
	for i, trial := range d.Trials {
		if i > 0 { // the first has no log
			name := "trials/" + results.TrialName(trial.Order, trial.Slug, trial.Trial) + ".hlog"
			must(t, f.WriteBytes(name, []byte("#[Histogram log format version 1.3]\n")))
		}
		must(t, f.WriteTrial(trial))
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rebuild reads a folder and writes its report.
func rebuild(t testing.TB, dir string, o Options) {
	t.Helper()
	d, err := results.Read(dir)
	must(t, err)
	f, err := results.Open(dir)
	must(t, err)
	defer f.Close()
	must(t, WriteAs(f, d, o))
}

func content(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return string(b)
}

func TestAReportIsRebuiltFromFilesAlone(t *testing.T) {
	dir := stored(t, example(exampleRows()))
	rebuild(t, dir, Options{})
	for _, name := range []string{"report.html", "report.md", "summary.json", "gobench.txt", "charts/response-percentiles.svg", "charts/response-percentiles.png"} {
		if len(content(t, dir, name)) < 100 {
			t.Errorf("%s is nearly empty", name)
		}
	}
	d, err := results.Read(dir)
	must(t, err)
	if d.Summary == nil || len(d.Summary.Points) != len(exampleRows()) {
		t.Fatal("summary.json does not hold the points")
	}
	first := content(t, dir, "summary.json")
	rebuild(t, dir, Options{Formats: []string{"md"}})
	if content(t, dir, "summary.json") != first {
		t.Error("the same files gave another summary")
	}
}

func TestMarkdownSaysEverythingInItsOrder(t *testing.T) {
	dir := stored(t, example(exampleRows()))
	rebuild(t, dir, Options{Formats: []string{"md"}})
	golden(t, "report.md", []byte(content(t, dir, "report.md")))
}

var (
	pictures = regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)|\]\(([^)]+)\)`)
	hrefs    = regexp.MustCompile(`href="([^"]+)"`)
)

func TestEveryLinkOfAReportLeadsSomewhere(t *testing.T) {
	dir := stored(t, example(exampleRows()))
	rebuild(t, dir, Options{Formats: []string{"html", "md"}})
	var targets []string
	for _, m := range pictures.FindAllStringSubmatch(content(t, dir, "report.md"), -1) {
		targets = append(targets, m[1]+m[2])
	}
	page := content(t, dir, "report.html")
	for _, m := range hrefs.FindAllStringSubmatch(page, -1) {
		if id, ok := strings.CutPrefix(m[1], "#"); ok {
			if n := strings.Count(page, `id="`+id+`"`); n != 1 {
				t.Errorf("%d places have the id %s", n, id)
			}
			continue
		}
		targets = append(targets, m[1])
	}
	if len(targets) < 20 {
		t.Fatalf("only %d links found", len(targets))
	}
	for _, name := range targets {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("link to %s: %v", name, err)
		}
	}
}

func TestHTMLIsOneFileThatAsksForNothing(t *testing.T) {
	dir := stored(t, example(exampleRows()))
	rebuild(t, dir, Options{Formats: []string{"html"}})
	page := content(t, dir, "report.html")
	for _, bad := range []string{"<script", "<link", "@import", "url(", "src=", "<iframe", "javascript:", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %s", bad)
		}
	}
	for _, m := range regexp.MustCompile(`https?://[^"'<\s)]+`).FindAllString(page, -1) {
		if m != "http://www.w3.org/2000/svg" && m != "http://www.w3.org/1999/xlink" {
			t.Errorf("the page names %s", m)
		}
	}
	at := -1
	for _, id := range []string{"verdict", "charts", "table", "validity", "environment", "method", "limits", "data"} {
		next := strings.Index(page, `<h2 id="`+id+`"`)
		if next <= at {
			t.Errorf("section %s is not where it belongs", id)
		}
		at = next
	}
}

func TestTextOfStrangersIsNotMarkup(t *testing.T) {
	d := example(exampleRows()[2:4])
	d.Run.Question = `<script>alert(1)</script> | *bold*`
	d.Trials[0].Warnings = []string{`"><img src=x onerror=alert(1)>`, "[a](javascript:alert(1))"}
	dir := stored(t, d)
	rebuild(t, dir, Options{Formats: []string{"html", "md"}})
	for _, name := range []string{"report.html", "report.md"} {
		page := content(t, dir, name)
		for _, bad := range []string{"<script>", "<img"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s contains %s", name, bad)
			}
		}
	}
	if page := content(t, dir, "report.md"); regexp.MustCompile(`[^\\]\]\(javascript`).MatchString(page) {
		t.Error("report.md has a link that a warning brought")
	}
}

func TestAnInterruptedRunIsReportedAsThat(t *testing.T) {
	d := example(exampleRows()[2:4])
	d.Run.Status = results.Interrupted
	d.Trials = d.Trials[:1]
	d.Trials[0].Partial, d.Trials[0].Warnings = true, []string{"cut short after 2 s of 3 s"}
	dir := stored(t, d)
	rebuild(t, dir, Options{Formats: []string{"md"}})
	if page := content(t, dir, "report.md"); !strings.Contains(page, "interrupted") || !strings.Contains(page, "cut short after 2 s") {
		t.Error("the page does not say that the run was cut short")
	}
}

func TestARunWithoutTrialsStillHasAReport(t *testing.T) {
	d := results.RunData{Run: exampleRun(), Scenario: []byte("x")}
	d.Run.Status, d.Run.Error = results.RunFailed, "connection refused"
	dir := stored(t, d)
	rebuild(t, dir, Options{})
	if page := content(t, dir, "report.html"); !strings.Contains(page, "connection refused") {
		t.Error("the page does not say why the run failed")
	}
}

func TestOnlyWhatIsAskedForIsWritten(t *testing.T) {
	dir := stored(t, example(exampleRows()[2:5]))
	rebuild(t, dir, Options{Chart: "attempts", Formats: []string{"svg"}, Look: plots.Look{Theme: plots.Dark}})
	entries, err := os.ReadDir(filepath.Join(dir, "charts"))
	must(t, err)
	if len(entries) != 1 || entries[0].Name() != "attempts.svg" {
		t.Errorf("charts: %v, want attempts.svg alone", entries)
	}
	if _, err := os.Stat(filepath.Join(dir, "report.html")); err == nil {
		t.Error("report.html was written too")
	}
}

func TestAChartThatDoesNotExistIsRefusedWithThoseThatDo(t *testing.T) {
	dir := stored(t, example(exampleRows()[2:3]))
	d, err := results.Read(dir)
	must(t, err)
	f, err := results.Open(dir)
	must(t, err)
	defer f.Close()
	if err := WriteAs(f, d, Options{Chart: "pie"}); err == nil || !strings.Contains(err.Error(), "response-percentiles") {
		t.Errorf("error %v, want one that lists the charts", err)
	}
}

func TestCSVHasOneLineAPointAndNoFormula(t *testing.T) {
	d := withSummary(example(exampleRows()))
	d.Summary.Points[0].Name = "=HYPERLINK(1)"
	d.Summary.Points[1].Sabotage = "@x"
	var b bytes.Buffer
	must(t, CSV(&b, *d.Summary))
	lines, err := csv.NewReader(&b).ReadAll()
	must(t, err)
	if len(lines) != 1+len(d.Summary.Points) {
		t.Fatalf("%d lines, want %d", len(lines), 1+len(d.Summary.Points))
	}
	for _, line := range lines {
		for _, cell := range line {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Errorf("cell %q would be run", cell)
			}
		}
	}
	if i := slices.Index(lines[0], "response.p99_ms"); i < 0 || lines[3][i] == "" {
		t.Errorf("no response.p99_ms in %v", lines[0])
	}
	if i := slices.Index(lines[0], "redis.cpu_us_per_acquire"); i < 0 || lines[2][i] != "" {
		t.Error("a missing value is not an empty cell")
	}
}

// BenchmarkReportOf100Points must stay under 3 s: reading, summing up, drawing and writing.
func BenchmarkReportOf100Points(b *testing.B) {
	var rows []row
	for _, strategy := range []string{"set-px-lua", "sharded", "watchdog", "redlock"} {
		for _, retry := range []string{"fixed", "full-jitter", "decorrelated", "exponential", "stages"} {
			for rate := 50.0; rate <= 250; rate += 50 {
				r := plainRow
				r.strategy, r.retry, r.rate = strategy, retry, rate
				r.cell = fmt.Sprintf("load.open.rate=%g", rate)
				rows = append(rows, r)
			}
		}
	}
	dir := stored(b, example(rows))
	for b.Loop() {
		rebuild(b, dir, Options{})
	}
}

func TestTrialsThatAreMissingAreSaid(t *testing.T) {
	d := example(exampleRows()[2:4])
	if gap := Gap(d); gap != "" {
		t.Fatalf("a whole run: %q", gap)
	}
	d.Trials = slices.DeleteFunc(d.Trials, func(t results.Trial) bool { return t.Trial == 2 })
	dir := stored(t, d)
	rebuild(t, dir, Options{Formats: []string{"html", "md"}})
	var text bytes.Buffer
	must(t, Text(&text, d))
	for name, page := range map[string]string{"html": content(t, dir, "report.html"), "md": content(t, dir, "report.md"), "text": text.String()} {
		if !strings.Contains(page, "4 of 6 trials are there") {
			t.Errorf("%s does not say what is missing", name)
		}
	}
	if !strings.Contains(text.String(), "set-px-lua/fixed-10ms#2") {
		t.Error("the missing trial is not named")
	}
}

func TestCausesOfErrorsAreOnEveryPage(t *testing.T) {
	d := example(exampleRows()[2:4])
	dir := stored(t, d)
	rebuild(t, dir, Options{Formats: []string{"html", "md"}})
	if strings.Contains(content(t, dir, "report.md"), "### Errors") || strings.Contains(content(t, dir, "report.html"), "<h3>Errors</h3>") {
		t.Error("a run without errors has a table of them")
	}
	d.Trials[0].Causes, d.Trials[3].Causes = map[string]int64{"OOM": 80}, map[string]int64{"OOM": 1}
	d.Trials[3].Point = d.Trials[0].Point
	if got := causes(d.Trials[0].Point, d.Trials); got["OOM"] != 81 {
		t.Errorf("OOM %d times, want 81", got["OOM"])
	}
	dir = stored(t, d)
	rebuild(t, dir, Options{Formats: []string{"html", "md"}})
	if page := content(t, dir, "report.md"); !strings.Contains(page, "| OOM | 81 |") {
		t.Error("report.md has no count of the cause")
	}
	if page := content(t, dir, "report.html"); !strings.Contains(page, "<h3>Errors</h3>") || !strings.Contains(page, "OOM") {
		t.Error("report.html has no count of the cause")
	}
}

func TestNotesOfServersAreFootnotesEverywhere(t *testing.T) {
	const note = "maxmemory-policy allkeys-lru: keys may be evicted"
	d := example(exampleRows()[2:4])
	d.Run.Topologies[0].Notes = []string{note}
	dir := stored(t, d)
	rebuild(t, dir, Options{Formats: []string{"html", "md"}})
	var text bytes.Buffer
	must(t, Text(&text, d))
	for name, page := range map[string]string{"html": content(t, dir, "report.html"), "md": content(t, dir, "report.md"), "text": text.String()} {
		if !strings.Contains(page, "server: "+note) {
			t.Errorf("%s has no footnote of the server's note", name)
		}
	}
}
