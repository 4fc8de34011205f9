package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/plots"
	"github.com/lockbench/lockbench/scenarios"
)

// catalogues are what `list` can show, by name: the rows of its table, and the details of one.
var catalogues = []struct {
	name, doc string
	one       string // what one of them is called
	rows      func(scenarios.Vocabulary) []scenarios.Name
	details   func(out io.Writer, n scenarios.Name)
}{
	{"strategies", "lock algorithms", "strategy", func(v scenarios.Vocabulary) []scenarios.Name { return v.Strategies }, strategyDetails},
	{"retries", "policies that wait for a held lock", "retry policy", func(v scenarios.Vocabulary) []scenarios.Name { return v.Retries }, retryDetails},
	{"topologies", "shapes of servers, and who provides them", "shape or provider", topologyRows, noDetails},
	{"scenarios", "built-in scenarios", "built-in scenario", builtinRows, scenarioDetails},
	{"faults", "what can go wrong on purpose", "fault", func(v scenarios.Vocabulary) []scenarios.Name { return v.Faults }, noDetails},
	{"charts", "pictures of a report", "chart", func(scenarios.Vocabulary) []scenarios.Name { return chartRows() }, noDetails},
	{"metrics", "numbers that thresholds may name", "metric", metricRows, noDetails},
}

func newListCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list strategies|retries|topologies|scenarios|faults|charts|metrics [NAME]",
		Short: "Show what there is, explained",
		Args:  cobra.RangeArgs(1, 2),
		RunE:  func(_ *cobra.Command, args []string) error { return usageError(a.list(args)) },
	}
	for _, k := range catalogues {
		c.ValidArgs = append(c.ValidArgs, cobra.CompletionWithDesc(k.name, k.doc))
	}
	return c
}

func (a *app) list(args []string) error {
	var known []string
	for _, k := range catalogues {
		if k.name != args[0] {
			known = append(known, k.name)
			continue
		}
		rows := k.rows(vocabulary())
		if len(args) == 1 {
			return table(a.out, rows)
		}
		return a.one(k.one, args[1], rows, k.details)
	}
	return unknownName("list of", args[0], known)
}

// table is one line a name; what this version lacks is marked.
func table(out io.Writer, rows []scenarios.Name) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, n := range rows {
		fmt.Fprintf(t, "%s\t%s\n", n.Name, n.Doc+missing(n))
	}
	return t.Flush()
}

func missing(n scenarios.Name) string {
	if n.Missing == "" {
		return ""
	}
	return " (" + n.Missing + ")"
}

func (a *app) one(what, name string, rows []scenarios.Name, details func(io.Writer, scenarios.Name)) error {
	i := slices.IndexFunc(rows, func(n scenarios.Name) bool { return n.Name == name })
	if i < 0 {
		names := make([]string, len(rows))
		for j, n := range rows {
			names[j] = n.Name
		}
		return unknownName(what, name, names)
	}
	fmt.Fprintf(a.out, "%s: %s%s\n", rows[i].Name, rows[i].Doc, missing(rows[i]))
	details(a.out, rows[i])
	return nil
}

func noDetails(io.Writer, scenarios.Name) {}

func strategyDetails(out io.Writer, n scenarios.Name) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "needs\t%s\n", map[string]string{"-": "no server", "single": "one keyspace", "independent": "independent servers",
		"replicated": "a master with replicas"}[n.Needs])
	fmt.Fprintf(t, "excludes\t%s\n", map[string]string{"none": "nobody", "process": "inside one process", "server": "all clients of the servers"}[n.Excludes])
	fmt.Fprintf(t, "has a TTL from its first command\t%s\n", yes(n.Expires))
	fmt.Fprintf(t, "renewed while the work runs\t%s\n", yes(n.Renews))
	fmt.Fprintf(t, "waits by its own means (native)\t%s\n", yes(n.Native))
	t.Flush()
	optionTable(out, n)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func retryDetails(out io.Writer, n scenarios.Name) {
	optionTable(out, n)
	fmt.Fprintln(out, "beside it: max_attempts, within, as")
}

func optionTable(out io.Writer, n scenarios.Name) {
	if len(n.Options) == 0 {
		return
	}
	fmt.Fprintln(out, "options:")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, o := range n.Options {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", o.Name, kindOf(o), o.Doc, defaultOf(o))
	}
	t.Flush()
}

func kindOf(o scenarios.Option) string {
	if o.Kind == "enum" {
		return strings.Join(o.Enum, " | ")
	}
	return o.Kind
}

func defaultOf(o scenarios.Option) string {
	switch {
	case o.Required:
		return "required"
	case o.Default != "":
		return "default " + o.Default
	}
	return ""
}

func topologyRows(v scenarios.Vocabulary) []scenarios.Name {
	var rows []scenarios.Name
	for _, n := range v.Shapes {
		n.Doc = "shape: " + n.Doc
		rows = append(rows, n)
	}
	for _, n := range v.Providers {
		n.Doc = "provider: " + n.Doc
		rows = append(rows, n)
	}
	return rows
}

// builtinRows show the question of each scenario. A built-in file that cannot be read is shown with its mistake.
func builtinRows(v scenarios.Vocabulary) []scenarios.Name {
	var rows []scenarios.Name
	for _, name := range scenarios.Builtin() {
		src, _ := scenarios.Source(name)
		s, err := scenarios.Read(name, src, v, nil)
		if err != nil {
			rows = append(rows, scenarios.Name{Name: name, Missing: err.Error()})
			continue
		}
		rows = append(rows, scenarios.Name{Name: name, Doc: s.Question})
	}
	return rows
}

func scenarioDetails(out io.Writer, n scenarios.Name) {
	src, _ := scenarios.Source(n.Name)
	fmt.Fprintf(out, "\n%s", src)
}

func chartRows() []scenarios.Name {
	var rows []scenarios.Name
	for _, c := range plots.Catalogue() {
		rows = append(rows, scenarios.Name{Name: c.Name, Doc: c.Doc})
	}
	return rows
}

func metricRows(v scenarios.Vocabulary) []scenarios.Name {
	var rows []scenarios.Name
	for _, m := range v.Metrics {
		rows = append(rows, scenarios.Name{Name: m.Name, Doc: fmt.Sprintf("%s (%s)", m.Doc, unitOf(m.Unit))})
	}
	return rows
}

// unitOf tells how a limit is written.
func unitOf(unit string) string {
	return map[string]string{"ms": "a duration", "us": "a duration", "per_s": "a rate, as 200/s", "share": "a share, as 99% or 0.99",
		"count": "a number", "ratio": "a number"}[unit]
}
