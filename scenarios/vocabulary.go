package scenarios

// Vocabulary is everything a scenario may name, with documentation and bounds. cmd assembles it from the catalogues
// of strategies, retry policies, distributions, faults and metrics; reading, the JSON Schema, `lockbench list` and
// "did you mean" come from this one value.
type Vocabulary struct {
	Strategies    []Name
	Retries       []Name
	Distributions []Name
	Faults        []Name
	Metrics       []Metric
	Shapes        []Name
	Providers     []Name
	Sabotages     []Name
	// Features are parts of a file that are no names and that a build may lack, with the reason in Missing. Those that
	// Read asks for: processes, network, rueidis, multiplexed, postgres, until.
	Features []Name
	// CheckSetting refuses a setting of topology.config that no server may get from a scenario; nil: any may.
	CheckSetting func(name, value string) error
}

// Name is one thing a scenario can name.
type Name struct {
	Name, Doc string
	Options   []Option
	// Of strategies:
	Needs    string // -, single, independent, replicated
	Excludes string // none, process, server
	Expires  bool   // has a TTL from its first command
	Renews   bool
	Native   bool     // can be used with the retry `native`
	Applies  []string // of sabotages: strategies that it changes, in themselves or in their base; empty: all
	Bare     string   // of retries and distributions: the option that a bare value sets, as in `fixed: 10ms`; "" none
	// Missing says why a known name cannot be used in this build, as "worker processes do not exist yet"; "" it can.
	Missing string
}

// Option of a Name.
type Option struct {
	Name, Doc, Kind string // kind: duration, ratio, int, enum, bool, stages, dist, mixture
	Default         string
	Required        bool
	Enum            []string
	Min, Max        float64 // nanoseconds for durations; both 0: the kind's own bounds
}

// Metric that thresholds and --slo may name.
type Metric struct {
	Name, Doc string
	Unit      string // ms, us, per_s, share, count, ratio
}
