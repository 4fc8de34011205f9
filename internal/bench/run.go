package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
	"github.com/lockbench/lockbench/topologies"
)

// Listener hears how a run goes.
type Listener interface {
	Topology(t results.RunTopology)
	Started(t *Trial, of int)
	Moment(Moment)
	Ended(results.Trial)
}

// Run is all trials of one scenario.
type Run struct {
	ID        string
	Scenario  *scenarios.Scenario
	Clock     clock.Clock
	Providers []topologies.Provider // in the order of preference
	Password  topologies.Secret     // of an external server
	Yes       bool                  // the user agreed to a target that is not loopback and holds keys
	Folder    *results.Folder
	KeepOps   bool // every session as a line of trials/*.ops.jsonl
	Listener  Listener
}

// Outcome of a run: what was measured, also when it was cut short.
type Outcome struct {
	Trials     []results.Trial
	Topologies []results.RunTopology
	Order      []string // of the trials, as "point#trial"
}

// RequestError: the scenario asks for what must not or cannot be done, whatever the machine.
type RequestError struct{ Err error }

func (e *RequestError) Error() string { return e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

// Execute starts what the points need, runs the trials in randomised blocks (each block holds every point once, in an
// order drawn from the seed, so that drift of the machine falls on all points alike) and stops everything again. Each
// trial is written as soon as it ends. The error is ctx's after an interrupt, a *topologies.UnfitError where nothing here
// can serve the scenario, a *RequestError where it asks for what it cannot have, a *TargetError when servers failed.
func (r *Run) Execute(ctx context.Context) (o Outcome, err error) {
	points := r.Scenario.Points()
	order := r.order(points)
	running := &deployments{Run: r, byKey: map[string]*deployment{}}
	defer func() {
		if failed := running.close(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	if err := running.start(ctx, points); err != nil {
		return o, interrupted(ctx, err)
	}
	for _, key := range slices.Sorted(maps.Keys(running.byKey)) {
		o.Topologies = append(o.Topologies, running.byKey[key].facts)
	}
	for i, step := range order {
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		trial, measured, err := r.trial(ctx, running.byKey[topologyKey(step.point)], step, i+1, len(order))
		if measured {
			o.Trials = append(o.Trials, trial)
			o.Order = append(o.Order, fmt.Sprintf("%s#%d", step.point.Name, step.number))
			r.Listener.Ended(trial)
		}
		if err != nil {
			return o, interrupted(ctx, err)
		}
	}
	return o, ctx.Err()
}

// interrupted adds the interrupt to an error that came with it: a terminal's Ctrl-C may reach the servers too, and then
// what failed is not the target.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return errors.Join(ctx.Err(), err)
}

type step struct {
	point  scenarios.Point
	number int
}

func (r *Run) order(points []scenarios.Point) []step {
	var all []step
	for block := range r.Scenario.Trials.Count {
		for _, i := range load.Stream(r.Scenario.Seed, "order", uint64(block)).Perm(len(points)) {
			all = append(all, step{points[i], block + 1})
		}
	}
	return all
}

// trial runs one and writes it. measured tells whether there is anything to show.
func (r *Run) trial(ctx context.Context, d *deployment, s step, order, of int) (result results.Trial, measured bool, err error) {
	t := &Trial{
		Run: r.ID, Scenario: r.Scenario.Name, Point: s.point, Number: s.number, Order: order,
		Seed:  load.Stream(r.Scenario.Seed, "trial", uint64(s.number)).Uint64(),
		Clock: r.Clock, Topology: d.topology, Idle: d.idle, Began: time.Now(), Progress: r.Listener.Moment,
	}
	files, err := r.open(t)
	if err != nil {
		return results.Trial{}, false, err
	}
	r.Listener.Started(t, of)
	result, err = t.perform(ctx)
	if result.Schema == "" {
		files.abandon()
		return result, false, err
	}
	if err != nil {
		err = d.explain(ctx, err)
	}
	return result, true, errors.Join(err, files.commit(), r.Folder.WriteTrial(result))
}

// perform measures, in a world of its own where the topology is a simulation.
func (t *Trial) perform(ctx context.Context) (result results.Trial, err error) {
	if t.Topology.Simulate == nil {
		return t.Measure(ctx)
	}
	world := t.Topology.Simulate(t.Seed)
	t.Clock, t.Topology, t.Began = world.Clock, world.Topology, time.Time{}
	t.Run = topologies.Virtual // a simulated trial is the same bytes in every run
	t.Idle = make([]*float64, len(t.Topology.Servers))
	for i := range t.Idle {
		t.Idle[i] = new(float64) // a simulated server without load uses nothing
	}
	if stuck := world.Run(func() { result, err = t.Measure(ctx) }); stuck != nil {
		return result, fmt.Errorf("simulation of %s: %w", t.Point.Name, stuck)
	}
	return result, err
}

// explain puts the last words of a server that has died in the place of what came of it.
func (d *deployment) explain(ctx context.Context, err error) error {
	if d.topology.Check == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if cause := d.topology.Check(ctx); cause != nil {
		return &TargetError{cause}
	}
	return err
}

// trialFiles are those that grow while a trial runs.
type trialFiles struct {
	streams []*results.Stream
	buffers []*bufio.Writer
}

func (r *Run) open(t *Trial) (*trialFiles, error) {
	f := &trialFiles{}
	base := path.Join(results.TrialsDir, results.TrialName(t.Order, t.Point.Slug, t.Number))
	var err error
	if t.HLog, err = f.add(r.Folder, base+".hlog"); err != nil {
		return nil, err
	}
	if r.KeepOps {
		if t.Ops, err = f.add(r.Folder, base+".ops.jsonl"); err != nil {
			f.abandon()
			return nil, err
		}
	}
	return f, nil
}

func (f *trialFiles) add(folder *results.Folder, name string) (io.Writer, error) {
	s, err := folder.Stream(name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(s, 64<<10)
	f.streams, f.buffers = append(f.streams, s), append(f.buffers, b)
	return b, nil
}

// commit keeps what was written whole: a file that lost its end is no file.
func (f *trialFiles) commit() error {
	var errs []error
	for i, s := range f.streams {
		if err := f.buffers[i].Flush(); err != nil {
			s.Abandon()
			errs = append(errs, err)
			continue
		}
		errs = append(errs, s.Commit())
	}
	return errors.Join(errs...)
}

func (f *trialFiles) abandon() {
	for _, s := range f.streams {
		s.Abandon()
	}
}

// deployments are the topologies of a run, each started once.
type deployments struct {
	*Run
	byKey map[string]*deployment
}

type deployment struct {
	topology *topologies.Topology
	idle     []*float64
	facts    results.RunTopology
}

// topologyKey is equal for points that can share a deployment.
func topologyKey(p scenarios.Point) string {
	t := p.Topology
	if needsNothing(p) {
		return "none " + t.Provider
	}
	key := fmt.Sprintf("%s %d %d %s %s %s %v %v %v", t.Shape, t.Nodes, t.Replicas, t.Provider, t.Image, t.CPU, t.Addresses, t.Config, p.Scenario.Lock.ConnectTimeout)
	if p.Strategy.Sabotage == clientRetries { // the one sabotage of the client: it needs connections of its own
		key += " " + clientRetries
	}
	return key
}

const clientRetries = "client-retries"

func needsNothing(p scenarios.Point) bool {
	entry, ok := strategies.Find(p.Strategy.Name)
	return ok && entry.Needs == strategies.NeedsNothing
}

// idleFor is how long servers are watched without load: long enough for several of their cron ticks.
const idleFor = 500 * time.Millisecond

func (d *deployments) start(ctx context.Context, points []scenarios.Point) error {
	for _, p := range points {
		key := topologyKey(p)
		if d.byKey[key] != nil {
			continue
		}
		deployed, err := d.deploy(ctx, p, sharing(points, key))
		if err != nil {
			return err
		}
		d.byKey[key] = deployed
		d.Listener.Topology(deployed.facts)
	}
	return d.refuseImmortal(points)
}

// sharing lists the points of one deployment.
func sharing(points []scenarios.Point, key string) []scenarios.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p scenarios.Point) bool { return topologyKey(p) != key })
}

