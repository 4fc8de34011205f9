package results

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func exampleTrial(order int) Trial {
	response := NewHistogram(DefaultRange)
	for i := range 2000 {
		response.Record(time.Duration(i%97+1) * time.Millisecond)
	}
	return Trial{
		Run: "20261130T201000Z_quickstart_1a2b3c4d", Scenario: "quickstart", Point: "set-px-lua/fixed", Slug: "set-px-lua.fixed",
		Params: map[string]string{"strategy": "set-px-lua", "retry": "fixed", "load.open.rate": "400"},
		Trial:  order, Order: order, Seed: 42, WarmupS: 1, MeasureS: 3, DrainS: 0.1, OpenLoop: true,
		State: Steady, Valid: true, Verdict: Ptr(Safe), Reason: "1203 grants, 800 tries met a held lock",
		Evidence:   []Op{{N: 7, Client: -1, Key: "k", Outcome: Timeout, Release: Stolen, Decided: time.Second}},
		Counts:     Counts{Scheduled: 2000, Acquired: 1990, Timeout: 10},
		Histograms: map[string]*Histogram{"response": response, "rejection": nil},
		Attempts:   AttemptCounts{Counted: true, All: 3000, Histogram: map[int32]int64{1: 1500, 2: 300, 10: 190}},
		RatePerS:   Ptr(400.0), Throughput: 398,
		Redis: Redis{CPUSeconds: Ptr(0.4), WindowSeconds: 3.1, Commands: 4990, Inner: Ptr(int64(1990)), Bytes: 400_000,
			ByCommand: map[string]int64{"SET": 3000, "EVALSHA": 1990}, Nodes: []RedisNode{{Name: "redis-1", Version: "7.4.1"}}},
	}
}

func exampleRun() Run {
	return Run{Run: "20261130T201000Z_quickstart_1a2b3c4d", Scenario: "quickstart", Status: Complete,
		Command: []string{"lockbench", "run", "quickstart"}, Points: []string{"set-px-lua/fixed"},
		Environment: map[string]string{"gomaxprocs": "2", "kernel": "Linux <6.1> & more"}}
}

func writeExample(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "runs", "example")
	f, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.WriteRun(exampleRun()))
	must(f.WriteScenario([]byte("name: quickstart\n")))
	second := exampleTrial(2)
	must(f.WriteBytes(path.Join(TrialsDir, TrialName(second.Order, second.Slug, second.Trial))+".hlog", []byte("log")))
	must(f.WriteTrial(second))
	must(f.WriteTrial(exampleTrial(1)))
	return dir
}

func TestRunIDSortsByTimeAndNamesTheScenario(t *testing.T) {
	at := time.Date(2026, 11, 30, 21, 10, 0, 0, time.FixedZone("CET", 3600))
	if got, want := NewRunID(at, "quickstart", [4]byte{0x1a, 0x2b, 0x3c, 0x4d}), "20261130T201000Z_quickstart_1a2b3c4d"; got != want {
		t.Fatalf("run id %s, want %s", got, want)
	}
}

func TestARunReadsBackAsItWasWritten(t *testing.T) {
	dir := writeExample(t)
	data, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data.Summary != nil {
		t.Error("a run without summary.json has a summary")
	}
	if len(data.Trials) != 2 || data.Trials[0].Order != 1 {
		t.Fatalf("%d trials, first is order %d; want 2 in the order of the run", len(data.Trials), data.Trials[0].Order)
	}
	if d := cmp.Diff([]string{"trials/002-set-px-lua.fixed-t2.hlog"}, data.Logs); d != "" {
		t.Errorf("logs (-want +got):\n%s", d)
	}
	want := exampleTrial(2)
	want.Schema = TrialSchema
	sameBuckets := cmp.Comparer(func(a, b *Histogram) bool { return slices.Equal(a.Bars(), b.Bars()) })
	if d := cmp.Diff(want, data.Trials[1], sameBuckets); d != "" {
		t.Errorf("trial (-want +got):\n%s", d)
	}
	if string(data.Scenario) != "name: quickstart\n" {
		t.Errorf("scenario = %q", data.Scenario)
	}
}

func TestEqualTrialsAreEqualBytes(t *testing.T) {
	a, b := writeExample(t), writeExample(t)
	name := filepath.Join(TrialsDir, TrialName(2, "set-px-lua.fixed", 2)+".json")
	x, errX := os.ReadFile(filepath.Join(a, name))
	y, errY := os.ReadFile(filepath.Join(b, name))
	if errX != nil || errY != nil || !bytes.Equal(x, y) {
		t.Fatalf("two writings of one trial differ (%v, %v)", errX, errY)
	}
	golden(t, "trial.json", x)
}

