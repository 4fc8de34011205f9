package plots

import (
	"fmt"
	"io"
	"testing"
)

// hundred is a run of 100 points x 3 trials: 5 strategies x 2 retries x 10 rates.
func hundred() Data {
	return made{strategies: []string{"set-px-lua", "set-px-del", "watchdog", "redlock", "sharded"},
		retries: map[string]float64{"fixed": 10, "full-jitter": 3}, rates: []float64{50, 75, 100, 125, 150, 175, 200, 225, 250, 275},
		trials: 3, seconds: 10, perSecond: 200, capacity: 500}.data()
}

func BenchmarkHundredPoints(b *testing.B) {
	d := hundred()
	var charts []Chart
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			charts = charts[:0]
			for _, e := range Catalogue() {
				if c, missing := e.Make(d); missing == "" {
					charts = append(charts, c)
				}
			}
		}
	})
	for name, write := range map[string]func(io.Writer, Chart, Look) error{"svg": SVG, "png": PNG} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, c := range charts {
					if err := write(io.Discard, c, Look{}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		for _, c := range charts {
			b.Run(fmt.Sprintf("%s/%s", name, c.Name), func(b *testing.B) {
				for b.Loop() {
					if err := write(io.Discard, c, Look{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
