package plots

import (
	"slices"

	"github.com/lockbench/lockbench/results"
)

// fairness draws Jain's index and the p99 of owner streaks of closed loops, and the p99 of overtakes of open ones.
// Jain's index is (sum x)^2 / (n sum x^2) over the acquisitions x of n clients: 1 is even, 1/n is one client only.
func fairness(d Data) (Chart, string) {
	c := d.chart("fairness", d.say("Fairness", "公平性"))
	points, notes := d.rowPoints(unfairness)
	if len(points) == 0 {
		return c, d.say("Nobody had to wait for anybody: no fairness figures.", "无人等待：没有公平性数据。")
	}
	for _, m := range d.fairnessMetrics() {
		p := d.rows(points, m.x, m.metric, m.value)
		if len(p.Series) == 0 {
			continue
		}
		if m.metric == "fairness.jain" {
			p.X.Max = 1
		}
		p.Y.Bare = len(c.Panels) > 0
		c.Panels = append(c.Panels, p)
	}
	c.Columns = len(c.Panels)
	c.Notes = slices.Concat(c.Notes, []string{d.rowLegend(c.Panels)}, notes, d.causes(points))
	return c, ""
}

type rowMetric struct {
	metric string
	x      Axis
	value  func(results.Trial) *float64
}

func (d Data) fairnessMetrics() []rowMetric {
	return []rowMetric{
		{"fairness.jain", Axis{Label: d.say("Jain's index, 1 is even", "Jain 指数，1 为均等")}, jain},
		{"fairness.streak_p99", Axis{Label: d.say("grants in a row to one client, p99", "同一客户端连续获得次数 p99")}, streak},
		{"fairness.overtakes_p99", Axis{Label: d.say("sessions that overtook, p99", "被插队次数 p99")}, overtakes},
	}
}

func jain(t results.Trial) *float64      { return t.Fairness.Jain }
func streak(t results.Trial) *float64    { return count99(t.Fairness.Streaks) }
func overtakes(t results.Trial) *float64 { return count99(t.Fairness.Overtakes) }

func unfairness(t results.Trial) *float64 {
	for _, f := range []func(results.Trial) *float64{jain, streak, overtakes} {
		if v := f(t); v != nil {
			return v
		}
	}
	return nil
}

// count99 is the p99 of plain numbers.
func count99(h *results.Histogram) *float64 {
	v, ok := h.Value(0.99)
	if !ok {
		return nil
	}
	return results.Ptr(float64(v))
}
