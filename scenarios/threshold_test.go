package scenarios

import (
	"math"
	"strings"
	"testing"
)

func TestThresholdsAreInTheUnitOfTheirMetric(t *testing.T) {
	for text, want := range map[string]Threshold{
		"response.p99 < 400ms":                         {Metric: "response.p99", Op: "<", Value: 400},
		"response.p99<1.5s":                            {Metric: "response.p99", Op: "<", Value: 1500},
		"response.p99.9 <= 500us":                      {Metric: "response.p99.9", Op: "<=", Value: 0.5},
		"redis.cpu_us_per_acquire < 1ms":               {Metric: "redis.cpu_us_per_acquire", Op: "<", Value: 1000},
		"throughput_per_s >= 12k/min":                  {Metric: "throughput_per_s", Op: ">=", Value: 200},
		"acquired.share > 99.9%":                       {Metric: "acquired.share", Op: ">", Value: 0.999},
		"acquired.share > 0.5":                         {Metric: "acquired.share", Op: ">", Value: 0.5},
		"violations == 0":                              {Metric: "violations", Op: "==", Value: 0},
		"attempts.mean != 1.25":                        {Metric: "attempts.mean", Op: "!=", Value: 1.25},
		"set-px-lua/full-jitter: response.p99 < 400ms": {Scope: "set-px-lua/full-jitter", Metric: "response.p99", Op: "<", Value: 400},
		"  set-px-lua : violations  ==  0 ":            {Scope: "set-px-lua", Metric: "violations", Op: "==", Value: 0},
	} {
		got, err := ParseThreshold(text, testVocabulary())
		want.Text = text
		if err != nil || math.Abs(got.Value-want.Value) > 1e-9 {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
		got.Value = want.Value
		if got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestThresholdsThatSayNothing(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "is no threshold",
		"response.p99":             "is no threshold",
		"response.p99 =< 4ms":      "is no threshold",
		"a/b/c: violations == 0":   "is no threshold",
		"response.p98 < 4ms":       `did you mean "response.p99"?`,
		"speed < 4ms":              "lockbench list metrics",
		"response.p99 < 4":         "needs a unit",
		"response.p99 < -4ms":      "is negative",
		"violations == zero":       "is no number",
		"throughput_per_s > 5":     "needs a unit",
		"acquired.share > most":    "is no share",
		strings.Repeat("x", 9000):  "is no threshold",
		"response.p99 < 4ms < 5ms": "is no threshold",
	} {
		if _, err := ParseThreshold(text, testVocabulary()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
}

func TestThresholdHoldsAndApplies(t *testing.T) {
	for op, want := range map[string][3]bool{ // of 1, 2, 3 against 2
		"<": {true, false, false}, "<=": {true, true, false}, ">": {false, false, true}, ">=": {false, true, true},
		"==": {false, true, false}, "!=": {true, false, true},
	} {
		for i, w := range want {
			if got := (Threshold{Op: op, Value: 2}).Holds(float64(i + 1)); got != w {
				t.Errorf("%d %s 2 is %v", i+1, op, got)
			}
		}
	}
	p := Point{Strategy: Strategy{Label: "a"}, Retry: Retry{Label: "x"}}
	for scope, want := range map[string]bool{"": true, "a": true, "a/x": true, "b": false, "a/y": false, "x": false} {
		if got := (Threshold{Scope: scope}).Applies(p); got != want {
			t.Errorf("%q applies to a/x: %v", scope, got)
		}
	}
}
