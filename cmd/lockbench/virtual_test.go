package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/results"
)

const inVirtualTime = `apiVersion: lockbench/v1
name: virtual
question: Is a simulation the same every time?
seed: 42
topology: {provider: virtual}
load: {open: {rate: 150/s, arrivals: poisson}}
keys: {count: 2}
hold: {lognormal: {p50: 4ms, p99: 40ms}}
lock: {ttl: 60ms, acquire_timeout: 500ms}
crash: 0.5%
resource: {kind: counter}
strategies:
  - noop
  - set-px-lua
  - set-px-del
  - watchdog
  - {name: sharded, shards: 2, pick: least-of-2}
  - {name: redlock, on: {shape: independent, nodes: 3}}
  - {name: redlock, as: redlock-at-quorum, mode: at-quorum, on: {shape: independent, nodes: 5}}
retries: [{full-jitter: {base: 2ms, cap: 32ms}}, {fixed: 5ms, max_attempts: 3}]
phases: {warmup: 500ms, measure: 5s}
trials: 2
`

func TestEqualSeedsGiveEqualBytesInVirtualTime(t *testing.T) {
	path := file(t, inVirtualTime)
	var dirs []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "run")
		if r := command(context.Background(), "run", path, "--out", dir, "--ops"); r.status != statusPass || !strings.Contains(r.out, "not measured") {
			t.Fatalf("status %d\n%s\n%s", r.status, r.out, r.err)
		}
		dirs = append(dirs, dir)
	}
	files, err := filepath.Glob(filepath.Join(dirs[0], "trials", "*"))
	if err != nil || len(files) != 3*14*2 {
		t.Fatalf("%d files of trials, want 3 for each of 28", len(files))
	}
	for _, f := range files {
		name := filepath.Base(f)
		if !bytes.Equal(content(t, f), content(t, filepath.Join(dirs[1], "trials", name))) {
			t.Errorf("%s differs between two runs of one seed", name)
		}
	}
	if d := cmp.Diff(points(t, dirs[0]), points(t, dirs[1])); d != "" {
		t.Errorf("points of summary.json differ:\n%s", d)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func points(t *testing.T, dir string) []results.Point {
	t.Helper()
	var s results.Summary
	if err := json.Unmarshal(content(t, filepath.Join(dir, results.SummaryFile)), &s); err != nil {
		t.Fatal(err)
	}
	return s.Points
}

// TestVirtualTimeSeesWhatRealTimeSees: strategies that break, break there too, and those that hold, hold.
func TestVirtualTimeSeesWhatRealTimeSees(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := command(context.Background(), "run", "ttl-too-short", "--provider", "virtual", "--out", dir)
	if r.status != statusPass {
		t.Fatalf("status %d: a verdict differs from what real servers give\n%s", r.status, r.out)
	}
}
