package bench

import "testing"

func TestDriftIsToldFromScatter(t *testing.T) {
	for name, c := range map[string]struct {
		first, last []float64
		want        bool
	}{
		"grows":               {[]float64{10, 11, 12}, []float64{20, 25, 30}, true},
		"shrinks":             {[]float64{30, 25, 20}, []float64{12, 11, 10}, true},
		"scatters":            {[]float64{10, 40, 12}, []float64{20, 25, 30}, false},
		"moves a little":      {[]float64{10, 10, 11}, []float64{12, 13, 14}, false},
		"moves by nothing":    {[]float64{0.1, 0.1, 0.1}, []float64{0.3, 0.3, 0.3}, false},
		"has too few seconds": {[]float64{10, 11}, []float64{20, 25}, false},
		"stays":               {[]float64{2000, 2000, 2000}, []float64{2000, 2000, 2000}, false},
	} {
		if got := drifted(c.first, c.last); got != c.want {
			t.Errorf("response that %s: unsteady %v, want %v", name, got, c.want)
		}
	}
}
