package results

// TrialSchema names the format of trials/*.json.
const TrialSchema = "lockbench/trial/v1"

// State of a trial or point.
type State string

const (
	Steady    State = "steady"
	Saturated State = "saturated" // offered load exceeds capacity: percentiles are null; a result, not a fault
	Unsteady  State = "unsteady"
)

// Verdict on safety.
type Verdict string

const (
	Broken      Verdict = "broken"
	Deadlock    Verdict = "deadlock"
	Unavailable Verdict = "unavailable"
	NotKnown    Verdict = "unknown"
	Safe        Verdict = "safe"
)

// Verdicts in the order from worst to best.
var Verdicts = []Verdict{Broken, Deadlock, Unavailable, NotKnown, Safe}

// Trial is one measurement of one point, with everything that tables, charts and checks need.
type Trial struct {
	Schema   string            `json:"schema"`
	Run      string            `json:"run_id"`
	Scenario string            `json:"scenario"`
	Point    string            `json:"point"`
	Slug     string            `json:"slug"`
	Params   map[string]string `json:"params"` // strategy, retry, topology, provider, client, matrix paths
	Trial    int               `json:"trial"`  // 1..trials of the point
	Order    int               `json:"order"`  // 1..n of the run
	Seed     uint64            `json:"seed"`
	Sabotage string            `json:"sabotage,omitempty"`

	BeganUTC  string  `json:"began_utc"` // wall-clock fact; "" in virtual time
	WarmupS   float64 `json:"warmup_s"`
	MeasureS  float64 `json:"measure_s"`
	DrainS    float64 `json:"drain_s"`
	Partial   bool    `json:"partial"` // interrupted or failed before its end
	OpenLoop  bool    `json:"open_loop"`
	NoFigures bool    `json:"no_performance_figure"` // embedded: the numbers say nothing about speed

	State    State    `json:"state"`
	Valid    bool     `json:"valid"`
	Invalid  []string `json:"invalid"` // named causes
	Warnings []string `json:"warnings"`

	Verdict  *Verdict `json:"verdict"`
	Reason   string   `json:"verdict_reason"`
	Evidence []Op     `json:"evidence"` // the two ops that prove `broken`
	OutageMS *float64 `json:"outage_ms"`

	Counts     Counts                `json:"counts"`
	Causes     map[string]int64      `json:"causes"`     // of outcome `error` and of failed releases
	Histograms map[string]*Histogram `json:"histograms"` // by metric: schedule, wait, response, ...
	Attempts   AttemptCounts         `json:"attempts"`
	RatePerS   *float64              `json:"rate_per_s"` // offered; null in a closed loop
	Throughput float64               `json:"throughput_per_s"`
	Redis      Redis                 `json:"redis"`
	Client     Client                `json:"client"`
	Fairness   Fairness              `json:"fairness"`
	Series     []Second              `json:"series"`
}

// Metrics are the names of the latency histograms, in the order of tables.
var Metrics = []string{"schedule", "wait", "response", "rejection", "attempt", "hold", "release", "handoff"}

// Counts of a trial or point: sums over sessions of the measured window, and findings of check and audit.
type Counts struct {
	Scheduled      int64 `json:"scheduled"`
	Acquired       int64 `json:"acquired"`
	Rejected       int64 `json:"rejected"`
	GaveUp         int64 `json:"gave_up"`
	Timeout        int64 `json:"timeout"`
	Error          int64 `json:"error"`
	Dropped        int64 `json:"dropped"`
	Lost           int64 `json:"lost"`
	StaleHolds     int64 `json:"stale_holds"`
	Overruns       int64 `json:"overruns"`
	Violations     int64 `json:"violations"`
	MisDeletes     int64 `json:"mis_deletes"`
	StaleWrites    int64 `json:"stale_writes"`
	LostUpdates    int64 `json:"lost_updates"`
	Released       int64 `json:"released"`
	Expired        int64 `json:"expired"`
	Stolen         int64 `json:"stolen"`
	ReleaseUnknown int64 `json:"release_unknown"`
	Renewals       int64 `json:"renewals"`
	RenewalsFailed int64 `json:"renewals_failed"`
	OrphanKeys     int64 `json:"orphan_keys"`
	ImmortalKeys   int64 `json:"immortal_keys"`
}

