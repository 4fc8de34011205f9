package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/bench"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/topologies"
)

// runsFolder is where runs go unless --out says otherwise.
const runsFolder = "results/runs"

// runFlags are the flags of run.
type runFlags struct {
	provider, address, out, trials, seed, lang string
	set                                        []string
	ops, json, yes, noProgress                 bool
}

func newRunCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE...",
		Short: "Measure scenarios: a table on stdout, files and a report in the run folder",
		Long: `run measures each FILE, a path or the name of a built-in scenario, and writes a run folder with the table, charts,
report and raw data. Everything that it starts it stops again, also on Ctrl-C; what was measured by then is kept.

Exit status: 0 pass, 1 the target failed, 2 bad usage or file, 3 this machine cannot do it, 4 a threshold failed or a
verdict differs from what was expected, 6 the measurement is invalid or a threshold unknown, 130 interrupted.`,
		Example: `  lockbench run quickstart
  lockbench run retry-storm --set load.closed.clients=100 --trials 5
  lockbench run my.yaml --address redis.example.net:6379 --yes`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			if c.Flags().Changed("address") && f.address == "" {
				return usageError(errors.New("--address is empty: name the servers, or leave it out to measure local ones"))
			}
			return a.run(c.Context(), files, f)
		},
	}
	c.Flags().StringVar(&f.provider, "provider", "", "auto, container, process, embedded or external, instead of the file's topology.provider")
	c.Flags().StringVar(&f.address, "address", "", "measure these servers, host:port[,host:port...]; the file may name user and password")
	c.Flags().StringVar(&f.out, "out", "", "run folder; with several files a folder with one run folder a scenario (default "+runsFolder+"/<run id>)")
	c.Flags().StringVar(&f.trials, "trials", "", "trials a point, instead of the file's")
	c.Flags().StringVar(&f.seed, "seed", "", "seed, instead of the file's")
	c.Flags().StringArrayVar(&f.set, "set", nil, "set one value of the file, as load.open.rate=200/s; may be repeated")
	c.Flags().BoolVar(&f.ops, "ops", false, "keep every session as a line of trials/*.ops.jsonl")
	c.Flags().BoolVar(&f.json, "json", false, "print summary.json instead of the table")
	c.Flags().BoolVar(&f.yes, "yes", false, "measure a server that is not on this machine although it holds keys")
	c.Flags().StringVar(&f.lang, "lang", "en", "of the charts: en or zh")
	c.Flags().BoolVar(&f.noProgress, "no-progress", false, "no progress on stderr")
	return c
}

// sets turns the flags that change the scenario into values of its keys, so that they are checked like the file's.
func (f runFlags) sets() []string {
	set := slices.Clone(f.set)
	if f.provider != "" {
		set = append(set, "topology.provider="+f.provider)
	}
	if f.address != "" {
		if f.provider == "" {
			set = append(set, "topology.provider="+topologies.External)
		}
		set = append(set, "topology.addresses=["+strings.ReplaceAll(f.address, ",", ", ")+"]")
	}
	if f.trials != "" {
		set = append(set, "trials="+f.trials)
	}
	if f.seed != "" {
		set = append(set, "seed="+f.seed)
	}
	return set
}

func (a *app) run(ctx context.Context, files []string, f runFlags) error {
	all, err := read(files, f.sets())
	if f.lang != "en" && f.lang != "zh" {
		err = errors.Join(err, fmt.Errorf("--lang %s: there are en and zh", f.lang))
	}
	if err != nil {
		return usageError(err)
	}
	if err := distinctNames(all); err != nil && f.out != "" {
		return usageError(err)
	}
	worst := pass
	for _, s := range all {
		if ctx.Err() != nil { // in the last moments of the one before
			worst = interrupted
			break
		}
		end, err := a.runOne(ctx, s, f, len(all) > 1)
		if err != nil {
			fmt.Fprintf(a.errOut, "lockbench: %s: %v\n", s.Name, err)
		}
		worst = min(worst, end)
	}
	if worst != pass {
		return &statusError{status: worst.status()}
	}
	return nil
}

