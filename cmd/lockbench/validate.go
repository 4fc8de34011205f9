package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/scenarios"
)

func newValidateCommand(a *app) *cobra.Command {
	var set []string
	var x explanation
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files, and explain what they will do",
		Long: `Check scenario files (paths or built-in names): all mistakes at once, with line and column. Nothing is started.

With --explain the file is printed with every default filled in, and for each point how busy its most popular key will
be at least: rate x share of the key x (mean hold + round trip). At 1 or above nobody can serve it.`,
		Example: "  lockbench validate my.yaml\n  lockbench validate hot-key --explain",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			return a.validate(files, set, x)
		},
	}
	c.Flags().BoolVar(&x.wanted, "explain", false, "print the resolved file, the utilisation of each point and warnings")
	c.Flags().DurationVar(&x.rtt, "rtt", defaultRTT, "round trip to assume for --explain; the default is a server on this machine")
	c.Flags().StringArrayVar(&set, "set", nil, "set a value, as load.open.rate=100/s (repeatable)")
	return c
}

// validate checks all files before it fails.
func (a *app) validate(files, set []string, x explanation) error {
	if x.rtt < 0 || x.rtt > scenarios.MaxDuration {
		return usageError(fmt.Errorf("--rtt %s: a round trip takes from 0s to %s", x.rtt, scenarios.MaxDuration))
	}
	bad := false
	for _, f := range files {
		all, err := read([]string{f}, set)
		if err != nil {
			fmt.Fprintln(a.errOut, err)
			bad = true
			continue
		}
		if x.wanted {
			err = x.write(a.out, all[0])
		} else {
			_, err = fmt.Fprintf(a.out, "%s: ok, %s\n", f, extent(all[0]))
		}
		if err != nil {
			return &statusError{statusFailed, err}
		}
	}
	if bad {
		return &statusError{status: statusUsage}
	}
	return nil
}

// extent says how much a run will do.
func extent(s *scenarios.Scenario) string {
	points, longest := s.Points(), 0.0
	for _, p := range points {
		ph := p.Scenario.Phases
		longest += float64(s.Trials.Count) * float64(ph.Warmup+ph.Measure+ph.Tail)
	}
	return fmt.Sprintf("%s x %s, about %s", plural(len(points), "point"), plural(s.Trials.Count, "trial"), saturated(longest).Round(time.Second))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unknownName is the error of a name that is none of those that exist.
func unknownName(what, name string, known []string) error {
	if c := scenarios.Closest(name, known); c != "" {
		return fmt.Errorf("there is no %s %q; did you mean %q?", what, name, c)
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(known, ", "))
}
