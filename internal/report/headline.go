package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// Line of the headline.
type Line struct {
	Kind string // ok, bad, doubt, or "" for a plain fact
	Text string
}

func (l Line) mark() string {
	return map[string]string{"ok": "PASS  ", "bad": "FAIL  ", "doubt": "?     "}[l.Kind]
}

// Headline is the verdict on a run: what was measured, whether exclusion held, thresholds and expectations, and which
// point came out ahead where that can be told.
func Headline(d results.RunData) []Line {
	lines := []Line{measured(d)}
	if gap := Gap(d); gap != "" {
		lines = append(lines, Line{"doubt", gap})
	}
	lines = append(lines, safety(*d.Summary)...)
	lines = append(lines, expectations(d.Run)...)
	lines = append(lines, thresholds(d.Run)...)
	return append(lines, ahead(*d.Summary)...)
}

// Gap says which trials that the run has made are not among its files; "" where all are there.
func Gap(d results.RunData) string {
	there := map[string]bool{}
	for _, t := range d.Trials {
		there[fmt.Sprintf("%s#%d", t.Point, t.Trial)] = true
	}
	var missing []string
	for _, name := range d.Run.Order {
		if !there[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	all := len(d.Run.Order)
	return fmt.Sprintf("%d of %s are there; missing: %s. The numbers are those of the rest; thresholds and expectations were judged over all.",
		all-len(missing), plural(all, "trial"), few(missing))
}

// measured says how much of the run there is.
func measured(d results.RunData) Line {
	trials, valid := 0, 0
	for _, p := range d.Summary.Points {
		trials, valid = trials+p.Trials, valid+p.Valid
	}
	text := fmt.Sprintf("%s, %s, %d valid.", plural(len(d.Summary.Points), "point"), plural(trials, "trial"), valid)
	kind := ""
	if valid < trials {
		kind = "doubt"
	}
	switch d.Run.Status {
	case results.Interrupted:
		return Line{"doubt", text + " The run was interrupted: what had been measured until then is shown."}
	case results.RunFailed:
		return Line{"bad", text + " The run failed: " + cmp.Or(d.Run.Error, "no reason was recorded") + "."}
	}
	if valid == 0 && trials > 0 {
		text += " The causes are in the footnotes; no time or cost may be quoted."
	}
	if noFigures(*d.Summary) {
		return Line{"doubt", text + " " + strings.ToUpper(embedded[:1]) + embedded[1:] + "."}
	}
	if slices.ContainsFunc(d.Summary.Points, results.Point.Predicted) {
		text += " " + strings.ToUpper(predicted[:1]) + predicted[1:] + "."
	}
	return Line{kind, text}
}

// predicted stands beside everything that a simulation says.
const predicted = "predicted by a simulation in virtual time, not measured"

func noFigures(s results.Summary) bool {
	return slices.ContainsFunc(s.Points, func(p results.Point) bool { return p.NoFigures })
}

// safety groups points by verdict, worst first.
func safety(s results.Summary) []Line {
	var lines []Line
	for _, v := range results.Verdicts {
		var names []string
		kind := "ok"
		for _, p := range s.Points {
			if p.Verdict == nil || *p.Verdict != v {
				continue
			}
			name := p.Name
			if asExpected(p) && v != results.Safe {
				name += " (as expected)"
			} else if v != results.Safe {
				kind = "bad"
			}
			names = append(names, name)
		}
		if v == results.NotKnown && kind == "bad" {
			kind = "doubt"
		}
		if len(names) > 0 {
			lines = append(lines, Line{kind, capital(string(v)) + ": " + few(names) + "." + meaning[v]})
		}
	}
	return lines
}

// asExpected: the expected verdict came out of every trial.
func asExpected(p results.Point) bool {
	return p.Expected != nil && p.Verdict != nil && *p.Expected == *p.Verdict && len(p.Verdicts) == 1
}

var meaning = map[results.Verdict]string{
	results.Broken:      " Two holders at once, or a lock deleted that was another's; the evidence is in the trial files.",
	results.Deadlock:    " A lock stayed taken that nobody held.",
	results.Unavailable: " Nobody was granted for longer than the timeout, then it recovered.",
	results.NotKnown:    " Too few grants, or no try met a held lock: exclusion was not put to the test.",
	results.Safe:        "",
}

// few keeps a line readable; the table has all.
func few(names []string) string {
	if len(names) > 6 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return list(names)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// expectations that did not come true; those that did are one line.
func expectations(r results.Run) []Line {
	var lines []Line
	passed := 0
	for _, e := range r.Expects {
		if e.Pass {
			passed++
			continue
		}
		lines = append(lines, Line{"bad", fmt.Sprintf("%s was expected to be %s in every trial, and is %s.", e.Point, e.Expected, e.Got)})
	}
	if passed > 0 {
		lines = append(lines, Line{"ok", plural(passed, "expected verdict") + " came true."})
	}
	return lines
}

func thresholds(r results.Run) []Line {
	var lines []Line
	passed := 0
	for _, t := range r.Thresholds {
		switch t.Result {
		case "pass":
			passed++
		case "fail":
			lines = append(lines, Line{"bad", fmt.Sprintf("%s: threshold %s is not met%s.", t.Point, t.Threshold, got(t))})
		default:
			lines = append(lines, Line{"doubt", fmt.Sprintf("%s: threshold %s cannot be judged: the value is unknown.", t.Point, t.Threshold)})
		}
	}
	if passed > 0 {
		lines = append(lines, Line{"ok", plural(passed, "threshold") + " met."})
	}
	return lines
}

// got is the measured value of a threshold in the unit of its metric.
func got(t results.ThresholdResult) string {
	if t.Value == nil {
		return ""
	}
	for _, word := range strings.FieldsFunc(t.Threshold, func(r rune) bool { return strings.ContainsRune(" :<>=!", r) }) {
		if m, ok := results.MetricNamed(word); ok {
			return ": measured " + inUnit(*t.Value, m.Unit)
		}
	}
	return ": measured " + three(*t.Value)
}

// ahead names the point with the best response and the one that costs Redis least, where they can be compared: in one
// cell of the matrix, safe, valid, steady, not sabotaged, on real servers (a lock without any is a floor), and within
// one point of a hundred of the largest share acquired: a row that turns sessions away is not faster for it.
func ahead(s results.Summary) []Line {
	points := contenders(s)
	if len(points) < 2 {
		return nil
	}
	var lines []Line
	for _, m := range []struct{ metric, what string }{
		{"response.p99", "Lowest response p99"},
		{"redis.cpu_us_per_acquire", "Least Redis CPU per acquire"},
	} {
		if l, ok := best(points, m.metric, m.what); ok {
			lines = append(lines, l)
		}
	}
	return lines
}

func contenders(s results.Summary) []results.Point {
	var points []results.Point
	most := 0.0
	for _, p := range s.Points {
		if cell(p) != cell(s.Points[0]) || p.NoFigures {
			return nil
		}
		if contends(p) {
			points = append(points, p)
			most = max(most, *p.Shares["acquired"])
		}
	}
	return slices.DeleteFunc(points, func(p results.Point) bool { return *p.Shares["acquired"] < most-0.01 })
}

func contends(p results.Point) bool {
	return p.Verdict != nil && *p.Verdict == results.Safe && p.Valid > 0 && p.State == results.Steady &&
		p.Sabotage == "" && len(p.Redis.Nodes) > 0 && p.Shares["acquired"] != nil
}

// cell is the place of a point in the matrix: what stands after label and retry in its name.
func cell(p results.Point) string {
	parts := strings.SplitN(p.Name, "/", 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[2]
}

// best says who has the smallest value of a metric, and whose trials overlap with it so that they are not told apart.
func best(points []results.Point, metric, what string) (Line, bool) {
	m, _ := results.MetricNamed(metric)
	var known []results.Point
	for _, p := range points {
		if m.Of(p) != nil && !(metric == "response.p99" && atLimit(p)) {
			known = append(known, p)
		}
	}
	if len(known) < 2 {
		return Line{}, false
	}
	slices.SortStableFunc(known, func(a, b results.Point) int { return cmp.Compare(*m.Of(a), *m.Of(b)) })
	text := fmt.Sprintf("%s: %s, %s", what, known[0].Name, inUnit(*m.Of(known[0]), m.Unit))
	_, top := span(known[0], metric)
	var near []string
	for _, p := range known[1:] {
		if low, _ := span(p, metric); low <= top {
			near = append(near, p.Name)
		}
	}
	if len(near) > 0 {
		text += "; not told apart from " + few(near) + ": their trials overlap"
	} else {
		text += fmt.Sprintf("; next is %s, %s", known[1].Name, inUnit(*m.Of(known[1]), m.Unit))
	}
	return Line{Text: text + "."}, true
}

// atLimit: more than one in a hundred of a point's response times are those of sessions that were not granted, so that
// its p99 is the limit that the scenario gave them and not a time of the lock.
func atLimit(p results.Point) bool {
	ended := p.Counts.Timeout + p.Counts.GaveUp
	return float64(ended) > 0.01*float64(ended+p.Counts.Acquired)
}

// span is the range over trials.
func span(p results.Point, metric string) (lo, hi float64) {
	var values []float64
	for _, v := range p.PerTrial[metric] {
		if v != nil {
			values = append(values, *v)
		}
	}
	if len(values) == 0 {
		m, _ := results.MetricNamed(metric)
		return *m.Of(p), *m.Of(p)
	}
	return slices.Min(values), slices.Max(values)
}

// withSummary makes the summary from the trials, so that a report shows what the files say and nothing else.
func withSummary(d results.RunData) results.RunData {
	s := Summarise(d.Run, d.Trials)
	d.Summary = &s
	return d
}
