package plots

import (
	"slices"

	"github.com/lockbench/lockbench/results"
)

// redisCPU draws the main-thread CPU of all servers for one acquisition.
func redisCPU(d Data) (Chart, string) {
	c := d.chart("redis-cpu", d.say("Redis CPU per acquisition", "每次获取的 Redis CPU"))
	points, notes := d.rowPoints(cpuPerAcquire)
	if len(points) == 0 {
		return c, d.say("The servers tell no CPU time.", "服务器未报告 CPU 时间。")
	}
	x := Axis{Label: d.say("main-thread CPU of all servers per acquisition", "每次获取消耗的主线程 CPU（所有服务器）"), Unit: "µs"}
	c.Panels = []Panel{d.rows(points, x, "redis.cpu_us_per_acquire", cpuPerAcquire)}
	c.Notes = slices.Concat(c.Notes, []string{d.rowLegend(c.Panels)}, notes, d.causes(points))
	return c, ""
}

// cpuPerAcquire in microseconds.
func cpuPerAcquire(t results.Trial) *float64 {
	if t.Redis.CPUSeconds == nil || t.Counts.Acquired == 0 {
		return nil
	}
	return results.Ptr(max(0, *t.Redis.CPUSeconds*1e6/float64(t.Counts.Acquired)))
}
