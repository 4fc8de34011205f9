package results

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

// payload of a histogram: its bytes depend on the compressor of the Go release, so golden files leave them out.
var payload = regexp.MustCompile(`HISTFAAA[A-Za-z0-9+/=]+`)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	got = payload.ReplaceAll(got, []byte("HISTFAAA..."))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// exampleLog is two seconds of two tags, one interval of them empty.
func exampleLog(t *testing.T, start time.Time) ([]byte, []*Histogram) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var log bytes.Buffer
	w, err := NewLogWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Histogram
	for second := range 2 {
		for i, tag := range []string{"set-px-lua|response", "set-px-lua|hold"} {
			h := NewHistogram(DefaultRange)
			for range 500 * (1 - second*i) {
				h.Record(time.Duration(random.ExpFloat64() * float64(20*time.Millisecond)))
			}
			length := time.Second - time.Duration(second)*500*time.Millisecond
			if err := w.Interval(tag, time.Duration(second)*time.Second, length, h); err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
	}
	return log.Bytes(), all
}

var logStart = time.Date(2026, 11, 30, 20, 10, 0, 250e6, time.UTC)

func TestLogIsWrittenAsTheFormatSays(t *testing.T) {
	log, _ := exampleLog(t, logStart)
	golden(t, "two-seconds.hlog.golden", log)
}

func TestLogOfVirtualTimeStartsAtZero(t *testing.T) {
	log, _ := exampleLog(t, time.Time{})
	if !strings.Contains(string(log), "#[StartTime: 0.000 (seconds since epoch), 1970-01-01T00:00:00Z]\n") {
		t.Fatalf("start time of virtual time is not 0:\n%.200s", log)
	}
}

func TestLogIsReadBackByTheGoPortWithEqualCounts(t *testing.T) {
	log, want := exampleLog(t, logStart)
	r := hdr.NewHistogramLogReader(bytes.NewReader(log))
	for i, w := range want {
		got, err := r.NextIntervalHistogram()
		if err != nil || got == nil {
			t.Fatalf("interval %d: %v, %v", i, got, err)
		}
		if !w.h.Equals(got) {
			t.Errorf("interval %d: %d values came back as %d", i, w.Count(), got.TotalCount())
		}
		if start := logStart.UnixMilli() + int64(i/2)*1000; got.StartTimeMs() != start {
			t.Errorf("interval %d starts at %d ms, want %d ms", i, got.StartTimeMs(), start)
		}
	}
	if h, err := r.NextIntervalHistogram(); h != nil || err != nil {
		t.Fatalf("there is one more interval: %v, %v", h, err)
	}
}

// TestLogIsReadBackByTheJavaPortWithEqualCounts needs a Java runtime with its compiler and HdrHistogram's jar, as
// Debian's libhdrhistogram-java installs it.
func TestLogIsReadBackByTheJavaPortWithEqualCounts(t *testing.T) {
	const jar = "/usr/share/java/hdrhistogram.jar"
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(jar); err != nil || missing != nil {
		skipUnlessRequired(t, "java", "no java on PATH or no "+jar)
	}
	for name, start := range map[string]time.Time{"real time": logStart, "virtual time": {}} {
		log, want := exampleLog(t, start)
		file := filepath.Join(t.TempDir(), "example.hlog")
		if err := os.WriteFile(file, log, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), java, "-cp", jar, "testdata/ReadLog.java", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if d := cmp.Diff(javaView(start, want), string(out)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// javaView is what ReadLog.java must print.
func javaView(start time.Time, hs []*Histogram) string {
	var zero int64
	if !start.IsZero() {
		zero = start.UnixMilli()
	}
	var b strings.Builder
	for i, h := range hs {
		tag := []string{"set-px-lua|response", "set-px-lua|hold"}[i%2]
		from := zero + int64(i/2)*1000
		to := from + 1000 - int64(i/2)*500
		fmt.Fprintf(&b, "%s %d %d %d %d", tag, from, to, h.Count(), h.MaxValue())
		for _, bar := range h.Bars() {
			fmt.Fprintf(&b, " %d:%d", bar.To, bar.Count)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func skipUnlessRequired(t *testing.T, what, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("LOCKBENCH_REQUIRE"), ","), what) {
		t.Fatal(why)
	}
	t.Skip(why)
}

func TestLogRefusesATagThatWouldSplitTheLine(t *testing.T) {
	w, err := NewLogWriter(&bytes.Buffer{}, logStart)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"", "a,b", ",", "a,", "a b", "a\n", "\r", "a\tb"} {
		if w.Interval(tag, 0, time.Second, NewHistogram(DefaultRange)) == nil {
			t.Errorf("tag %q is accepted", tag)
		}
	}
	if w.Interval("a|b", -time.Second, time.Second, NewHistogram(DefaultRange)) == nil {
		t.Error("an interval before the start is accepted")
	}
}