func TestAFolderWithResultsIsNeverOverwritten(t *testing.T) {
	if _, err := Create(writeExample(t)); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Fatalf("error %v, want one that says it is not empty", err)
	}
}

func TestAFolderThatCannotBeMadeIsSaidBeforeMeasuring(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(file, "run")); err == nil {
		t.Fatal("a folder under a file was made")
	}
}

func TestTheProofOfSpaceLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Fatalf("%s was left behind", entries[0].Name())
	}
}

func TestNamesThatLeaveTheFolderAreRefused(t *testing.T) {
	f, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{"../x", "/etc/x", "charts/../../x", "", "."} {
		if f.WriteBytes(name, nil) == nil {
			t.Errorf("%q was written", name)
		}
	}
}

func TestTheRestOfAnInterruptedWriteIsNotRead(t *testing.T) {
	dir := writeExample(t)
	part := filepath.Join(dir, TrialsDir, ".003-set-px-lua.fixed-t3.json.part")
	if err := os.WriteFile(part, []byte(`{"schema":`), 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := Read(dir)
	if err != nil || len(data.Trials) != 2 {
		t.Fatalf("%d trials, %v; want 2", len(data.Trials), err)
	}
}

func TestWhatIsWrongIsNamedWithItsFile(t *testing.T) {
	trial := filepath.Join(TrialsDir, TrialName(1, "set-px-lua.fixed", 1)+".json")
	replace := func(from, to string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
	}
	for name, c := range map[string]struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		"a later schema":      {trial, replace("trial/v1", "trial/v2"), `"lockbench/trial/v2" is not known`},
		"a later run":         {RunFile, replace("run/v1", "run/v9"), `"lockbench/run/v9" is not known`},
		"an unknown field":    {trial, replace(`"seed"`, `"sead"`), `unknown field "sead"`},
		"an unknown outcome":  {trial, replace(`"outcome": "timeout"`, `"outcome": "won"`), `outcome "won" is not known`},
		"an unknown verdict":  {trial, replace(`"verdict": "safe"`, `"verdict": "fine"`), `verdict "fine" is not known`},
		"an unknown state":    {trial, replace(`"state": "steady"`, `"state": "?"`), `state "?" is not known`},
		"an unknown metric":   {trial, replace(`"response": {`, `"reply": {`), `histogram "reply" is not known`},
		"a negative count":    {trial, replace(`"acquired": 1990`, `"acquired": -1`), "count acquired is -1"},
		"a session too many":  {trial, replace(`"timeout": 10`, `"timeout": 11`), "add up to 2001 sessions, and 2000 were scheduled"},
		"a release too many":  {trial, replace(`"stolen": 0`, `"stolen": 1991`), "1991 releases of 1990 acquired"},
		"another order":       {trial, replace(`"order": 1`, `"order": 5`), "belongs into 005-"},
		"half a file":         {trial, func(b []byte) []byte { return b[:len(b)/2] }, "unexpected end"},
		"more after the end":  {trial, func(b []byte) []byte { return append(b, "{}"...) }, "after top-level value"},
		"a broken histogram":  {trial, replace(`base64": "HIST`, `base64": "!!!!`), "decode histogram"},
		"a count that is off": {trial, replace(`"count": 2000`, `"count": 2001`), "2000 in its buckets"},
		"a huge file":         {ScenarioFile, func([]byte) []byte { return make([]byte, maxScenario+1) }, "larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeExample(t)
			file := filepath.Join(dir, c.file)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, c.change(b), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = Read(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.ToSlash(c.file)) {
				t.Fatalf("error %v\nwant one that names %s and says %s", err, c.file, c.want)
			}
		})
	}
}

func TestALinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	dir := writeExample(t)
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, ScenarioFile)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Skip(err)
	}
	if _, err := Read(dir); err == nil {
		t.Fatal("a link out of the folder was followed")
	}
}

func TestAFolderWithoutRunIsCalledThat(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a run folder") {
		t.Fatalf("error %v, want one that says it is not a run folder", err)
	}
}

// FuzzDecode: whatever the bytes, decoding returns, and what it accepts can be written and read again.
func FuzzDecode(f *testing.F) {
	trial := exampleTrial(1)
	trial.Schema = TrialSchema
	run := exampleRun()
	run.Schema = RunSchema
	summary := Summary{Schema: SummarySchema, Points: []Point{{Name: "a/b", State: Steady, Attempts: &Attempts{}}}}
	for _, v := range []any{trial, run, summary} {
		b, err := encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, b, decodeTrial)
		again(t, b, decodeRun)
		again(t, b, decodeSummary)
	})
}

func again[T any](t *testing.T, b []byte, decode func([]byte) (T, error)) {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		return
	}
	b, err = encode(v)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	if _, err := decode(b); err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, b)
	}
}
