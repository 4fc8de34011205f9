package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

const thresholdPattern = `^\s*(?:([a-z0-9][a-z0-9.-]*(?:/[a-z0-9][a-z0-9.-]*)?)\s*:\s*)?([a-z0-9_.-]+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$`

var thresholdText = regexp.MustCompile(thresholdPattern)

// ParseThreshold reads `[label[/retry] ":"] metric op number[unit]`, as "set-px-lua: response.p99 < 400ms". The same
// reader serves thresholds of a file and --slo. Value is in the metric's own unit.
func ParseThreshold(text string, v Vocabulary) (Threshold, error) {
	m := thresholdText.FindStringSubmatch(text)
	if len(text) > maxText || m == nil {
		return Threshold{}, fmt.Errorf("%.80q is no threshold, as \"response.p99 < 400ms\" or \"label/retry: violations == 0\"", text)
	}
	i := slices.IndexFunc(v.Metrics, func(x Metric) bool { return x.Name == m[2] })
	if i < 0 {
		return Threshold{}, unknownMetric(m[2], v)
	}
	value, err := v.Metrics[i].parse(m[4])
	if err != nil {
		return Threshold{}, fmt.Errorf("%s: %w", m[2], err)
	}
	return Threshold{Text: text, Scope: m[1], Metric: m[2], Op: m[3], Value: value}, nil
}

func unknownMetric(name string, v Vocabulary) error {
	names := make([]string, len(v.Metrics))
	for i, m := range v.Metrics {
		names[i] = m.Name
	}
	if c := Closest(name, names); c != "" {
		return fmt.Errorf("the metric %q does not exist (did you mean %q?)", name, c)
	}
	return fmt.Errorf("the metric %q does not exist; `lockbench list metrics` shows all", name)
}

// parse reads a limit of the metric, in its unit.
func (m Metric) parse(text string) (float64, error) {
	switch m.Unit {
	case "ms", "us":
		d, err := parseDuration(text)
		return float64(d) / float64(map[string]time.Duration{"ms": time.Millisecond, "us": time.Microsecond}[m.Unit]), err
	case "per_s":
		return parseRate(text)
	case "share", "ratio":
		return parseRatio(text)
	}
	return parseNumber(text)
}

// Applies tells whether t is about p: all points, those of a label, or those of label/retry.
func (t Threshold) Applies(p Point) bool {
	return t.Scope == "" || t.Scope == p.Strategy.Label || t.Scope == label(p.Strategy.Label, p.Retry.Label)
}

// Holds compares a value in the metric's unit.
func (t Threshold) Holds(value float64) bool {
	switch t.Op {
	case "<":
		return value < t.Value
	case "<=":
		return value <= t.Value
	case ">":
		return value > t.Value
	case ">=":
		return value >= t.Value
	case "!=":
		return value != t.Value
	}
	return value == t.Value
}

// knownScope tells whether a scope or an expect names one of the rows.
func (s *Scenario) knownScope(scope string) bool {
	strategy, retry, refined := strings.Cut(scope, "/")
	return slices.ContainsFunc(s.Strategies, func(x Strategy) bool { return x.Label == strategy }) &&
		(!refined || slices.ContainsFunc(s.Retries, func(x Retry) bool { return x.Label == retry }))
}

// scopes are all that a threshold or an expect can name.
func (s *Scenario) scopes() []string {
	var out []string
	for _, x := range s.Strategies {
		out = append(out, x.Label)
		for _, y := range s.Retries {
			out = append(out, label(x.Label, y.Label))
		}
	}
	return out
}
