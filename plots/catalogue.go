package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// Data is what charts are made from: the files of one run.
type Data struct {
	Run     results.Run
	Summary results.Summary
	Trials  []results.Trial
	Lang    string // of titles and labels: "en" (the default) or "zh"
}

// Entry is one chart of the catalogue.
type Entry struct {
	Name, Doc string
	DocZH     string
	// Make returns the chart, or why the data has nothing for it, as a sentence for the report.
	Make func(Data) (c Chart, missing string)
}

// Catalogue lists every chart in the order of a report.
func Catalogue() []Entry {
	return []Entry{
		{Name: "response-percentiles", Make: percentiles,
			Doc:   "How long acquiring takes, from the typical to the worst: further right is rarer, lower is better.",
			DocZH: "获取锁需要多久，从典型到最差：越靠右越罕见，越低越好。"},
		{Name: "response-vs-rate", Make: rate,
			Doc:   "How the response time grows with the offered rate: where a line bends upwards, the lock nears its capacity.",
			DocZH: "响应时间如何随请求速率增长：曲线上扬处，锁接近其容量。"},
		{Name: "offered-vs-achieved", Make: offered,
			Doc:   "Acquisitions completed against sessions offered: a point below the diagonal did not serve all that came.",
			DocZH: "完成的获取与请求的对比：低于对角线的点没有满足全部请求。"},
		{Name: "attempts", Make: attempts,
			Doc:   "How many attempts an acquisition took: bars to the right are load that the retry policy makes.",
			DocZH: "一次获取用了多少次尝试：靠右的柱是重试策略造成的负载。"},
		{Name: "redis-cpu", Make: redisCPU,
			Doc:   "What one acquisition costs the Redis main thread: bar the median over trials, one dot a trial.",
			DocZH: "一次获取消耗的 Redis 主线程 CPU：柱为各次试验的中位数，每个圆点是一次试验。"},
		{Name: "over-time", Make: overTime,
			Doc:   "Response time, Redis CPU and the client's own pauses on one time axis: is the measurement steady, and what moves with what?",
			DocZH: "响应时间、Redis CPU 与客户端停顿在同一时间轴上：测量是否平稳，何者相随？"},
		{Name: "fairness", Make: fairness,
			Doc:   "Who waits for whom: Jain's index and owner streaks of a closed loop, overtaking in an open one.",
			DocZH: "谁在等谁：闭环看 Jain 指数与连续持有，开环看插队。"},
		{Name: "handoff", Make: handoff,
			Doc:   "How long the lock lies idle between a release and the next grant while somebody waits: lower and further left is better.",
			DocZH: "有人等待时，从释放到下一次授予锁闲置多久：越低越靠左越好。"},
	}
}

// say picks the text of the wanted language.
func (d Data) say(en, zh string) string {
	if d.Lang == "zh" {
		return zh
	}
	return en
}

// sayf is say for a format; both languages take the same arguments.
func (d Data) sayf(en, zh string, args ...any) string { return fmt.Sprintf(d.say(en, zh), args...) }

// chart is what all charts of a run have in common.
func (d Data) chart(name, title string) Chart {
	c := Chart{Name: name, Title: title, Source: d.source(), Columns: 1}
	for _, e := range Catalogue() {
		if e.Name == name {
			c.Doc = d.say(e.Doc, e.DocZH)
		}
	}
	if slices.ContainsFunc(d.Summary.Points, func(p results.Point) bool { return p.NoFigures }) {
		c.Stamps = append(c.Stamps, d.say("embedded: not a performance figure", "内嵌服务器：非性能数据"))
	}
	if slices.ContainsFunc(d.Summary.Points, results.Point.Predicted) {
		c.Stamps = append(c.Stamps, d.say("predicted in virtual time, not measured", "虚拟时间预测，非实测"))
	}
	if d.Run.Status == results.Interrupted || d.Run.Status == results.RunFailed {
		c.Stamps = append(c.Stamps, d.say("partial run", "运行未完成"))
	}
	for _, p := range d.Summary.Points {
		if p.Sabotage != "" {
			c.Notes = append(c.Notes, d.sayf("%s is wrong on purpose: %s.", "%s 是故意写错的：%s。", d.short(p), p.Sabotage))
		}
	}
	return c
}