// distinctNames: each scenario gets a folder of its name under --out.
func distinctNames(all []*scenarios.Scenario) error {
	for i, s := range all {
		if slices.ContainsFunc(all[:i], func(o *scenarios.Scenario) bool { return o.Name == s.Name }) {
			return fmt.Errorf("two files name their scenario %q: they would share a folder of --out", s.Name)
		}
	}
	return nil
}

// runOne measures one scenario and returns how it ended.
func (a *app) runOne(ctx context.Context, s *scenarios.Scenario, f runFlags, several bool) (ending, error) {
	password, err := topologies.ResolvePassword(s.Topology.Auth.PasswordFrom)
	if err != nil {
		return usage, err
	}
	var random [4]byte
	rand.Read(random[:])
	id := results.NewRunID(time.Now(), s.Name, random)
	folder, err := results.Create(runFolder(f.out, id, s.Name, several))
	if err != nil {
		return failed, err
	}
	defer folder.Close()
	yaml := scenarios.Marshal(s, vocabulary())
	facts := a.facts(ctx, id, s, yaml)
	// Until the run ends the folder tells of one that was cut short, so that it can be read after a kill or a crash too.
	if err := errors.Join(folder.WriteScenario(yaml), folder.WriteRun(facts)); err != nil {
		return failed, err
	}
	run := &bench.Run{
		ID: id, Scenario: s, Clock: clock.Wall(), Providers: providers(), Password: password, Yes: f.yes,
		Folder: folder, KeepOps: f.ops, Listener: newProgress(a.errOut, s, f.noProgress),
	}
	outcome, failure := run.Execute(ctx)
	return a.conclude(s, facts, folder, outcome, failure, f)
}

func runFolder(out, id, scenario string, several bool) string {
	switch {
	case out == "":
		return filepath.Join(runsFolder, id)
	case several:
		return filepath.Join(out, scenario)
	}
	return out
}

// facts are what run.json knows before the run.
func (a *app) facts(ctx context.Context, id string, s *scenarios.Scenario, yaml []byte) results.Run {
	v, commit := build()
	sum := sha256.Sum256(yaml)
	r := results.Run{
		Run: id, Scenario: s.Name, Question: s.Question, Command: append([]string{"lockbench"}, a.args...),
		Version: v, Commit: commit, Seed: s.Seed, ScenarioSHA: hex.EncodeToString(sum[:]),
		BeganUTC: time.Now().UTC().Format(time.RFC3339), Environment: environment(ctx),
		Status: results.Interrupted, Exit: statusInterrupted,
	}
	for _, p := range s.Points() {
		r.Points = append(r.Points, p.Name)
	}
	return r
}

// conclude writes and prints what there is, also after a failure, and decides how the run ended.
func (a *app) conclude(s *scenarios.Scenario, run results.Run, folder *results.Folder, o bench.Outcome, failure error, f runFlags) (ending, error) {
	if errors.Is(failure, context.Canceled) && len(o.Trials) == 0 {
		failure = context.Canceled // what an interrupt broke in start-up is no news
	}
	run.Order, run.Topologies = o.Order, o.Topologies
	run.EndedUTC = time.Now().UTC().Format(time.RFC3339)
	run.Status = statusOf(failure)
	if failure != nil {
		run.Error = failure.Error()
	}
	run.Expects = expects(s, o.Trials)
	summary := report.Summarise(run, o.Trials)
	run.Thresholds = thresholds(s, summary)
	end := endingOf(failure, run, summary)
	run.Exit = end.status()
	data := results.RunData{Dir: folder.Dir(), Run: run, Summary: &summary, Trials: o.Trials}
	err := errors.Join(folder.WriteRun(run), folder.WriteSummary(summary))
	if len(o.Trials) > 0 {
		written := report.WriteAs(folder, data, report.Options{Lang: f.lang})
		err = errors.Join(err, written, a.show(data, f.json))
		if written == nil {
			fmt.Fprintf(a.errOut, "report: %s\n", filepath.Join(folder.Dir(), "report.html"))
		}
	}
	if err != nil {
		return min(end, failed), errors.Join(failure, err)
	}
	if failure == context.Canceled { // the user knows that, but not what else went wrong
		return end, nil
	}
	return end, failure
}