func (d *deployments) deploy(ctx context.Context, p scenarios.Point, points []scenarios.Point) (*deployment, error) {
	if needsNothing(p) && p.Topology.Provider != topologies.Virtual {
		return inProcess(), nil
	}
	spec, scripts, before := d.needs(p, points)
	provider, why, err := topologies.Choose(ctx, spec, p.Topology.Provider, d.Providers)
	if unfit := (*topologies.UnfitError)(nil); errors.As(err, &unfit) || ctx.Err() != nil {
		return nil, err
	} else if err != nil {
		return nil, &RequestError{err}
	}
	top, err := provider.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start %s by provider %s: %w", spec.Shape, provider.Name(), err)
	}
	if top.Provider != topologies.External { // there the facts of the server say more than the choice
		top.Why = why
	}
	if top.Simulate != nil { // every trial makes a world of its own
		return &deployment{topology: top, facts: d.facts(ctx, top)}, nil
	}
	deployed, err := d.ready(ctx, top, spec, uniqueScripts(scripts), before)
	if err != nil {
		return nil, errors.Join(err, shut(top))
	}
	return deployed, nil
}

// needs is what all points of a deployment need together; before: some want its pool to be open.
func (d *deployments) needs(p scenarios.Point, points []scenarios.Point) (spec topologies.Spec, scripts []*strategies.Script, before bool) {
	spec = Spec(p, d.ID)
	if needsNothing(p) {
		spec.Nodes = 0
	}
	spec.Password, spec.Yes = d.Password, d.Yes
	for _, p := range points {
		spec.PoolSize = max(spec.PoolSize, PoolSize(p.Scenario))
		spec.Timeout = max(spec.Timeout, p.Scenario.Lock.AcquireTimeout)
		before = before || p.Scenario.Client.Open != onDemand
		if entry, ok := strategies.Find(p.Strategy.Name); ok {
			scripts = append(scripts, entry.Scripts...)
		}
	}
	return spec, scripts, before
}