// AttemptCounts of a trial. Counted is false under `native`: then nothing is known.
type AttemptCounts struct {
	Counted   bool            `json:"counted"`
	All       int64           `json:"all"`       // attempts of all sessions
	Histogram map[int32]int64 `json:"histogram"` // attempts -> acquired sessions
}

// Redis is what a trial cost the servers, from the end of warm-up to the end of drain.
type Redis struct {
	CPUSeconds      *float64         `json:"cpu_s"`      // main threads, idle baseline subtracted, all servers
	BaselineSeconds *float64         `json:"baseline_s"` // what was subtracted
	WindowSeconds   float64          `json:"window_s"`
	Commands        int64            `json:"commands"` // top level
	Inner           *int64           `json:"inner_commands"`
	Bytes           int64            `json:"bytes"` // both directions
	ByCommand       map[string]int64 `json:"by_command"`
	CrossCheck      *float64         `json:"commandstats_ratio"` // calls by commandstats / calls counted; 1 when nobody else is there
	Nodes           []RedisNode      `json:"nodes"`
}

// RedisNode is one server's share.
type RedisNode struct {
	Name    string     `json:"name"`
	RTT     *Histogram `json:"rtt"` // of a PING on a connection of its own, several times a second
	Errors  int64      `json:"errors"`
	CPU     *float64   `json:"cpu_utilisation"`
	Version string     `json:"version"`
}

// Client is what the generator itself did.
type Client struct {
	CPUUtilisation   *float64   `json:"cpu_utilisation"` // cores
	GCPauses         *Histogram `json:"gc_pauses"`
	SchedulerLatency *Histogram `json:"scheduler_latency"`
	TimerLateness    *Histogram `json:"timer_lateness"`
	PoolWaits        int64      `json:"pool_waits"`
	PoolWaitShare    *float64   `json:"pool_wait_share"` // of commands
	ThrottledPeriods int64      `json:"throttled_periods"`
	OtherLoad        *float64   `json:"other_load"` // cores used by other processes than client and servers
}

// Fairness of a trial. Closed loop: by client; open loop: overtakes.
type Fairness struct {
	Jain         *float64   `json:"jain"`
	Streaks      *Histogram `json:"streaks"`   // consecutive grants of one key to one client, counted in grants
	Reacquire    *Histogram `json:"reacquire"` // a client's release to its own next grant
	MinPerClient *int64     `json:"min_per_client"`
	MaxPerClient *int64     `json:"max_per_client"`
	Overtakes    *Histogram `json:"overtakes"` // later-intended sessions of the key granted first, per acquired session
}

// Second is one interval of the time series.
type Second struct {
	AtS        float64  `json:"at_s"`      // start, from the start of the measured window; warm-up is negative
	LengthS    float64  `json:"length_s"`  // 1, but for the last
	Scheduled  int64    `json:"scheduled"` // sessions of the window that ended in it
	Acquired   int64    `json:"acquired"`
	Attempts   int64    `json:"attempts"`
	InFlight   int64    `json:"in_flight"` // at its end
	P50MS      *float64 `json:"response_p50_ms"`
	P99MS      *float64 `json:"response_p99_ms"`
	MaxMS      *float64 `json:"response_max_ms"`
	RedisCPU   *float64 `json:"redis_cpu"` // cores, sum of servers' main threads
	GCPauseMS  *float64 `json:"gc_pause_max_ms"`
	FaultShare float64  `json:"fault_share"` // share of the interval inside a fault
}