func statusOf(failure error) results.Status {
	switch {
	case failure == nil:
		return results.Complete
	case errors.Is(failure, context.Canceled):
		return results.Interrupted
	}
	return results.RunFailed
}

func (a *app) show(d results.RunData, asJSON bool) error {
	if asJSON {
		return results.EncodeSummary(a.out, *d.Summary)
	}
	return report.Text(a.out, d)
}

// expects compares the verdict of every trial with what the scenario expects of its point.
func expects(s *scenarios.Scenario, trials []results.Trial) []results.ExpectResult {
	var all []results.ExpectResult
	for _, p := range s.Points() {
		want, ok := s.Expect[p.Strategy.Label+"/"+p.Retry.Label]
		if !ok {
			want, ok = s.Expect[p.Strategy.Label]
		}
		if !ok {
			continue
		}
		e := results.ExpectResult{Point: p.Name, Expected: results.Verdict(want), Got: results.NotKnown, Pass: true}
		found := false
		for _, t := range trials {
			if t.Point != p.Name {
				continue
			}
			got := results.NotKnown
			if t.Verdict != nil {
				got = *t.Verdict
			}
			if !found || got != e.Expected {
				e.Got = got
			}
			found = true
			e.Pass = e.Pass && got == e.Expected
		}
		e.Pass = e.Pass && found
		all = append(all, e)
	}
	return all
}

// thresholds holds every point against the thresholds that are about it.
func thresholds(s *scenarios.Scenario, summary results.Summary) []results.ThresholdResult {
	var all []results.ThresholdResult
	points := s.Points()
	for _, threshold := range s.Thresholds {
		for _, measured := range summary.Points {
			i := slices.IndexFunc(points, func(p scenarios.Point) bool { return p.Name == measured.Name })
			if i < 0 || !threshold.Applies(points[i]) {
				continue
			}
			all = append(all, judge(threshold, measured))
		}
	}
	return all
}

func judge(t scenarios.Threshold, p results.Point) results.ThresholdResult {
	r := results.ThresholdResult{Threshold: t.Text, Point: p.Name, Result: "unknown"}
	metric, ok := results.MetricNamed(t.Metric)
	if !ok {
		return r
	}
	r.Value = metric.Of(p)
	// Without a valid trial a figure must not be judged; what was counted, as violations, happened all the same.
	if r.Value == nil || p.Valid == 0 && metric.Unit != "count" {
		return r
	}
	r.Result = "fail"
	if t.Holds(*r.Value) {
		r.Result = "pass"
	}
	return r
}

// ending of a run. Where several apply, the first wins: within a run and over those of one command line.
type ending int

const (
	interrupted ending = iota
	failed
	usage
	unfit
	unexpected // a verdict differs from what was expected
	invalid    // or a threshold is unknown
	missed     // a threshold failed
	pass
)

func (e ending) status() int {
	return [...]int{statusInterrupted, statusFailed, statusUsage, statusUnfit, statusThreshold, statusInvalid, statusThreshold, statusPass}[e]
}

func endingOf(failure error, run results.Run, s results.Summary) ending {
	var nobody *topologies.UnfitError
	var request *bench.RequestError
	switch {
	case errors.Is(failure, context.Canceled):
		return interrupted
	case errors.As(failure, &request):
		return usage
	case errors.As(failure, &nobody):
		return unfit
	case failure != nil:
		return failed
	case slices.ContainsFunc(run.Expects, func(e results.ExpectResult) bool { return !e.Pass }):
		return unexpected
	case slices.ContainsFunc(s.Points, func(p results.Point) bool { return p.Valid == 0 }),
		slices.ContainsFunc(run.Thresholds, func(t results.ThresholdResult) bool { return t.Result == "unknown" }):
		return invalid
	case slices.ContainsFunc(run.Thresholds, func(t results.ThresholdResult) bool { return t.Result == "fail" }):
		return missed
	}
	return pass
}