// source says where the numbers come from. Rows that need no server are not named beside the servers of others.
func (d Data) source() string {
	parts := []string{d.Summary.Scenario, d.Summary.Run}
	for _, t := range d.Run.Topologies {
		if t.Provider == "none" && len(d.Run.Topologies) > 1 {
			continue
		}
		parts = append(parts, strings.TrimSpace(t.Provider+" "+t.Name+" "+strings.Join(uniq(t.Versions), ", ")))
	}
	return strings.Join(uniq(slices.DeleteFunc(parts, func(s string) bool { return s == "" })), " · ")
}

// uniq keeps the first of equal strings.
func uniq(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// trials of a point, in order.
func (d Data) trials(p results.Point) []results.Trial {
	var out []results.Trial
	for _, t := range d.Trials {
		if t.Point == p.Name {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b results.Trial) int { return a.Trial - b.Trial })
	return out
}

// counted are the trials that a point's numbers come from: the valid ones, or all where none is, and then every
// mark of the point is hollow and stamped.
func (d Data) counted(p results.Point) []results.Trial {
	return slices.DeleteFunc(d.trials(p), func(t results.Trial) bool { return !t.Valid && valid(p) })
}

// merged is the exact merge of a histogram over the counted trials of a point; nil where there is none.
func (d Data) merged(p results.Point, metric string) *results.Histogram {
	var sum *results.Histogram
	for _, t := range d.counted(p) {
		if h := t.Histograms[metric]; h != nil {
			if sum == nil {
				sum = h.Clone()
			} else {
				sum.Merge(h)
			}
		}
	}
	return sum
}

// valid tells whether the numbers of a point may be quoted.
func valid(p results.Point) bool { return p.Valid > 0 }

// hollow: saturated or invalid.
func hollow(p results.Point) bool { return p.State == results.Saturated || !valid(p) }

// doubt is the stamp of a point, "" where there is none.
func (d Data) doubt(p results.Point) string {
	switch {
	case p.State == results.Saturated:
		return d.say("saturated", "饱和")
	case !valid(p):
		return d.say("invalid", "无效")
	}
	return ""
}

// causes are footnotes: what hollow marks are, and why each of the points is invalid.
func (d Data) causes(points []results.Point) []string {
	var notes []string
	if slices.ContainsFunc(points, hollow) {
		notes = append(notes, d.say("Hollow: saturated or invalid.", "空心：饱和或无效。"))
	}
	for _, p := range points {
		if valid(p) || p.State == results.Saturated {
			continue
		}
		why := strings.Join(uniq(p.Invalid), "; ")
		if why == "" {
			why = d.say("no valid trial", "没有有效试验")
		}
		notes = append(notes, d.sayf("invalid: %s: %s", "无效：%s：%s", d.short(p), why))
	}
	return notes
}

// strategyOf and retryOf are the labels of a point.
func strategyOf(p results.Point) string { return part(p, "strategy", 0) }
func retryOf(p results.Point) string    { return part(p, "retry", 1) }

func part(p results.Point, param string, i int) string {
	if v := p.Params[param]; v != "" {
		return v
	}
	if parts := strings.Split(p.Name, "/"); i < len(parts) {
		return parts[i]
	}
	return ""
}

// cellOf is the place of a point in the matrix: the key=value parts of its name, but for those of skip.
func cellOf(p results.Point, skip ...string) []string {
	parts := strings.Split(p.Name, "/")
	var cell []string
	for _, kv := range parts[min(2, len(parts)):] {
		if k, _, ok := strings.Cut(kv, "="); ok && !slices.Contains(skip, k) {
			cell = append(cell, kv)
		}
	}
	return cell
}

// short is the name of a point with matrix paths cut to their last word.
func (d Data) short(p results.Point) string {
	return strings.Join(append([]string{strategyOf(p) + "/" + retryOf(p)}, shortCell(cellOf(p))...), " ")
}

func shortCell(cell []string) []string {
	var out []string
	for _, kv := range cell {
		k, v, _ := strings.Cut(kv, "=")
		out = append(out, k[strings.LastIndexByte(k, '.')+1:]+"="+v)
	}
	return out
}

// styles of all labels of the run.
func (d Data) styles() styles {
	var strategies, retries []string
	for _, p := range d.Summary.Points {
		strategies = append(strategies, strategyOf(p))
		retries = append(retries, retryOf(p))
	}
	return newStyles(uniq(strategies), uniq(retries))
}
