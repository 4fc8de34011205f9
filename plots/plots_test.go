package plots

import (
	"bytes"
	"encoding/json"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/results"
)

var (
	update   = flag.Bool("update", false, "write the golden files")
	pictures = flag.String("pictures", "", "folder to draw every chart of every made-up run into, to be looked at")
)

// runs that the golden files and the pictures are made of.
var runs = sync.OnceValue(makeRuns)

func makeRuns() map[string]Data {
	three := made{strategies: []string{"set-px-lua", "redlock", "sharded"}, retries: map[string]float64{"full-jitter": 3},
		trials: 3, seconds: 4, perSecond: 400, capacity: 500, rates: []float64{200}}.data()
	three.Run.Thresholds = []results.ThresholdResult{{Threshold: "response.p99 < 400ms"}}

	hot := made{strategies: []string{"set-px-lua", "redlock"}, retries: map[string]float64{"fixed": 10, "full-jitter": 3},
		trials: 6, seconds: 3, perSecond: 150, capacity: 500, rates: []float64{50, 100, 150, 200, 250, 300, 350, 400}}.data()
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

	long := made{strategies: []string{"redlock-five-nodes-wait-all-with-a-slow-node", "sharded-256-stripes-least-of-2", "set-px-lua"},
		retries: map[string]float64{"decorrelated-2ms-64ms-max-attempts-10": 6, "staged-50-100": 60}, cells: []string{"load.bursts.size=100", "load.bursts.size=1000"},
		rates: []float64{120}, trials: 1, seconds: 3, perSecond: 500, capacity: 600}.data()

	zh := hot
	zh.Lang = "zh"
	return map[string]Data{"three": three, "hot": hot, "shootout": shootout, "closed": closed, "matrix": matrix, "long": long, "zh": zh}
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
		if name == "matrix" || name == "shootout" || name == "long" {
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
		for _, c := range charts(d) {
			file := name + "-" + c.Name
			save(t, file+"-light.svg", func(w io.Writer) error { return SVG(w, c, Look{}) })
			save(t, file+"-dark.svg", func(w io.Writer) error { return SVG(w, c, Look{Theme: Dark}) })
			if *pictures != "" {
				save(t, file+"-dark.png", func(w io.Writer) error { return PNG(w, c, Look{Theme: Dark}) })
			} else if !slices.Contains([]string{"closed", "long"}, name) {
				continue // a raster takes a hundred times as long as an SVG, and these two have every kind of panel
			}
			img := save(t, file+"-light.png", func(w io.Writer) error { return PNG(w, c, Look{}) })
			nothingAtTheEdge(t, file, img)
		}
	}
}

// nothingAtTheEdge: what is drawn there is clipped.
func nothingAtTheEdge(t *testing.T, file string, b []byte) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	size, paper := img.Bounds().Max, img.At(0, 0)
	for y := 0; y < size.Y; y += 2 {
		for _, x := range []int{0, 3, size.X - 4, size.X - 1} {
			if img.At(x, y) != paper {
				t.Fatalf("%s: ink at %d,%d of %v: something is clipped", file, x, y, size)
			}
		}
	}
}

func save(t *testing.T, file string, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, file), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestTheSourceNamesServersAndNotTheirAbsence(t *testing.T) {
	none, single := results.RunTopology{Name: "none", Provider: "none"}, results.RunTopology{Name: "single", Provider: "embedded"}
	both := Data{Run: results.Run{Topologies: []results.RunTopology{none, single}}}
	if got := both.source(); got != "embedded single" {
		t.Errorf("source of rows with and without a server: %q", got)
	}
	if got := (Data{Run: results.Run{Topologies: []results.RunTopology{none}}}).source(); got != "none none" {
		t.Errorf("source of rows without a server: %q", got)
	}
}
