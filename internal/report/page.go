package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/results"
)

// page is what the Markdown and the HTML report say, in the order in which they say it.
type page struct {
	Title, Question, Run string
	Headline             []Line
	Table                Table
	Outcomes             Table
	Validity             Table
	Errors               Table // without rows where nothing failed
	Machine, Servers     []fact
	Repeat               []fact
	Method               []fact
	Limits               []string
	Files                []link
	TrialFiles           []trialLinks
}

type fact struct{ Name, Text string }

type link struct{ Path, Doc string }

// trialLinks of one trial; Log is "" where there is none.
type trialLinks struct{ Trial, JSON, Log string }

func newPage(d results.RunData, o Options) page {
	return page{
		Title: d.Run.Scenario, Question: d.Run.Question, Run: d.Run.Run,
		Headline: Headline(d),
		Table:    NewTable(*d.Summary, d.Run.Topologies), Outcomes: outcomes(*d.Summary), Validity: validity(*d.Summary, d.Trials), Errors: failures(*d.Summary, d.Trials),
		Machine: machine(d.Run), Servers: servers(d.Run), Repeat: repeat(d.Run),
		Method: method(d), Limits: limits(d),
		Files: files(d, o.Data), TrialFiles: trialFiles(d, o.Data),
	}
}

// outcomes is the table of counts, without columns that are 0 everywhere.
func outcomes(s results.Summary) Table {
	var total results.Counts
	for _, p := range s.Points {
		total = total.Plus(p.Counts)
	}
	t := Table{Columns: []Column{{Name: "point", Words: true}}}
	shown := map[string]bool{}
	for _, c := range total.Named() {
		if c.Value > 0 || c.Name == "scheduled" || c.Name == "acquired" {
			shown[c.Name] = true
			t.Columns = append(t.Columns, Column{Name: strings.ReplaceAll(c.Name, "_", " ")})
		}
	}
	for _, p := range s.Points {
		row := []Cell{{Text: p.Name}}
		for _, c := range p.Counts.Named() {
			if shown[c.Name] {
				row = append(row, Cell{Text: strconv.FormatInt(c.Value, 10)})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// validity shows, point by point, what decides whether the generator may be believed.
func validity(s results.Summary, trials []results.Trial) Table {
	t := Table{Columns: []Column{{Name: "point", Words: true}, {Name: "valid", Unit: "trials"}, {Name: "schedule p99", Unit: "ms"},
		{Name: "scheduler p99", Unit: "ms"}, {Name: "GC pause p99", Unit: "ms"}, {Name: "pool waits", Unit: "%"},
		{Name: "client CPU", Unit: "cores"}, {Name: "throttled", Unit: "periods"}, {Name: "Redis RTT p99", Unit: "ms"}, {Name: "node errors"}}}
	for _, p := range s.Points {
		t.Rows = append(t.Rows, t.health(p, trials))
	}
	return t
}

func (t *Table) health(p results.Point, trials []results.Trial) []Cell {
	const few = "fewer than 10 samples lie beyond this percentile, or it was not recorded"
	var schedule *float64
	if l := p.Latency["schedule"]; l != nil {
		schedule = l.P99
	}
	rtt, errors := roundTrip(p)
	return []Cell{
		{Text: p.Name, Marks: t.notes(slices.Concat(p.Invalid, p.Warnings))},
		{Text: fmt.Sprintf("%d/%d", p.Valid, p.Trials), Kind: map[bool]string{true: "ok", false: "bad"}[p.Valid == p.Trials]},
		t.number(schedule, three, few),
		t.number(p.Client.SchedulerP99, three, few),
		t.number(p.Client.GCPauseP99, three, few),
		t.number(p.Client.PoolWaitShare, percent, "no command was sent over a pool"),
		t.number(p.Client.CPUUtilisation, three, "client CPU was not read"),
		{Text: strconv.FormatInt(throttled(p, trials), 10)},
		t.number(rtt, three, "no server, or "+few),
		{Text: strconv.FormatInt(errors, 10)},
	}
}

// failures counts by cause what failed at each point, over all its trials: those that do not count have causes too.
func failures(s results.Summary, trials []results.Trial) Table {
	t := Table{Columns: []Column{{Name: "point", Words: true}, {Name: "cause", Words: true}, {Name: "times"}}}
	for _, p := range s.Points {
		times := causes(p.Name, trials)
		for _, cause := range slices.Sorted(maps.Keys(times)) {
			t.Rows = append(t.Rows, []Cell{{Text: p.Name}, {Text: cause}, {Text: strconv.FormatInt(times[cause], 10)}})
		}
	}
	return t
}

// errorsDoc says what the table of failures counts.
const errorsDoc = "Sessions that ended with an error and releases that failed or had to be repeated, by cause, over all trials."

func causes(point string, trials []results.Trial) map[string]int64 {
	times := map[string]int64{}
	for _, t := range trials {
		if t.Point != point {
			continue
		}
		for cause, n := range t.Causes {
			times[cause] += n
		}
	}
	return times
}

// roundTrip is that of the slowest node, and the errors of all.
func roundTrip(p results.Point) (p99 *float64, errors int64) {
	for _, n := range p.Redis.Nodes {
		errors += n.Errors
		if n.RTTP99 != nil && (p99 == nil || *n.RTTP99 > *p99) {
			p99 = n.RTTP99
		}
	}
	return p99, errors
}

func throttled(p results.Point, trials []results.Trial) (periods int64) {
	for _, t := range trials {
		if t.Point == p.Name {
			periods += t.Client.ThrottledPeriods
		}
	}
	return periods
}

func machine(r results.Run) []fact {
	var facts []fact
	for _, k := range slices.Sorted(maps.Keys(r.Environment)) {
		facts = append(facts, fact{strings.ReplaceAll(k, "_", " "), cmp.Or(r.Environment[k], none)})
	}
	return facts
}

func servers(r results.Run) []fact {
	var facts []fact
	for _, t := range r.Topologies {
		text := t.Provider
		if t.Why != "" {
			text += " (" + t.Why + ")"
		}
		for _, part := range []string{list(unique(t.Versions)), config(t.Config), strings.Join(t.Notes, "; ")} {
			if part != "" {
				text += "; " + part
			}
		}
		facts = append(facts, fact{t.Name, text})
	}
	return facts
}

func config(c map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, k+"="+cmp.Or(c[k], `""`))
	}
	return strings.Join(parts, " ")
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// repeat is what it takes to make the run again.
func repeat(r results.Run) []fact {
	facts := []fact{
		{"command", strings.Join(r.Command, " ")},
		{"run", r.Run},
		{"version", strings.TrimSpace(r.Version + " " + r.Commit)},
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"scenario sha256", r.ScenarioSHA},
		{"began, ended", strings.Trim(r.BeganUTC+", "+r.EndedUTC, ", ")},
		{"order of trials", strings.Join(r.Order, "  ")},
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// method explains every number of the page in one sentence.
func method(d results.RunData) []fact {
	load := "Arrivals follow a schedule made before the run and do not wait for earlier sessions (open loop)."
	if closed(*d.Summary) {
		load = "A fixed number of clients take turns (closed loop): a slow lock slows its own load, so compare shares of clients rather than percentiles."
	}
	return []fact{
		{"load", load},
		{"response", "Time from the moment a session was meant to start to the decision, acquired or not in time; what a user feels. Sessions that gave up or timed out count at their limit."},
		{"percentiles", "Taken from exact merges of the trials' histograms (HDR, 3 digits), never averaged, and not shown where fewer than 10 samples lie beyond them."},
		{"acquired", "Share of all scheduled sessions that got the lock; rejected, given up, timed out, failed and dropped ones are the rest."},
		{"attempts", "Attempts of all sessions, successful or not, for each acquisition."},
		{"commands", "Top-level Redis commands for each acquisition, counted where they are sent."},
		{"Redis CPU", "CPU time of the servers' main threads for each acquisition, from the end of warm-up to the end of drain, less what the idle server took."},
		{"granted", "Acquisitions a second of the measured window."},
		{"hand-off", "Time from one holder's release to the next grant of the same lock while somebody was already trying."},
		{"trials", "Every point is measured once in each block, in random order within the block; bars show the median over trials with its 95 % interval from 6 trials on, and the range below."},
		{"verdict", "Every grant and release of each lock is checked for overlap while the load runs, and the keys are looked at after it; the worst of all trials counts."},
		{"state", "Saturated: offered load exceeds capacity, in-flight sessions kept growing or were held down only by a bound. Unsteady: the figures moved during the measurement."},
		{"valid", "A trial is invalid when the generator, its pool or its machine, and not the lock, made the numbers; the cause is named."},
	}
}

func closed(s results.Summary) bool {
	return slices.ContainsFunc(s.Points, func(p results.Point) bool { return !p.OpenLoop })
}

// limits is what the page does not say.
func limits(d results.RunData) []string {
	out := []string{
		"Safe means that no violation was seen in these trials under this load; it is no proof, and no failure was injected unless the scenario says so.",
		"The numbers belong to this machine, these server versions and this client library; ratios between rows of one run travel better than absolute times.",
	}
	if noFigures(*d.Summary) {
		out = append(out, "The server was embedded in the generator's own process: times and throughput say nothing about Redis; counts, attempts and verdicts do.")
	} else if slices.ContainsFunc(d.Run.Topologies, func(t results.RunTopology) bool { return t.Provider == "process" || t.Provider == "container" }) {
		out = append(out, "Generator and servers share one machine and no network lies between them: a real network adds its round trip to every attempt.")
	}
	if n := len(d.Summary.Points); n > 5 {
		out = append(out, fmt.Sprintf("Of %d points some look better than others by chance alone; believe a difference when the trials do not overlap.", n))
	}
	if closed(*d.Summary) {
		out = append(out, "A closed loop flatters locks that let the last holder win again; look at fairness before response.")
	}
	return out
}

// files that stand beside the report, or at data, which is empty or ends with a slash.
func files(d results.RunData, data string) []link {
	out := []link{
		{data + results.RunFile, "command, seed, environment, order of trials"},
		{results.SummaryFile, "every number of this page and more, for machines"},
		{results.GoBenchFile, "Go benchmark lines: benchstat -col /strategy gobench.txt"},
	}
	if d.Scenario != nil {
		out = slices.Insert(out, 1, link{data + results.ScenarioFile, "the scenario as it was run, defaults filled in"})
	}
	return out
}

func trialFiles(d results.RunData, data string) []trialLinks {
	var out []trialLinks
	for _, t := range d.Trials {
		base := trialFile(t)
		l := trialLinks{Trial: fmt.Sprintf("%s, trial %d", t.Point, t.Trial), JSON: data + base + ".json"}
		if slices.Contains(d.Logs, base+".hlog") {
			l.Log = data + base + ".hlog"
		}
		out = append(out, l)
	}
	return out
}
