package results

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// WriteGoBench writes one Go benchmark line a trial, for benchstat: `benchstat -col /strategy gobench.txt`. N is the
// number of acquisitions. What a trial does not know is left out of its line, above all the response time of a
// saturated one. An invalid trial has a comment in place of its line. Figures of embedded servers carry the
// configuration key `figures`.
// Format: https://go.dev/design/14313-benchmark-format
func WriteGoBench(w io.Writer, run Run, trials []Trial) error {
	var b strings.Builder
	// The run's name is a comment: as configuration it would keep benchstat from comparing two runs.
	fmt.Fprintf(&b, "# %s: one line a trial; ns/op is the mean response time of an acquisition\nscenario: %s\n",
		oneLine(run.Run), oneWord(run.Scenario))
	figures := ""
	for _, t := range trials {
		if f := figuresOf(t); f != figures {
			figures = f
			fmt.Fprintf(&b, "figures: %s\n", figures)
		}
		b.WriteString(benchLine(t, procs(run)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func figuresOf(t Trial) string {
	if t.NoFigures {
		return "embedded-not-a-performance-figure"
	}
	return "measured"
}

func benchLine(t Trial, procs string) string {
	if !t.Valid {
		return fmt.Sprintf("# %s trial %d is left out: invalid: %s\n", t.Point, t.Trial, oneLine(strings.Join(t.Invalid, "; ")))
	}
	values := benchValues(t)
	if len(values) == 0 || t.Counts.Acquired == 0 {
		return fmt.Sprintf("# %s trial %d is left out: nothing was acquired\n", t.Point, t.Trial)
	}
	return fmt.Sprintf("%s-%s %d %s\n", benchName(t.Params), procs, t.Counts.Acquired, strings.Join(values, " "))
}

// benchName has strategy and retry first, then the other parameters in order of their names.
func benchName(params map[string]string) string {
	keys := slices.Sorted(maps.Keys(params))
	first := []string{"strategy", "retry"}
	rest := slices.DeleteFunc(keys, func(k string) bool { return slices.Contains(first, k) })
	name := "BenchmarkAcquire"
	for _, k := range slices.Concat(first, rest) {
		if v := params[k]; v != "" {
			name += "/" + oneWord(k) + "=" + oneWord(v)
		}
	}
	return name
}

func benchValues(t Trial) []string {
	var out []string
	add := func(v *float64, unit string) {
		if v != nil {
			out = append(out, strconv.FormatFloat(*v, 'g', 6, 64)+" "+unit)
		}
	}
	if response := t.Histograms["response"]; t.State != Saturated {
		add(times(response.Mean(), 1e6), "ns/op")
		add(times(response.Quantile(0.5), 1e6), "p50-ns")
		add(times(response.Quantile(0.99), 1e6), "p99-ns")
		add(times(response.Quantile(0.999), 1e6), "p99.9-ns")
	}
	acquired := float64(t.Counts.Acquired)
	if acquired == 0 {
		return nil
	}
	if t.Attempts.Counted {
		add(Ptr(float64(t.Attempts.All)/acquired), "attempts/op")
	}
	add(times(t.Redis.CPUSeconds, 1e9/acquired), "redis-cpu-ns/op")
	if len(t.Redis.Nodes) > 0 {
		add(Ptr(float64(t.Redis.Commands)/acquired), "commands/op")
	}
	add(Ptr(t.Throughput), "acquired/s")
	return out
}

func times(v *float64, by float64) *float64 {
	if v == nil {
		return nil
	}
	return Ptr(*v * by)
}

// procs is the suffix -N of a benchmark's name. It always stands there: without it the -5 of redlock-5 would be taken
// for it.
func procs(r Run) string {
	if n, err := strconv.Atoi(r.Environment["gomaxprocs"]); err == nil && n > 0 {
		return strconv.Itoa(n)
	}
	return "1"
}

// oneWord takes what separates names and fields out of a name.
func oneWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
