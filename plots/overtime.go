package plots

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/results"
)

// overTime stacks response time, Redis CPU and client pauses on one time axis: two axes in one panel could be
// scaled to prove anything, panels above each other cannot.
func overTime(d Data) (Chart, string) {
	c := d.chart("over-time", d.say("Latency, Redis CPU and client pauses over time", "延迟、Redis CPU 与客户端停顿随时间变化"))
	lines, notes := d.timed()
	if len(lines) == 0 {
		return c, d.say("No trial has a time series.", "没有时间序列。")
	}
	var tracks []track
	for _, l := range lines {
		tracks = append(tracks, d.track(l))
	}
	c.Panels = d.timePanels(tracks)
	c.Notes = slices.Concat(c.Notes, notes, d.trackNotes(tracks), d.causes(pointsOf(lines)))
	return c, ""
}

// timed are the lines shown: those of the last cell of the matrix, at most maxLines.
func (d Data) timed() ([]line, []string) {
	all := slices.DeleteFunc(d.lines(), func(l line) bool {
		return !slices.ContainsFunc(d.trials(l.points[0]), func(t results.Trial) bool { return len(t.Series) > 1 })
	})
	if len(all) == 0 {
		return nil, nil
	}
	cell := all[len(all)-1].cell
	shown := slices.DeleteFunc(slices.Clone(all), func(l line) bool { return l.cell != cell })
	shown = spread(shown, maxLines)
	if len(shown) == len(all) {
		return shown, nil
	}
	note := d.sayf("%d of %d points are shown; trials/*.json hold the series of all.",
		"共 %[2]d 个数据点，显示其中 %[1]d 个；全部序列见 trials/*.json。", len(shown), len(all))
	if cell != "" {
		note = d.sayf("Shown: %s. ", "所示：%s。", cell) + note
	}
	return shown, []string{note}
}

func pointsOf(lines []line) []results.Point {
	var out []results.Point
	for _, l := range lines {
		out = append(out, l.points...)
	}
	return out
}

// track is a line's time series, one step a bucket of seconds; NaN where nothing is known.
type track struct {
	line
	at                      []float64 // middle of the step, seconds
	p99, most, p50, cpu, gc []float64
	from, to                float64 // seconds: where the series begins and ends
	trials                  int
	per                     int // seconds in a step
	shades                  []Shade
}

// maxSteps of a track: more steps than pixels hide peaks in a blot.
const maxSteps = 300

// track joins the trials of a point: the median over trials of each second; of pauses the longest.
func (d Data) track(l line) track {
	trials := slices.DeleteFunc(d.counted(l.points[0]), func(t results.Trial) bool { return len(t.Series) == 0 })
	n := 0
	k := track{line: l, trials: len(trials), from: math.Inf(1), to: math.Inf(-1)}
	for _, t := range trials {
		last := t.Series[len(t.Series)-1]
		n = max(n, len(t.Series))
		k.from, k.to = min(k.from, t.Series[0].AtS), max(k.to, last.AtS+last.LengthS)
	}
	k.per = max(1, (n+maxSteps-1)/maxSteps)
	for i := 0; i < n; i += k.per {
		k.step(trials, i, min(i+k.per, n))
	}
	k.shades = d.shades(trials)
	return k
}

func (k *track) step(trials []results.Trial, from, to int) {
	get := func(join func([]float64) float64, pick func(results.Second) *float64) float64 {
		var perTrial []float64
		for _, t := range trials {
			var v []float64
			for _, s := range t.Series[min(from, len(t.Series)):min(to, len(t.Series))] {
				if x := pick(s); x != nil {
					v = append(v, *x)
				}
			}
			if len(v) > 0 {
				perTrial = append(perTrial, slices.Max(v))
			}
		}
		return join(perTrial)
	}
	for _, t := range trials {
		if to <= len(t.Series) {
			k.at = append(k.at, round((t.Series[from].AtS+t.Series[to-1].AtS+t.Series[to-1].LengthS)/2))
			break
		}
	}
	k.p99 = append(k.p99, get(middle, func(s results.Second) *float64 { return s.P99MS }))
	k.most = append(k.most, get(middle, func(s results.Second) *float64 { return s.MaxMS }))
	k.p50 = append(k.p50, get(middle, func(s results.Second) *float64 { return s.P50MS }))
	k.cpu = append(k.cpu, get(middle, func(s results.Second) *float64 { return s.RedisCPU }))
	k.gc = append(k.gc, get(largest, func(s results.Second) *float64 { return s.GCPauseMS }))
}

func middle(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return median(v)
}

func largest(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return round(slices.Max(v))
}

