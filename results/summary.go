package results

// SummarySchema names the format of summary.json, the machine-readable contract.
const SummarySchema = "lockbench/summary/v1"

// Status of a run.
type Status string

const (
	Complete    Status = "complete"
	Interrupted Status = "interrupted"
	RunFailed   Status = "failed"
)

// Summary is summary.json.
type Summary struct {
	Schema   string  `json:"schema"`
	Run      string  `json:"run_id"`
	Scenario string  `json:"scenario"`
	Status   Status  `json:"status"`
	Points   []Point `json:"points"`
}

// Point sums up the trials of one point. Counts are sums and latencies the exact merge over valid trials.
type Point struct {
	Name       string                `json:"name"`
	Params     map[string]string     `json:"params"`
	Trials     int                   `json:"trials"`
	Valid      int                   `json:"valid"`
	State      State                 `json:"state"`
	Warnings   []string              `json:"warnings"`
	Invalid    []string              `json:"invalid"` // named causes over all trials
	Verdict    *Verdict              `json:"verdict"`
	Verdicts   map[Verdict]int       `json:"verdicts"`
	Expected   *Verdict              `json:"expected"`
	OutageMS   *float64              `json:"outage_ms"`
	Sabotage   string                `json:"sabotage,omitempty"`
	NoFigures  bool                  `json:"no_performance_figure"`
	OpenLoop   bool                  `json:"open_loop"`
	Counts     Counts                `json:"counts"`
	Latency    map[string]*Latency   `json:"latency_ms"` // by metric of Metrics; null where nothing was recorded
	Attempts   *Attempts             `json:"attempts"`
	RatePerS   *float64              `json:"rate_per_s"`
	Throughput *float64              `json:"throughput_per_s"`
	Shares     map[string]*float64   `json:"shares"` // outcome -> share of scheduled
	Redis      PointRedis            `json:"redis"`
	Client     PointClient           `json:"client"`
	Fairness   PointFairness         `json:"fairness"`
	Intervals  map[string]Interval   `json:"intervals"` // by metric name as in thresholds, over trials
	PerTrial   map[string][]*float64 `json:"per_trial"` // the values behind intervals, in trial order; null where missing
}

// Predicted tells that the numbers come from a simulation.
func (p Point) Predicted() bool { return p.Params["provider"] == "virtual" }

// Latency is one distribution in milliseconds. A percentile with fewer than 10 samples beyond it is null.
type Latency struct {
	Count int64    `json:"count"`
	Mean  *float64 `json:"mean"`
	P50   *float64 `json:"p50"`
	P90   *float64 `json:"p90"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p99.9"`
	Max   *float64 `json:"max"`
}

// Attempts per acquisition. Null in Point under `native`.
type Attempts struct {
	Mean          *float64         `json:"mean"`
	P99           *float64         `json:"p99"`
	Max           *int64           `json:"max"`
	PerAcquire    *float64         `json:"per_acquire"` // attempts of all sessions / acquired
	FirstTryShare *float64         `json:"first_try_share"`
	Histogram     map[string]int64 `json:"histogram"`
}

// PointRedis is the cost at the servers.
type PointRedis struct {
	CPUUtilisation *float64           `json:"cpu_utilisation"`
	CPUPerAcquire  *float64           `json:"cpu_us_per_acquire"`
	Commands       *float64           `json:"commands_per_acquire"`
	Inner          *float64           `json:"inner_commands_per_acquire"`
	Bytes          *float64           `json:"bytes_per_acquire"`
	ByCommand      map[string]float64 `json:"by_command"` // per acquire
	Nodes          []PointNode        `json:"nodes"`
}

// PointNode is one server.
type PointNode struct {
	Name   string   `json:"name"`
	RTTP50 *float64 `json:"rtt_p50_ms"`
	RTTP99 *float64 `json:"rtt_p99_ms"`
	Errors int64    `json:"errors"`
	CPU    *float64 `json:"cpu_utilisation"`
}

// PointClient is the generator's own health.
type PointClient struct {
	CPUUtilisation *float64 `json:"cpu_utilisation"`
	GCPauseP99     *float64 `json:"gc_pause_p99_ms"`
	SchedulerP99   *float64 `json:"scheduler_latency_p99_ms"`
	PoolWaitShare  *float64 `json:"pool_wait_share"`
}

// PointFairness of a point.
type PointFairness struct {
	Jain         *float64 `json:"jain"`
	StreakP99    *float64 `json:"streak_p99"`
	ReacquireP50 *float64 `json:"reacquire_p50_ms"`
	MinPerClient *int64   `json:"min_per_client"`
	MaxPerClient *int64   `json:"max_per_client"`
	OvertakesP99 *float64 `json:"overtakes_p99"`
}

// Interval is a median over trials with its 95 % interval; Lo and Hi are null below 6 trials.
type Interval struct {
	Median *float64 `json:"median"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	N      int      `json:"n"`
}
