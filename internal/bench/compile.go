package bench

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/internal/check"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/retry"
	"github.com/lockbench/lockbench/topologies"
)

// compile builds what sessions need from the scenario.
func (r *running) compile() (*workload, error) {
	s, row := r.Point.Scenario, r.Point.Strategy
	entry, ok := strategies.Find(row.Name)
	if !ok {
		return nil, fmt.Errorf("there is no strategy %q", row.Name)
	}
	locker, err := r.locker(row)
	if err != nil {
		return nil, err
	}
	policy, mode, err := NewPolicy(r.Point.Retry)
	if err != nil {
		return nil, err
	}
	hold, err := NewDist(s.Hold)
	if err != nil {
		return nil, fmt.Errorf("hold: %w", err)
	}
	keys, err := NewKeys(s.Keys)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	w := &workload{
		clock: r.Clock, locker: locker, maxLease: s.Lock.MaxLease, retries: s.Lock.ReleaseRetries, ttl: s.Lock.TTL,
		crash: s.Crash, keys: keys, hold: hold, seed: r.Seed, touched: newBitmap(s.Keys.Count),
		recorder: newRecorder(r.Clock.Now),
	}
	w.setNames("lockbench:"+r.Run+":"+strconv.Itoa(r.Order)+":", s.Keys.Count)
	w.loop = retry.Loop{
		Clock: r.Clock, Locker: locker, Policy: policy, Mode: mode, Timeout: s.Lock.AcquireTimeout,
		Compares: entry.Compares, CleanUp: releaseTimeout,
	}
	if mode != retry.Block {
		_, again := policy(retry.Failed{N: 1, Rand: load.Stream(0, "one try", 0)})
		w.oneTry = !again
	}
	if entry.Renews {
		w.every = strategies.RenewEvery(row.Options, s.Lock.TTL)
	}
	if s.Resource.Kind == "counter" {
		w.resource = check.NewCounter(s.Resource.Fenced)
	}
	return w, nil
}

func (r *running) locker(row scenarios.Strategy) (strategies.Locker, error) {
	env := strategies.Env{
		Clock: r.Clock, Nodes: r.Topology.Keyspaces, Endpoints: r.Topology.Endpoints, Rand: load.Stream(r.Seed, "locker", 0),
	}
	if row.Sabotage != "" {
		return strategies.Sabotaged(row.Name, row.Sabotage, env, row.Options)
	}
	return strategies.New(row.Name, env, row.Options)
}

// NewPolicy builds the retry policy that a scenario names; stages are the one argument that scenarios spells in its own type.
func NewPolicy(r scenarios.Retry) (retry.Policy, retry.Mode, error) {
	args := map[string]any{}
	for name, v := range r.Args {
		if stages, ok := v.([]scenarios.RetryStage); ok {
			converted := make([]retry.Stage, len(stages))
			for i, s := range stages {
				converted[i] = retry.Stage{Wait: s.Wait, Times: s.Times}
			}
			v = converted
		}
		args[name] = v
	}
	return retry.New(r.Name, args, r.MaxAttempts, r.Within)
}

// NewDist builds the distribution that a scenario names.
func NewDist(d scenarios.Dist) (load.Dist, error) {
	parts := make([]load.Part, len(d.Mix))
	for i, w := range d.Mix {
		part, err := NewDist(w.Dist)
		if err != nil {
			return nil, err
		}
		parts[i] = load.Part{Share: w.Share, Dist: part}
	}
	return load.NewDist(d.Kind, d.Args, parts)
}

// NewKeys builds the popularity of keys that a scenario names.
func NewKeys(k scenarios.Keys) (load.Keys, error) {
	switch p := k.Popularity; p.Kind {
	case "zipf":
		return load.Zipf(k.Count, p.S)
	case "hot":
		return load.Hot(k.Count, p.HotKeys, p.HotOps)
	default:
		return load.UniformKeys(k.Count)
	}
}

// plan is the load of warm-up and measurement.
func plan(s *scenarios.Scenario, seed uint64) (load.Plan, error) {
	if c := s.Load.Closed; c != nil {
		think, err := NewDist(c.Think)
		if err != nil {
			return nil, fmt.Errorf("think time: %w", err)
		}
		return load.ClosedLoop(c.Clients, think, s.Phases.Warmup+measured(s), seed), nil
	}
	o := openLoad(s, seed)
	if err := o.Check(); err != nil {
		return nil, err
	}
	return load.OpenLoop(load.Arrivals(o), s.Load.MaxInFlight), nil
}

func openLoad(s *scenarios.Scenario, seed uint64) load.Open {
	o := load.Open{
		Rate: s.Load.Open.Rate, Poisson: s.Load.Open.Arrivals == "poisson", Warmup: s.Phases.Warmup, Measure: measured(s), Seed: seed,
	}
	for _, stage := range s.Load.Open.Stages {
		o.Stages = append(o.Stages, load.Stage{From: stage.From, To: stage.To, For: stage.For})
	}
	if b := s.Load.Bursts; b != nil {
		o.Bursts = load.Bursts{Every: b.Every, Size: b.Size, Within: b.Within}
	}
	return o
}

// PoolSize is the number of connections a server gets for this scenario: no command waits for one, up to a bound that
// a server and its host stand well.
func PoolSize(s *scenarios.Scenario) int {
	inFlight := s.Load.MaxInFlight
	if s.Load.Closed != nil {
		inFlight = s.Load.Closed.Clients
	}
	return min(max(inFlight, 1), maxPool)
}

const maxPool = 512

// Spec is what a point asks of a provider.
func Spec(p scenarios.Point, run string) topologies.Spec {
	t := p.Topology
	spec := topologies.Spec{
		Shape: t.Shape, Nodes: t.Nodes, Image: t.Image, CPU: t.CPU, Config: t.Config, Addresses: t.Addresses,
		Username: t.Auth.Username, Run: run, PoolSize: PoolSize(p.Scenario), ConnectTimeout: p.Scenario.Lock.ConnectTimeout,
		Timeout: max(3*time.Second, p.Scenario.Lock.AcquireTimeout),
	}
	if t.TLS != nil {
		spec.TLS = &topologies.TLS{CA: t.TLS.CA, Cert: t.TLS.Cert, Key: t.TLS.Key, ServerName: t.TLS.ServerName}
	}
	if p.Strategy.Sabotage == clientRetries {
		spec.MaxRetries = 3 // go-redis' own default
	}
	return spec
}