// shades of the first trial: warm-up, drain and faults.
func (d Data) shades(trials []results.Trial) []Shade {
	if len(trials) == 0 {
		return nil
	}
	var (
		out  []Shade
		t    = trials[0]
		end  = t.Series[len(t.Series)-1].AtS + t.Series[len(t.Series)-1].LengthS
		open = -1
	)
	if first := t.Series[0].AtS; first < 0 {
		out = append(out, Shade{From: round(first), To: 0, Label: d.say("warm-up", "预热")})
	}
	if t.MeasureS > 0 && end > t.MeasureS {
		out = append(out, Shade{From: round(t.MeasureS), To: round(end), Label: d.say("drain", "收尾")})
	}
	for i, s := range t.Series {
		if s.FaultShare > 0 && open < 0 {
			open = i
		}
		if last := i == len(t.Series)-1; open >= 0 && (s.FaultShare == 0 || last) {
			to := s.AtS
			if last && s.FaultShare > 0 {
				to += s.LengthS
			}
			out = append(out, Shade{From: round(t.Series[open].AtS), To: round(to), Label: d.say("fault", "故障")})
			open = -1
		}
	}
	return out
}

func (d Data) timePanels(tracks []track) []Panel {
	tail, name := func(k track) []float64 { return k.p99 }, d.say("p99", "p99")
	if known(tracks, tail) < 0.5 {
		tail, name = func(k track) []float64 { return k.most }, d.say("max", "最大")
	}
	response, client := d.say("response", "响应"), d.say("client GC pause", "客户端 GC 停顿")
	panels := []Panel{d.timePanel(tracks, tail, Line, 170, response+" "+name, "ms")}
	for _, more := range []struct {
		pick        func(track) []float64
		kind        Kind
		height      float64
		label, unit string
	}{
		{func(k track) []float64 { return k.p50 }, Line, 130, response + " p50", "ms"},
		{func(k track) []float64 { return k.cpu }, Line, 130, "Redis CPU", d.say("cores", "核")},
		{func(k track) []float64 { return k.gc }, Dots, 120, client, "ms"},
	} {
		if known(tracks, more.pick) > 0 {
			panels = append(panels, d.timePanel(tracks, more.pick, more.kind, more.height, more.label, more.unit))
		}
	}
	sameX(panels)
	for i := range panels {
		if i > 0 {
			panels[i].Shades = unlabelled(panels[i].Shades)
		}
		panels[i].X.Bare = i < len(panels)-1
		if panels[i].X.Bare {
			panels[i].X.Label, panels[i].X.Unit = "", ""
		}
	}
	return panels
}

// unlabelled shades stand below the panel that names them.
func unlabelled(shades []Shade) []Shade {
	out := slices.Clone(shades)
	for i := range out {
		out[i].Label = ""
	}
	return out
}

// known is the share of steps that have a value.
func known(tracks []track, pick func(track) []float64) float64 {
	n, all := 0, 0
	for _, k := range tracks {
		for _, v := range pick(k) {
			all++
			if !math.IsNaN(v) {
				n++
			}
		}
	}
	return float64(n) / float64(max(all, 1))
}

func (d Data) timePanel(tracks []track, pick func(track) []float64, kind Kind, height float64, label, unit string) Panel {
	p := Panel{Height: height, Shades: tracks[0].shades}
	var ys []float64
	lo, hi := math.Inf(1), math.Inf(-1)
	for n, k := range tracks {
		s := Series{Name: k.name(false), Kind: kind, Style: k.style}
		lo, hi = min(lo, k.from), max(hi, k.to)
		for i, v := range pick(k) {
			if math.IsNaN(v) {
				continue
			}
			every := max(1, len(k.at)/8)
			s.Points = append(s.Points, Point{X: round(k.at[i]), Y: round(v), Mark: kind == Dots || (i+n)%every == 0, Hollow: hollow(k.points[0])})
			ys = append(ys, v)
		}
		p.Series = append(p.Series, s)
	}
	for _, s := range p.Shades {
		lo, hi = min(lo, s.From), max(hi, s.To)
	}
	p.X = Axis{Label: d.say("time since the measured window began", "测量窗口开始后的时间"), Unit: "s", Scale: Linear, Min: round(lo), Max: round(hi)}
	p.Y = fromZero(label, unit, ys...)
	return p
}

func (d Data) trackNotes(tracks []track) []string {
	var notes []string
	most, per := 0, 1
	for _, k := range tracks {
		most, per = max(most, k.trials), max(per, k.per)
	}
	if most > 1 {
		notes = append(notes, d.sayf("Each second: the median of up to %d trials; of pauses the longest.",
			"每秒：至多 %d 次试验的中位数；停顿取最长。", most))
	}
	if per > 1 {
		notes = append(notes, d.sayf("Each step joins %d s and shows their largest value.", "每步合并 %d 秒，取其最大值。", per))
	}
	if known(tracks, func(k track) []float64 { return k.cpu }) == 0 {
		notes = append(notes, d.say("The servers tell no CPU time.", "服务器未报告 CPU 时间。"))
	}
	if known(tracks, func(k track) []float64 { return k.gc }) == 0 {
		notes = append(notes, d.say("No client GC pause was seen.", "未见客户端 GC 停顿。"))
	}
	if known(tracks, func(k track) []float64 { return k.p99 }) < 0.5 {
		notes = append(notes, d.say("Most seconds have too few sessions for a p99, so the largest response is drawn.",
			"多数秒内会话过少，无法给出 p99，故画最大响应。"))
	}
	return notes
}
