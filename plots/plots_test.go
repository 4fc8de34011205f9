package plots

import (
	"bytes"
	"encoding/json"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/results"
)

var (
	update   = flag.Bool("update", false, "write the golden files")
	pictures = flag.String("pictures", "", "folder to draw every chart of every made-up run into, to be looked at")
)

// runs that the golden files and the pictures are made of.
func runs() map[string]Data {
	three := made{strategies: []string{"set-px-lua", "redlock", "sharded"}, retries: map[string]float64{"full-jitter": 3},
		trials: 3, seconds: 4, perSecond: 400, capacity: 500, rates: []float64{200}}.data()
	three.Run.Thresholds = []results.ThresholdResult{{Threshold: "response.p99 < 400ms"}}

	hot := made{strategies: []string{"set-px-lua", "redlock"}, retries: map[string]float64{"fixed": 10, "full-jitter": 3},
		trials: 6, seconds: 3, perSecond: 400, capacity: 500, rates: []float64{50, 100, 150, 200, 250, 300, 350, 400}}.data()
	hot.Run.Thresholds = []results.ThresholdResult{{Threshold: "response.p99 < 100ms"}, {Threshold: "violations == 0"}}
	doubt(&hot, "set-px-lua/fixed/load.open.rate=200", "schedule p99 31 ms above half of response p50")

	shootout := made{strategies: []string{"set-px-lua"}, retries: map[string]float64{"fixed": 10, "uniform": 8, "linear": 20, "stages": 50,
		"exponential": 15, "full-jitter": 4, "equal-jitter": 6, "decorrelated": 7, "linear-50-500": 100, "staged-50-100": 60, "uniform-50-200": 80},
		trials: 3, seconds: 4, perSecond: 300, capacity: 500, rates: []float64{150}}.data()

	closed := made{strategies: []string{"noop", "local-mutex", "setnx", "set-px-lua", "watchdog", "sharded-4", "sharded-16"},
		retries: map[string]float64{"fixed": 5, "native": 0}, trials: 6, seconds: 5, perSecond: 300, capacity: 400, embedded: true}.data()
	closed.Summary.Points[4].Sabotage = "no-ttl"
	closed.Run.Status = results.Interrupted

	matrix := made{strategies: []string{"set-px-lua", "set-px-del", "set-px-check-del", "watchdog", "redlock", "sharded"},
		retries: map[string]float64{"fixed": 10, "staged-50-100": 60, "full-jitter": 3}, cells: []string{"keys.count=1", "keys.count=20"},
		rates: []float64{100, 200, 300}, trials: 2, seconds: 2, perSecond: 200, capacity: 500}.data()

	zh := hot
	zh.Lang = "zh"
	return map[string]Data{"three": three, "hot": hot, "shootout": shootout, "closed": closed, "matrix": matrix, "zh": zh}
}

// doubt makes every trial of a point invalid.
func doubt(d *Data, name, cause string) {
	for i := range d.Trials {
		if d.Trials[i].Point == name {
			d.Trials[i].Valid, d.Trials[i].Invalid = false, []string{cause}
		}
	}
	for i := range d.Summary.Points {
		if p := &d.Summary.Points[i]; p.Name == name {
			p.Valid, p.Invalid, p.Latency = 0, []string{cause}, nil
		}
	}
}

func TestChartsAreTheGoldenOnes(t *testing.T) {
	for name, d := range runs() {
		if name == "matrix" || name == "shootout" {
			continue // large; TestEveryChartCanBeDrawn covers them
		}
		for _, e := range Catalogue() {
			c, missing := e.Make(d)
			got, err := json.MarshalIndent(map[string]any{"missing": missing, "chart": thin(c)}, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+"-"+e.Name+".json"), append(got, '\n'))
		}
	}
}

// thin keeps every fifth unmarked point, so that golden files stay readable.
func thin(c Chart) Chart {
	for i, p := range c.Panels {
		for k, s := range p.Series {
			var kept []Point
			for n, pt := range s.Points {
				if pt.Mark || len(s.Points) < 40 || n%5 == 0 {
					kept = append(kept, pt)
				}
			}
			c.Panels[i].Series[k].Points = kept
		}
	}
	return c
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestEveryChartCanBeDrawn(t *testing.T) {
	for name, d := range runs() {
		for _, e := range Catalogue() {
			c, missing := e.Make(d)
			if missing != "" {
				continue
			}
			for _, theme := range []Theme{Light, Dark} {
				file := name + "-" + e.Name + "-" + string(theme)
				save(t, file+".svg", func(w io.Writer) error { return SVG(w, c, Look{Theme: theme}) })
				save(t, file+".png", func(w io.Writer) error { return PNG(w, c, Look{Theme: theme}) })
			}
		}
	}
}

func save(t *testing.T, file string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if filepath.Ext(file) == ".png" {
		if _, err := png.DecodeConfig(bytes.NewReader(b.Bytes())); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, file), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
