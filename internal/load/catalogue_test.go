package load

import (
	"strings"
	"testing"
	"time"
)

type args = map[string]time.Duration

func TestEveryKindOfTheCatalogueCanBeBuilt(t *testing.T) {
	given := map[string]args{
		"constant": {"value": 5 * ms}, "uniform": {"min": 1 * ms, "max": 2 * ms}, "exponential": {"mean": 5 * ms},
		"lognormal": {"p50": 5 * ms, "p99": 80 * ms}, "pareto": {"min": 1 * ms, "p99": 20 * ms},
	}
	for _, e := range Distributions() {
		var parts []Part
		if e.Name == "mixture" {
			parts = []Part{{1, constant(1)}}
		}
		if d, err := NewDist(e.Name, given[e.Name], parts); err != nil || d == nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if e.Doc == "" {
			t.Errorf("%s has no doc", e.Name)
		}
		for _, o := range e.Options {
			if o.Doc == "" || o.Kind == "" || o.Min > o.Max {
				t.Errorf("%s: option %+v", e.Name, o)
			}
		}
	}
}

func TestLognormalTakesMedianOrMean(t *testing.T) {
	byMean, err := NewDist("lognormal", args{"mean": 10 * ms, "p99": 80 * ms}, nil)
	if err != nil || byMean.Mean() != 10*ms {
		t.Errorf("by mean: %v, error %v", byMean, err)
	}
	for _, a := range []args{{"p99": ms}, {"p50": 1, "mean": 2, "p99": 3}} {
		if _, err := NewDist("lognormal", a, nil); err == nil || !strings.Contains(err.Error(), "either p50 or mean") {
			t.Errorf("%v: %v", a, err)
		}
	}
}

func TestParametersThatDoNotFitAreRefused(t *testing.T) {
	check := func(want, kind string, a args, parts []Part) {
		t.Helper()
		if _, err := NewDist(kind, a, parts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %v: %v, want it to say %q", kind, a, err, want)
		}
	}
	check(`no distribution "zeta"`, "zeta", nil, nil)
	check(`no parameter "p50"`, "exponential", args{"mean": ms, "p50": ms}, nil)
	check(`"mean" is missing`, "exponential", nil, nil)
	check(`"max" is missing`, "uniform", args{"min": ms}, nil)
	check("only a mixture has parts", "constant", args{"value": ms}, []Part{{1, constant(1)}})
	check(`no parameter "parts"`, "mixture", args{"parts": ms}, []Part{{1, constant(1)}})
	check("at least one part", "mixture", nil, nil)
}