func uniqueScripts(all []*strategies.Script) []*strategies.Script {
	slices.SortFunc(all, func(a, b *strategies.Script) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(all)
}

// inProcess is the deployment of strategies that need no server.
func inProcess() *deployment {
	t := &topologies.Topology{Shape: "none", Provider: "none", Why: "needs no server", Close: func(context.Context) error { return nil }}
	return &deployment{topology: t, facts: results.RunTopology{Name: "none", Provider: "none", Why: t.Why}}
}

// ready opens connections, loads scripts and measures the idle baseline.
func (d *deployments) ready(ctx context.Context, t *topologies.Topology, spec topologies.Spec, scripts []*strategies.Script, before bool) (*deployment, error) {
	connections := 1
	if before {
		connections = spec.PoolSize
	}
	for _, s := range t.Servers {
		if err := s.Warm(ctx, connections, scripts); err != nil {
			return nil, &TargetError{err}
		}
	}
	base, err := idle(ctx, d.Clock, t.Servers, idleFor)
	if err != nil {
		return nil, &TargetError{err}
	}
	return &deployment{topology: t, idle: base, facts: d.facts(ctx, t)}, nil
}

func (d *deployments) facts(ctx context.Context, t *topologies.Topology) results.RunTopology {
	f := results.RunTopology{Name: t.Shape, Provider: t.Provider, Why: t.Why, Config: t.Config, Notes: t.Notes}
	if n := len(t.Servers); n > 1 {
		f.Name = fmt.Sprintf("%s-%d", t.Shape, n)
	}
	readings, _ := readServers(ctx, d.Clock, t.Servers)
	for i, s := range t.Servers {
		f.Servers = append(f.Servers, s.Address)
		f.Versions = append(f.Versions, readings[i].sample.Version)
	}
	return f
}

// refuseImmortal keeps strategies without a TTL off servers that are not ours: a crash would leave a key for ever.
func (d *deployments) refuseImmortal(points []scenarios.Point) error {
	for _, p := range points {
		entry, _ := strategies.Find(p.Strategy.Name)
		if t := d.byKey[topologyKey(p)].topology; t.RefusesImmortal && entry.Excludes == strategies.ExcludesServer && !entry.Expires {
			return &RequestError{fmt.Errorf("strategy %s writes keys without a TTL: it is refused on a server that lockbench did not start", entry.Name)}
		}
	}
	return nil
}

func (d *deployments) close() error {
	var errs []error
	for _, deployed := range d.byKey {
		errs = append(errs, shut(deployed.topology))
	}
	return errors.Join(errs...)
}

// shut stops a topology whatever has been cancelled.
func shut(t *topologies.Topology) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		return fmt.Errorf("stop %s by provider %s: %w", t.Shape, t.Provider, err)
	}
	return nil
}

// closeTimeout bounds the stop of one topology.
const closeTimeout = 15 * time.Second
