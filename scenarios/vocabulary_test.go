package scenarios

import "time"

const (
	ms     = float64(time.Millisecond)
	hourNS = float64(time.Hour)
)

// testVocabulary has every kind of name and option; cmd/lockbench assembles the real one.
func testVocabulary() Vocabulary {
	duration := func(name string) Option {
		return Option{Name: name, Doc: "a time", Kind: "duration", Required: true, Max: hourNS}
	}
	backoff := func(name string) Name {
		return Name{Name: name, Doc: "back-off", Options: []Option{duration("base"), duration("cap")}}
	}
	later := "it does not exist yet"
	return Vocabulary{
		Strategies: []Name{
			{Name: "noop", Doc: "mutex", Needs: "-", Excludes: "process", Native: true},
			{Name: "ping", Doc: "PING", Needs: "single", Excludes: "none"},
			{Name: "set-px-lua", Doc: "the standard answer", Needs: "single", Excludes: "server", Expires: true},
			{Name: "watchdog", Doc: "renews", Needs: "single", Excludes: "server", Expires: true, Renews: true, Options: []Option{
				{Name: "base", Doc: "the lock", Kind: "enum", Enum: []string{"set-px-lua", "set-px-del"}, Default: "set-px-lua"},
				{Name: "every", Doc: "renewal interval; a third of the TTL", Kind: "duration", Min: ms, Max: hourNS},
			}},
			{Name: "redlock", Doc: "quorum", Needs: "independent", Excludes: "server", Expires: true, Options: []Option{
				{Name: "node_timeout", Doc: "of one node", Kind: "duration", Default: "50ms", Min: ms, Max: hourNS},
				{Name: "drift", Doc: "of clocks", Kind: "ratio", Default: "1%", Max: 0.5},
				{Name: "mode", Doc: "when it is decided", Kind: "enum", Enum: []string{"wait-all", "at-quorum", "sequential"}, Default: "wait-all"},
				{Name: "strict", Doc: "a switch", Kind: "bool"},
			}},
			{Name: "sharded", Doc: "stripes", Needs: "single", Excludes: "server", Options: []Option{
				{Name: "shards", Doc: "stripes of a key", Kind: "int", Default: "8", Min: 1, Max: 1024},
				{Name: "pick", Doc: "which stripe", Kind: "enum", Enum: []string{"random", "hash", "least-of-2"}, Default: "random"},
			}},
			{Name: "fenced", Doc: "tokens", Needs: "single", Excludes: "server", Missing: later},
		},
		Retries: []Name{
			{Name: "fail-fast", Doc: "one attempt"},
			{Name: "fixed", Doc: "one wait", Bare: "wait", Options: []Option{duration("wait")}},
			{Name: "uniform", Doc: "between two", Options: []Option{duration("min"), duration("max")}},
			{Name: "linear", Doc: "longer and longer", Options: []Option{duration("from"), duration("to"), {Name: "steps", Doc: "how many", Kind: "int", Required: true, Min: 2, Max: 1000}}},
			{Name: "stages", Doc: "one after another", Bare: "stages", Options: []Option{{Name: "stages", Doc: "waits", Kind: "stages", Required: true, Min: 1000, Max: hourNS}}},
			backoff("exponential"), backoff("full-jitter"), backoff("decorrelated"),
			{Name: "native", Doc: "the lock's own means", Native: true},
			{Name: "staged-50-100", Doc: "preset"},
			{Name: "notify", Doc: "wake-up", Bare: "poll", Options: []Option{{Name: "poll", Doc: "safety net", Kind: "duration", Default: "500ms"}}, Missing: later},
		},
		Distributions: []Name{
			{Name: "constant", Doc: "always the same", Bare: "value", Options: []Option{duration("value")}},
			{Name: "uniform", Doc: "between two", Options: []Option{duration("min"), duration("max")}},
			{Name: "exponential", Doc: "no memory", Bare: "mean", Options: []Option{{Name: "mean", Doc: "mean", Kind: "duration", Required: true, Min: 1, Max: hourNS}}},
			{Name: "lognormal", Doc: "service times", Options: []Option{{Name: "p50", Doc: "median", Kind: "duration"}, {Name: "mean", Doc: "mean", Kind: "duration"}, duration("p99")}},
			{Name: "pareto", Doc: "long tail", Options: []Option{duration("min"), duration("p99")}},
			{Name: "mixture", Doc: "parts", Bare: "parts", Options: []Option{{Name: "parts", Doc: "shares", Kind: "mixture", Required: true}}},
		},
		Faults: []Name{{Name: "pause-holder", Doc: "SIGSTOP", Missing: later}, {Name: "kill-node", Doc: "SIGKILL", Missing: later}},
		Metrics: []Metric{
			{Name: "response.p99", Doc: "response", Unit: "ms"}, {Name: "response.p99.9", Doc: "response", Unit: "ms"},
			{Name: "redis.cpu_us_per_acquire", Doc: "CPU", Unit: "us"}, {Name: "throughput_per_s", Doc: "done", Unit: "per_s"},
			{Name: "acquired.share", Doc: "done", Unit: "share"}, {Name: "violations", Doc: "two at once", Unit: "count"},
			{Name: "attempts.mean", Doc: "attempts", Unit: "ratio"},
		},
		Shapes: []Name{{Name: "single", Doc: "one"}, {Name: "independent", Doc: "N"}, {Name: "replicated", Doc: "a master", Missing: later},
			{Name: "sentinel", Doc: "watched", Missing: later}, {Name: "cluster", Doc: "slots", Missing: later}, {Name: "postgres", Doc: "rows", Missing: later}},
		Providers: []Name{{Name: "auto", Doc: "first that can"}, {Name: "container", Doc: "docker"}, {Name: "process", Doc: "PATH"},
			{Name: "embedded", Doc: "no figure"}, {Name: "external", Doc: "yours"}, {Name: "virtual", Doc: "simulated", Missing: later}},
		Sabotages: []Name{{Name: "no-ttl", Doc: "no TTL"}, {Name: "plain-del", Doc: "DEL"}},
		Features: []Name{{Name: "processes", Doc: "more than one worker process", Missing: later}, {Name: "network", Doc: "network", Missing: later},
			{Name: "rueidis", Doc: "the client library rueidis", Missing: later}, {Name: "multiplexed", Doc: "the client mode multiplexed", Missing: later},
			{Name: "postgres", Doc: "the resource postgres", Missing: later}, {Name: "until", Doc: "trials until an interval", Missing: later}},
	}
}
