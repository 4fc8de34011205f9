package results

// RunSchema names the format of run.json.
const RunSchema = "lockbench/run/v1"

// Run is run.json: how to repeat the run, and where it was made.
type Run struct {
	Schema      string            `json:"schema"`
	Run         string            `json:"run_id"`
	Scenario    string            `json:"scenario"`
	Question    string            `json:"question"`
	Status      Status            `json:"status"`
	Error       string            `json:"error,omitempty"`
	Command     []string          `json:"command"` // passwords never appear here
	Version     string            `json:"version"`
	Commit      string            `json:"commit"`
	Seed        uint64            `json:"seed"`
	ScenarioSHA string            `json:"scenario_sha256"`
	Points      []string          `json:"points"` // names in the order of the scenario
	Order       []string          `json:"order"`  // trials as run: "point#trial"
	BeganUTC    string            `json:"began_utc"`
	EndedUTC    string            `json:"ended_utc"`
	Topologies  []RunTopology     `json:"topologies"`
	Environment map[string]string `json:"environment"` // cpu, cores, governor, kernel, container_runtime, go, gomaxprocs, load_1m, ping_pong_us, ...
	Thresholds  []ThresholdResult `json:"thresholds"`
	Expects     []ExpectResult    `json:"expects"`
	Exit        int               `json:"exit_status"`
}

// RunTopology is one deployment that the run used.
type RunTopology struct {
	Name     string            `json:"name"` // shape and numbers, as "single" or "independent-5"
	Provider string            `json:"provider"`
	Why      string            `json:"why"` // why auto chose it
	Servers  []string          `json:"servers"`
	Versions []string          `json:"versions"`
	Config   map[string]string `json:"config"` // non-default server settings that matter
	Notes    []string          `json:"notes"`  // stamps, as "embedded: not a performance figure"
}

// ThresholdResult is one threshold against one point.
type ThresholdResult struct {
	Threshold string   `json:"threshold"`
	Point     string   `json:"point"`
	Value     *float64 `json:"value"`  // null: unknown
	Result    string   `json:"result"` // pass, fail, unknown
}

// ExpectResult is one expected verdict against one point.
type ExpectResult struct {
	Point    string  `json:"point"`
	Expected Verdict `json:"expected"`
	Got      Verdict `json:"got"`
	Pass     bool    `json:"pass"` // held in every trial
}
