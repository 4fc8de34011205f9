package scenarios

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// minimal is the shortest scenario; tests put lines of their own behind it, from line 5 on.
const minimal = `apiVersion: lockbench/v1
name: x
load: {open: {rate: 100/s}}
strategies: [set-px-lua]
`

// read is Read in the test vocabulary; the errors as "line:column path: message (suggestion)".
func read(t *testing.T, src string, set ...string) (*Scenario, []string) {
	t.Helper()
	s, err := Read("x.yaml", []byte(src), testVocabulary(), set)
	var all Errors
	if err != nil && !errors.As(err, &all) {
		t.Fatalf("the error is a %T, not Errors", err)
	}
	var got []string
	for _, e := range all {
		got = append(got, strings.TrimPrefix(strings.TrimPrefix(e.Error(), "x.yaml:"), " "))
	}
	return s, got
}

func mustRead(t *testing.T, src string, set ...string) *Scenario {
	t.Helper()
	s, errs := read(t, src, set...)
	if len(errs) > 0 {
		t.Fatalf("refused:\n%s\n%s", strings.Join(errs, "\n"), src)
	}
	return s
}

// wants checks that exactly these errors came, each by the beginning and a part of the rest (separated by " .. ").
func wants(t *testing.T, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		start, rest, _ := strings.Cut(want[i], " .. ")
		ok = ok && strings.HasPrefix(got[i], start) && strings.Contains(got[i], rest)
	}
	if !ok {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestExamplesOfTheDocumentation(t *testing.T) {
	flashSale, err := os.ReadFile("testdata/flash-sale.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := mustRead(t, string(flashSale))
	if n := len(s.Points()); n != 8 {
		t.Errorf("flash-sale has %d points, want 2 rates x 2 strategies x 2 retries", n)
	}
	gcPause, err := os.ReadFile("testdata/gc-pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, got := read(t, string(gcPause))
	wants(t, got,
		"5:57: load.processes: more than one worker process cannot be used",
		`10:36: strategies.2: the strategy "fenced" cannot be used`,
		`14:13: faults.0.kind: the fault "pause-holder" cannot be used`)
}

func TestDefaultsAreFilledIn(t *testing.T) {
	s := mustRead(t, minimal)
	got := *s
	got.Cells = nil
	want := Scenario{
		Name: "x", Seed: 1,
		Topology:   Topology{Shape: "single", Provider: "auto", Image: "redis:7.4-alpine", Nodes: 1},
		Load:       Load{Open: &Open{Rate: 100, Arrivals: "poisson"}, MaxInFlight: 2000, Processes: 1},
		Client:     Client{Library: "go-redis", Mode: "pooled", Open: "before"},
		Keys:       Keys{Count: 1, Popularity: Popularity{Kind: "uniform"}},
		Hold:       Constant(5 * time.Millisecond),
		Lock:       Lock{TTL: 30 * time.Second, AcquireTimeout: 2 * time.Second, ConnectTimeout: 2 * time.Second},
		Resource:   Resource{Kind: "none"},
		Strategies: []Strategy{{Name: "set-px-lua", Label: "set-px-lua"}},
		Retries:    []Retry{{Name: "fail-fast", Label: "fail-fast"}},
		Phases:     Phases{Warmup: 2 * time.Second, Measure: 10 * time.Second},
		Trials:     Trials{Count: 3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(s.Cells) != 1 || s.Cells[0].Scenario.Cells != nil {
		t.Errorf("%d cells, want one that has none itself", len(s.Cells))
	}
}

func TestRowsAreReadByTheirKinds(t *testing.T) {
	s := mustRead(t, `apiVersion: lockbench/v1
name: rows
topology: {nodes: 1}
load: {closed: {clients: 4, think: {exponential: 20ms}}}
hold: {mixture: [{share: 98%, dist: 5ms}, {share: 2%, dist: {lognormal: {mean: 100ms, p99: 500ms}}}]}
strategies:
  - {name: redlock, node_timeout: 50ms, drift: 1%, mode: at-quorum, strict: true, as: redlock-5, on: {shape: independent}}
  - {name: sharded, shards: 4}
retries:
  - {fixed: 10ms, max_attempts: 10, within: 1s, as: short}
  - fixed: 20ms
  - stages: [50ms x3, 100ms]
  - staged-50-100
`)
	wantRows := []Strategy{
		{Name: "redlock", Label: "redlock-5", On: &Topology{Shape: "independent", Nodes: 5, Provider: "auto", Image: "redis:7.4-alpine"},
			Options: map[string]any{"node_timeout": 50 * time.Millisecond, "drift": 0.01, "mode": "at-quorum", "strict": true}},
		{Name: "sharded", Label: "sharded", Options: map[string]any{"shards": 4, "pick": "random"}},
	}
	if d := cmp.Diff(wantRows, s.Strategies); d != "" {
		t.Error(d)
	}
	wantRetries := []Retry{
		{Name: "fixed", Label: "short", Args: map[string]any{"wait": 10 * time.Millisecond}, MaxAttempts: 10, Within: time.Second},
		{Name: "fixed", Label: "fixed", Args: map[string]any{"wait": 20 * time.Millisecond}},
		{Name: "stages", Label: "stages", Args: map[string]any{"stages": []RetryStage{{50 * time.Millisecond, 3}, {100 * time.Millisecond, 1}}}},
		{Name: "staged-50-100", Label: "staged-50-100"},
	}
	if d := cmp.Diff(wantRetries, s.Retries); d != "" {
		t.Error(d)
	}
	if s.Hold.Kind != "mixture" || len(s.Hold.Mix) != 2 || s.Hold.Mix[1].Dist.Args["p99"] != 500*time.Millisecond {
		t.Errorf("hold is %+v", s.Hold)
	}
	if s.Load.Closed.Think.Args["mean"] != 20*time.Millisecond {
		t.Errorf("think is %+v", s.Load.Closed.Think)
	}
}

func TestStagesGiveTheMeasuredTime(t *testing.T) {
	s := mustRead(t, strings.Replace(minimal, "rate: 100/s", "stages: [{rate: 6k/min, for: 20s}, {rate: 100/s -> 800/s, for: 10s}]", 1))
	want := []Stage{{100, 100, 20 * time.Second}, {100, 800, 10 * time.Second}}
	if d := cmp.Diff(want, s.Load.Open.Stages); d != "" {
		t.Error(d)
	}
	if s.Phases.Measure != 30*time.Second {
		t.Errorf("measured time is %v, want 30s", s.Phases.Measure)
	}
}

func TestFileIsJudgedBeforeItIsParsed(t *testing.T) {
	bomb := "a: &a [x, x]\n"
	for i := 'b'; i < 'j'; i++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c]\n", i, i, i-1, i-1)
	}
	for name, c := range map[string]struct{ src, want string }{
		"empty file":            {"", "the file is empty"},
		"nothing but blanks":    {" \n\n", "the file is empty"},
		"only a comment":        {"# nothing\n", "1:1: .. says nothing"},
		"2 MiB":                 {strings.Repeat("a: 1\n", 2<<20/5), "the file is larger than 64 KiB"},
		"alias bomb":            {bomb, "1:4: anchors"},
		"alias":                 {minimal + "hold: *x\n", "5:7: aliases"},
		"merge key":             {minimal + "<<: {a: b}\n", "5:1: merge keys"},
		"tag":                   {minimal + "hold: !!str 5ms\n", "5:7: tags"},
		"directive":             {"%YAML 1.2\n---\n" + minimal, "1:1: directives"},
		"complex key":           {"? name\n: x\n", "1:1: keys written with ?"},
		"second document":       {minimal + "---\nname: y\n", "5:1: a second document"},
		"second behind an end":  {minimal + "...\nname: y\n", "5:1: a second document"},
		"not UTF-8":             {minimal + "question: \xff\n", "5:11: the file is not UTF-8"},
		"NUL":                   {minimal + "question: \x00\n", "5:11: the file contains a NUL"},
		"many brackets":         {"a: " + strings.Repeat("[", 9000), "1:35: nested deeper than 32"},
		"many nested lists":     {strings.Repeat("- ", 9000), "1:65: nested deeper than 32"},
		"too many values":       {"a: [" + strings.Repeat("1,", 15000) + "]", "1: .. too many values"},
		"duplicate key":         {minimal + "name: y\n", `5:1: the key "name" stands here twice`},
		"bracket left open":     {minimal + "keys: {count: 1\n", "5: .. cannot be read as YAML"},
		"colon too many":        {minimal + "keys: count: 1\n", "5: .. cannot be read as YAML"},
		"quote left open":       {minimal + "question: 'why\n", "5:11: cannot be read as YAML"},
		"a list of scenarios":   {"- name: x\n", "1:1: a scenario is a map of keys, not a list"},
		"a word":                {"quickstart", "1:1: a scenario is a map of keys, not a value"},
		"first document header": {"---\n" + minimal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := read(t, c.src)
			if c.want == "" {
				wants(t, got)
				return
			}
			if len(got) == 0 {
				t.Fatal("accepted")
			}
			wants(t, got[:1], c.want)
		})
	}
}

// mistakes are lines behind minimal, or whole files, and what must be said of them.
var mistakes = []struct {
	name, src string
	want      []string
}{
	{"unknown key", "hodl: 5ms", []string{`5:1: the key "hodl" does not exist (did you mean "hold"?)`}},
	{"unknown key inside", "lock: {tll: 5s}", []string{`5:8: lock: the key "tll" does not exist (did you mean "ttl"?)`}},
	{"misplaced key", "ttl: 5s", []string{"5:1: the ttl stands under lock"}},
	{"no value", "hold:", []string{"5:7: hold: a duration or a map with one distribution is needed"}},
	{"bare number", "lock: {ttl: 5}", []string{`5:13: lock.ttl: "5" needs a unit, as 5ms or 5s`}},
	{"wrong unit", "lock: {ttl: 5sec}", []string{`5:13: lock.ttl: "5sec" is no duration: the units are ns, us, ms, s, m, h, not "sec"`}},
	{"days", "lock: {ttl: 1d}", []string{`5:13: lock.ttl: "1d" is no duration: the units`}},
	{"blank in a duration", "lock: {ttl: 5 ms}", []string{`5:13: lock.ttl: "5 ms" is no duration`}},
	{"negative duration", "lock: {ttl: -1h}", []string{`5:13: lock.ttl: "-1h" is negative`}},
	{"zero duration", "lock: {ttl: 0s}", []string{"5:13: lock.ttl: 0s is too small: at least 1ms"}},
	{"huge duration", "lock: {ttl: 25h}", []string{"5:13: lock.ttl: 25h is too large: at most 24h"}},
	{"duration beyond int64", "lock: {ttl: 99999999999999999h}", []string{`5:13: lock.ttl: "99999999999999999h" is too long`}},
	{"hexadecimal", "keys: {count: 0x10}", []string{`5:15: keys.count: "0x10" is no whole number`}},
	{"underscores", "keys: {count: 1_000}", []string{`5:15: keys.count: "1_000" is no whole number`}},
	{"exponent", "keys: {count: 1e9}", []string{`5:15: keys.count: "1e9" is no whole number`}},
	{"no keys", "keys: {count: 0}", []string{"5:15: keys.count: 0 is too small: at least 1"}},
	{"too many keys", "keys: {count: 10000001}", []string{"5:15: keys.count: 10000001 is too large: at most 10000000"}},
	{"a number beyond all", "keys: {count: 99999999999999999999}", []string{`5:15: keys.count: "99999999999999999999" is too large`}},
	{"list for a number", "keys: {count: [1]}", []string{"5:15: keys.count: a whole number is needed here, not a list"}},
	{"too many trials", "trials: 1001", []string{"5:9: trials: 1001 is too large: at most 1000"}},
	{"trials until", "trials: {until: 5%, max: 30}", []string{"5:9: trials: trials until an interval cannot be used"}},
	{"wrong popularity", "keys: {popularity: unifrom}", []string{`5:20: keys.popularity: the popularity "unifrom" does not exist (did you mean "uniform"?)`}},
	{"hot without share", "keys: {popularity: {hot: {keys: 10%}}}", []string{`5:26: keys.popularity.hot: the key "ops" is missing`}},
	{"share above one", "crash: 150%", []string{"5:8: crash: 1.5 is too large: at most 1"}},
	{"share that is none", "crash: often", []string{`5:8: crash: "often" is no share`}},
	{"unknown distribution", "hold: {lognormall: {p50: 5ms, p99: 80ms}}", []string{`5:8: hold: the distribution "lognormall" does not exist (did you mean "lognormal"?)`}},
	{"unknown parameter", "hold: {lognormal: {p51: 5ms, p99: 80ms}}", []string{`5:20: hold.lognormal: the option of lognormal "p51" does not exist (did you mean "p50"?)`}},
	{"missing parameter", "hold: {uniform: {min: 5ms}}", []string{`5:8: hold.uniform: "uniform" needs the option "max"`}},
	{"lognormal by two", "hold: {lognormal: {p50: 5ms, mean: 6ms, p99: 80ms}}", []string{"5:8: hold.lognormal: a lognormal distribution takes p99 and one of p50 and mean"}},
	{"lognormal that cannot be", "hold: {lognormal: {mean: 1ms, p99: 80ms}}", []string{"5:8: hold.lognormal: no lognormal distribution has mean 1ms and p99 80ms"}},
	{"min above max", "hold: {uniform: {min: 9ms, max: 5ms}}", []string{"5:8: hold.uniform: min (9ms) is above max (5ms)"}},
	{"infinite mean", "hold: {pareto: {min: 1ms, p99: 100ms}}", []string{"5:8: hold.pareto: p99 (100ms) must lie between"}},
	{"shares do not add up", "hold: {mixture: [{share: 90%, dist: 5ms}, {share: 5%, dist: 1s}]}", []string{"5:8: hold.mixture: the shares of a mixture add up to 95%, not 100%"}},
	{"mixture in a mixture", "hold: {mixture: [{share: 100%, dist: {mixture: []}}]}", []string{"5:39: hold.mixture.0.dist: a mixture inside a mixture"}},
	{"two distributions", "hold: {constant: 5ms, exponential: 5ms}", []string{"5:7: hold: a duration or a map with one distribution is needed"}},
	{"nested without reentrant", "hold: {constant: 5ms, nested: 2}", []string{`5:31: hold.nested: "set-px-lua" cannot be entered again`}},
	{"unknown shape", "topology: {shape: sinlge}", []string{`5:19: topology.shape: the shape "sinlge" does not exist (did you mean "single"?)`}},
	{"shape to come", "topology: {shape: sentinel}", []string{`5:19: topology.shape: the shape "sentinel" cannot be used`}},
	{"provider to come", "topology: {provider: virtual}", []string{`5:22: topology.provider: the provider "virtual" cannot be used`}},
	{"nodes of a single server", "topology: {nodes: 5}", []string{"5:19: topology.nodes: only the shape independent has several nodes"}},
	{"strategy does not fit", "topology: {shape: independent}", []string{`4:14: strategies.0: "set-px-lua" needs one keyspace, but the shape is independent; give the row its own`}},
	{"password in an address", "topology: {addresses: ['redis://me:secret@host:6379']}", []string{"5:24: topology.addresses.0: an address is host:port"}},
	{"a password itself", "topology: {auth: {username: me, password_from: secret}}", []string{"5:48: topology.auth.password_from: say where the password is"}},
	{"addresses without external", "topology: {provider: process, addresses: ['h:1']}", []string{"5:42: topology.addresses: only the provider external takes addresses"}},
	{"library to come", "client: {library: rueidis}", []string{"5:19: client.library: the client library rueidis cannot be used"}},
	{"network to come", "network: {rtt: 1ms}", []string{"5:10: network: network cannot be used"}},
	{"resource to come", "resource: {kind: postgres}", []string{"5:18: resource.kind: the resource postgres cannot be used"}},
	{"fenced without resource", "resource: {fenced: true}", []string{"5:11: resource: only a resource can be fenced"}},
	{"fenced row unknown", "resource: {kind: counter, fenced: true, rows: [sett-px-lua]}", []string{`5:48: resource.rows.0: the label "sett-px-lua" does not exist (did you mean "set-px-lua"?)`}},
	{"neither true nor false", "resource: {kind: counter, fenced: yes}", []string{`5:35: resource.fenced: "yes" is neither true nor false`}},
	{"unknown retry", "retries: [full-jiter]", []string{`5:11: retries.0: the retry policy "full-jiter" does not exist (did you mean "full-jitter"?)`}},
	{"retry to come", "retries: [{notify: {poll: 1s}}]", []string{`5:12: retries.0: the retry policy "notify" cannot be used`}},
	{"retry without its option", "retries: [fixed]", []string{`5:11: retries.0.fixed: "fixed" needs the option "wait"`}},
	{"two policies in one row", "retries: [{fixed: 1ms, native: {}}]", []string{"5:11: retries.0: one retry policy is needed in each row, here are 2 (fixed, native)"}},
	{"duplicate retries", "retries: [{fixed: 1ms}, {fixed: 2ms}]", []string{`5:25: retries.1: the label "fixed" is already that of row 1`}},
	{"cap below base", "retries: [{full-jitter: {base: 64ms, cap: 2ms}}]", []string{"5:12: retries.0.full-jitter: base (64ms) is above cap (2ms)"}},
	{"value for a policy without", "retries: [{fail-fast: 3}]", []string{`5:23: retries.0.fail-fast: "fail-fast" takes no value`}},
	{"many tries of fail-fast", "retries: [{fail-fast: {}, max_attempts: 2}]", []string{"5:41: retries.0.max_attempts: fail-fast makes one attempt"}},
	{"native where it cannot be", "retries: [native]", []string{`5:11: retries.0: "set-px-lua" cannot wait by its own means (noop can)`}},
	{"no stage", "retries: [{stages: [50ms x]}]", []string{`5:21: retries.0.stages.0: "50ms x" is no`}},
	{"no retries", "retries: []", []string{"5:10: retries: the list is empty"}},
	{"threshold that does not parse", `thresholds: ["response.p99 is low"]`, []string{`5:14: thresholds.0: "response.p99 is low" is no threshold`}},
	{"unknown metric", `thresholds: ["respose.p99 < 4ms"]`, []string{`5:14: thresholds.0: the metric "respose.p99" does not exist (did you mean "response.p99"?)`}},
	{"threshold without unit", `thresholds: ["response.p99 < 400"]`, []string{`5:14: thresholds.0: response.p99: "400" needs a unit`}},
	{"threshold on no row", `thresholds: ["set-px-luo: violations == 0"]`, []string{`5:14: thresholds.0: the label "set-px-luo" does not exist (did you mean "set-px-lua"?)`}},
	{"expect of no row", "expect: {set-px-lua/fixed: safe}", []string{`5:10: expect: the label "set-px-lua/fixed" does not exist`}},
	{"unknown verdict", "expect: {set-px-lua: save}", []string{`5:22: expect.set-px-lua: the verdict "save" does not exist (did you mean "safe"?)`}},
	{"fault to come, and without a trigger", "faults: [{kind: kill-node}]", []string{"5:10: faults.0: a fault needs one of `at` and `when`", `5:17: faults.0.kind: the fault "kill-node" cannot be used`}},
	{"baseline that is none", "baseline: a-b", []string{`5:11: baseline: the baseline "a-b" does not exist (did you mean "a-a"?)`}},
	{"bursts too long", "load2: {}", []string{`5:1: the key "load2" does not exist (did you mean "load"?)`}},
	{"axis that is no list", "matrix: {load.open.rate: 5/s}", []string{"5:26: matrix.load.open.rate: a list of values is needed here, not a value"}},
	{"axis of a whole run", "matrix: {seed: [1, 2]}", []string{`5:10: matrix: "seed" cannot vary: seed belongs to the run as a whole`}},
	{"axis of rows", "matrix: {strategies.0: [noop]}", []string{`5:10: matrix: "strategies.0" cannot vary: list the rows of strategies instead`}},
	{"axes that overlap", "matrix: {load.open.rate: [1/s], load.open: [x]}", []string{`5:33: matrix: "load.open" cannot vary: "load.open.rate" varies too`}},
	{"axis with a value twice", "matrix: {load.open.rate: [60/s, 3600/min]}", []string{`5:33: matrix.load.open.rate: "3600/min" stands here twice`}},
	{"axis to nowhere", "matrix: {strategies.7.shards: [1]}", []string{`5:32: matrix: "strategies.7.shards" leads to no item`}},
	{"axis with an unknown key", "matrix: {load.open.rte: [1/s]}", []string{`5:26: load.open: the key "rte" does not exist (did you mean "rate"?)`}},
	{"axis with a wrong value", "matrix: {load.open.rate: [100/s, 5]}", []string{`5:34: load.open.rate: "5" needs a unit, as 5/s`}},
	{"exclude in the matrix", "matrix: {exclude: []}", []string{`5:10: matrix: "exclude" cannot vary: exclude stands beside matrix`}},
	{"exclude of nothing", "matrix: {load.open.rate: [1/s, 2/s]}\nexclude: [{load.open.rate: 3/s}]", []string{"6:11: exclude.0: it matches no point"}},
	{"exclude of an unknown path", "exclude: [{retri: x}]", []string{`5:11: exclude.0: the path of the matrix "retri" does not exist (did you mean "retry"?)`, "5:11: exclude.0: it matches no point"}},
	{"exclude of everything", "exclude: [{strategy: set-px-lua}]", []string{"5:10: exclude: no point is left"}},
	{"more points than can be", "keys: {count: 1}\nmatrix: {keys.count: [" + numbers(1, 50) + "], seed2.x: [" + numbers(1, 50) + "]}", []string{"6:9: the scenario has more than 2000 points", `6:225: the key "seed2" does not exist`}},
}

func numbers(from, to int) string {
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprint(i))
	}
	return strings.Join(all, ", ")
}

func TestMistakesAreToldWithTheirPlace(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			s, got := read(t, minimal+m.src+"\n")
			wants(t, got, m.want...)
			if s != nil {
				t.Error("a scenario came beside the errors")
			}
		})
	}
}

func TestLoadIsOpenOrClosed(t *testing.T) {
	for name, c := range map[string]struct {
		load string
		want []string
	}{
		"a rate in a closed loop": {"{closed: {clients: 4, rate: 100/s}}", []string{"3:29: load.closed: a closed loop has no rate"}},
		"clients in an open load": {"{open: {rate: 100/s, clients: 4}}", []string{"3:28: load.open: an open load has no clients"}},
		"both":                    {"{open: {rate: 100/s}, closed: {clients: 4}}", []string{"3:37: load.closed: a load is open or closed, not both"}},
		"neither":                 {"{processes: 1}", []string{"3:7: load: one of `open` and `closed` is needed"}},
		"rate without a home":     {"{rate: 100/s}", []string{"3:8: load: the rate stands under load.open"}},
		"bare rate":               {"{open: {rate: 200}}", []string{`3:21: load.open.rate: "200" needs a unit, as 200/s`}},
		"rate per day":            {"{open: {rate: 200/d}}", []string{`3:21: load.open.rate: "200/d" is no rate: the units are /s, /min, /h, not /d`}},
		"rate of zero":            {"{open: {rate: 0/s}}", []string{"3:21: load.open.rate: 0/s is too small: at least 0.0001/s"}},
		"negative rate":           {"{open: {rate: -5/s}}", []string{`3:21: load.open.rate: "-5/s" is negative`}},
		"huge rate":               {"{open: {rate: 2M/s}}", []string{"3:21: load.open.rate: 2000000/s is too large: at most 1000000/s"}},
		"rate and stages":         {"{open: {rate: 1/s, stages: [{rate: 1/s, for: 10s}]}}", []string{"3:34: load.open.stages: an open load has a rate or stages, not both"}},
		"neither rate nor stages": {"{open: {arrivals: poisson}}", []string{"3:14: load.open: one of `rate` and `stages` is needed"}},
		"no clients":              {"{closed: {clients: 0}}", []string{"3:26: load.closed.clients: 0 is too small"}},
		"too many clients":        {"{closed: {clients: 100001}}", []string{"3:26: load.closed.clients: 100001 is too large: at most 100000"}},
		"too many in flight":      {"{open: {rate: 1/s}, max_in_flight: 1000001}", []string{"3:42: load.max_in_flight: 1000001 is too large"}},
		"in flight when closed":   {"{closed: {clients: 4}, max_in_flight: 9}", []string{"3:45: load.max_in_flight: only an open load has a bound"}},
		"bursts when closed":      {"{closed: {clients: 4}, bursts: {every: 1s, size: 5}}", []string{"3:38: load.bursts: bursts need an open load"}},
		"bursts that overlap":     {"{open: {rate: 1/s}, bursts: {every: 1s, size: 5, within: 2s}}", []string{"3:64: load.bursts.within: 2s is longer than the time between bursts, 1s"}},
		"workers to come":         {"{open: {rate: 1/s}, processes: 2}", []string{"3:38: load.processes: more than one worker process cannot be used"}},
		"half a ramp":             {"{open: {stages: [{rate: 1/s -> 5, for: 1s}]}}", []string{`3:31: load.open.stages.0.rate: "5" needs a unit`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := read(t, strings.Replace(minimal, "{open: {rate: 100/s}}", c.load, 1))
			wants(t, got, c.want...)
		})
	}
}

func TestStagesAndMeasuredTimeMustAgree(t *testing.T) {
	src := strings.Replace(minimal, "rate: 100/s", "stages: [{rate: 1/s, for: 5s}]", 1) + "phases: {measure: 6s}\n"
	_, got := read(t, src)
	wants(t, got, "5:19: phases.measure: 6s is not the sum of the stages, 5s; leave it out")
}

func TestStrategiesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want []string
	}{
		"unknown strategy": {"[set-px-lau]", []string{`4:14: strategies.0: the strategy "set-px-lau" does not exist (did you mean "set-px-lua"?)`}},
		"strategy to come": {"[{name: fenced, as: f, width: 3}]", []string{`4:21: strategies.0.name: the strategy "fenced" cannot be used: it does not exist yet`}},
		"unknown option":   {"[{name: sharded, shard: 3}]", []string{`4:30: strategies.0: the option of sharded "shard" does not exist (did you mean "shards"?)`}},
		"option of a wrong kind": {"[{name: sharded, shards: many}]",
			[]string{`4:38: strategies.0.shards: "many" is no whole number`}},
		"option out of bounds":  {"[{name: sharded, shards: 5000}]", []string{"4:38: strategies.0.shards: 5000 is too large: at most 1024"}},
		"option that is none":   {"[{name: sharded, pick: radom}]", []string{`4:36: strategies.0.pick: the value "radom" does not exist (did you mean "random"?)`}},
		"duplicate labels":      {"[noop, noop]", []string{`4:20: strategies.1: the label "noop" is already that of row 1: tell them apart by`}},
		"label with a blank":    {"[{name: noop, as: a b}]", []string{`4:31: strategies.0.as: "a b" is not a label`}},
		"no name":               {"[{as: x}]", []string{`4:14: strategies.0: the key "name" is missing`}},
		"redlock on one server": {"[redlock]", []string{`4:14: strategies.0: "redlock" needs independent servers, but the shape is single; give the row its own, as .. on: {shape: independent}`}},
		"redlock on its own":    {"[{name: redlock, on: {shape: independent, nodes: 3}}]", nil},
		"on without shape":      {"[{name: noop, on: {nodes: 3}}]", []string{`4:31: strategies.0.on: the key "shape" is missing`}},
		"unknown sabotage":      {"[{name: set-px-lua, sabotage: no-tll, as: s}]", []string{`4:43: strategies.0.sabotage: the sabotage "no-tll" does not exist (did you mean "no-ttl"?)`}},
		"sabotage in secret":    {"[{name: set-px-lua, sabotage: no-ttl}]", []string{"4:14: strategies.0: a sabotaged row needs a name of its own", "4:14: strategies.0: a sabotaged row needs an `expect`"}},
		"empty list":            {"[]", []string{"4:13: strategies: the list is empty"}},
		"nothing":               {"", []string{"4:13: strategies: a list of strategies is needed here, not nothing"}},
		"several at once":       {"[nop, {name: sharded, shards: 0}]", []string{`4:14: strategies.0: the strategy "nop" does not exist (did you mean "noop"?)`, "4:43: strategies.1.shards: 0 is too small"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := read(t, strings.Replace(minimal, "[set-px-lua]", c.rows, 1))
			wants(t, got, c.want...)
		})
	}
}

func TestWrapperNeedsWhatItsBaseNeeds(t *testing.T) {
	v := testVocabulary()
	for i := range v.Strategies {
		if v.Strategies[i].Name == "watchdog" {
			v.Strategies[i].Options[0].Enum = append(v.Strategies[i].Options[0].Enum, "redlock")
		}
	}
	src := strings.Replace(minimal, "set-px-lua", "{name: watchdog, base: redlock}", 1)
	_, err := Read("x.yaml", []byte(src), v, nil)
	if err == nil || !strings.Contains(err.Error(), `"watchdog" needs independent servers`) {
		t.Errorf("got %v", err)
	}
}

func TestSabotageMustChangeItsStrategy(t *testing.T) {
	v := testVocabulary()
	v.Sabotages = []Name{{Name: "plain-del", Applies: []string{"set-px-lua"}}}
	src := func(row string) string {
		return strings.Replace(minimal, "set-px-lua", row, 1) + "expect: {bad: broken}\n"
	}
	if _, err := Read("x", []byte(src("{name: watchdog, sabotage: plain-del, as: bad}")), v, nil); err != nil {
		t.Errorf("the base of watchdog is changed, but: %v", err)
	}
	_, err := Read("x", []byte(src("{name: noop, sabotage: plain-del, as: bad}")), v, nil)
	if err == nil || !strings.Contains(err.Error(), `"plain-del" changes nothing in "noop"; it applies to set-px-lua`) {
		t.Errorf("got %v", err)
	}
}

func TestAllMistakesAreToldAtOnceAndInOrder(t *testing.T) {
	_, got := read(t, `apiVersion: lockbench/v2
name: Big Name
load: {open: {rate: 5}}
strategies: [redis]
hold: 5
colour: red
thresholds: ["speed > 9"]
`)
	wants(t, got, `1:13: apiVersion: "lockbench/v2" is not a version`, "2:7: name: ", "3:21: load.open.rate: ", "4:14: strategies.0: ",
		`5:7: hold: "5" needs a unit`, `6:1: the key "colour"`, `7:14: thresholds.0: the metric "speed"`)
}

func TestMissingKeysAreNamed(t *testing.T) {
	_, got := read(t, "question: why?\n")
	wants(t, got, `1:1: the key "apiVersion" is missing`, `1:1: the key "name" is missing`, `1:1: the key "load" is missing`,
		`1:1: the key "strategies" is missing`, "1:1: load: one of")
}

func TestMistakesAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	_, got := read(t, b.String())
	if len(got) != maxErrors {
		t.Errorf("%d errors, want the first %d", len(got), maxErrors)
	}
}

func TestSetReplacesValues(t *testing.T) {
	s := mustRead(t, minimal, "load.open.rate=200/s", "trials=5", "lock.ttl=1s", "strategies.0.as=it", "retries=[{fixed: 10ms}]", "question=why not?")
	if s.Load.Open.Rate != 200 || s.Trials.Count != 5 || s.Lock.TTL != time.Second || s.Strategies[0].Label != "it" ||
		s.Retries[0].Name != "fixed" || s.Question != "why not?" {
		t.Errorf("got %+v", s)
	}
	for set, want := range map[string]string{
		"lock.ttl=5":            `--set lock.ttl: lock.ttl: "5" needs a unit`,
		"lock.tll=5s":           `--set lock.tll: lock: the key "tll" does not exist`,
		"nonsense":              `--set: "nonsense" is not path=value`,
		"a..b=1":                `--set: "a..b" is not path=value`,
		"strategies.3.as=x":     "--set strategies.3.as: strategies.3.as: leads to no item",
		"retries=[":             "--set retries: retries: cannot be read as YAML",
		"question=\xff":         "--set question: question: the value is not UTF-8",
		"topology.auth.pass=hi": `--set topology.auth.pass: topology.auth: the key "pass" does not exist`,
	} {
		_, got := read(t, minimal, set)
		wants(t, got, want)
	}
	_, got := read(t, minimal+"matrix: {load.open.rate: [1/s]}\n", "load.open.rate=5/s")
	wants(t, got, "--set load.open.rate: load.open.rate: the matrix varies this path")
}

func TestSecretsAreNotRepeatedInErrors(t *testing.T) {
	for _, line := range []string{
		"topology: {addresses: ['redis://:canary@host:6379']}",
		"topology: {auth: {password_from: canary}}",
		"resource: {kind: counter, address: 'postgres://u:canary@h/db'}",
	} {
		_, got := read(t, minimal+line+"\n")
		if all := strings.Join(got, "\n"); len(got) == 0 || strings.Contains(all, "canary") {
			t.Errorf("errors of %q repeat the password, or there are none:\n%s", line, all)
		}
	}
	_, got := read(t, minimal, "topology.auth.password_from=canary")
	if all := strings.Join(got, "\n"); len(got) == 0 || strings.Contains(all, "canary") {
		t.Errorf("errors of --set repeat the password, or there are none:\n%s", all)
	}
}

func TestClosestFindsSlipsOnly(t *testing.T) {
	names := []string{"set-px-lua", "set-px-del", "noop", "ping", "redlock"}
	for name, want := range map[string]string{
		"set-px-lau": "set-px-lua", "setpxlua": "set-px-lua", "nop": "noop", "Redlock": "redlock", "mutex": "", "": "",
		strings.Repeat("x", 5000): "",
	} {
		if got := Closest(name, names); got != want {
			t.Errorf("closest to %.20q is %q, want %q", name, got, want)
		}
	}
}

func TestMistakeOfOneValueDoesNotHideThoseBetweenOthers(t *testing.T) {
	body := `apiVersion: lockbench/v1
name: x
load: {open: {rate: 1/s}, closed: {clients: 3}}
strategies: [set-px-lua, set-px-lua, redlock]
retries: [native]
thresholds: ["foo: violations == 0"]
expect: {bar: safe}
exclude: [{strategy: nix}]
`
	between := []string{"3:35: load.closed: a load is open or closed", "4:26: strategies.1: the label", `4:38: strategies.2: "redlock" needs independent`,
		`5:11: retries.0: "set-px-lua" cannot wait`, `5:11: retries.0: "redlock" cannot wait`, `6:14: thresholds.0: the label "foo"`,
		`7:10: expect: the label "bar"`, "8:11: exclude.0: it matches no point"}
	for local, want := range map[string]string{
		"keys: {count: -1}":                           `9:15: keys.count: "-1" is negative`,
		"matrix: {sede: [1]}":                         `9:17: the key "sede" does not exist`,
		"matrix: {seed: [1]}":                         `9:10: matrix: "seed" cannot vary`,
		"matrix: {keys.count: []}":                    "9:22: matrix.keys.count: the list is empty: at least one value is needed",
		"matrix: {}":                                  "9:9: matrix: the map is empty",
		"matrix: {keys.count: [1], hold: [9ms, 9ms]}": `9:39: matrix.hold: "9ms" stands here twice`,
	} {
		_, got := read(t, body+local+"\n")
		wants(t, got, append(append([]string{}, between...), want)...)
	}
	_, got := read(t, body, "lock.ttl=5", "keys.count.x.=1")
	wants(t, got, append([]string{"--set: ", `--set lock.ttl: lock.ttl: "5" needs a unit`}, between...)...)
}

func TestNothingIsBlamedForWhatStandsBesideAMistake(t *testing.T) {
	for line, want := range map[string]string{
		"lock: {ttl: 5, max_lease: 1s}":                                                     `5:13: lock.ttl: "5" needs a unit`,
		"topology: {shape: indepedent, nodes: 3}":                                           "5:19: topology.shape: the shape",
		"resource: {kind: conter, fenced: true}":                                            "5:18: resource.kind: the resource",
		"matrix: {load.open.stages: []}":                                                    "5:28: matrix.load.open.stages: the list is empty",
		"exclude: [{strategy: {}}]\nretries: [native]":                                      "5:22: exclude.0.strategy: a value is needed here",
		"retries: [{ful-jitter: {}, as: j}]\nthresholds: ['set-px-lua/j: violations == 0']": "5:12: retries.0: the retry policy",
		"retries: [{fixed: 1ms, as: J}]\nthresholds: ['set-px-lua/j: violations == 0']":     "5:28: retries.0.as: ",
		"retries: [ful-jitter]\nexclude: [{retry: full-jitter}]":                            "5:11: retries.0: the retry policy",
	} {
		_, got := read(t, minimal+line+"\n")
		wants(t, got, want)
	}
	for row, want := range map[string]string{
		"set-px-lau":                   "4:14: strategies.0: the strategy",
		"{name: set-px-lau, as: good}": "4:21: strategies.0.name: the strategy",
	} {
		_, got := read(t, strings.Replace(minimal, "set-px-lua", row, 1)+"expect: {good: safe}\n")
		wants(t, got, want)
	}
	_, got := read(t, strings.Replace(minimal, "open: {rate: 100/s}", "opne: {rate: 100/s}", 1))
	wants(t, got, `3:8: load: the key "opne"`)
}

func TestAddressesAreHostAndPortOrURLsOfThem(t *testing.T) {
	for _, good := range []string{"h:1", "127.0.0.1:65535", "[::1]:6379", "redis://h:6379", "rediss://127.0.0.1:7901", "redis://h:6379/", "rediss://[::1]:6379/0"} {
		s := mustRead(t, minimal, "topology.addresses=['"+good+"']")
		if len(s.Topology.Addresses) != 1 || s.Topology.Addresses[0] != good {
			t.Errorf("%s is read as %v", good, s.Topology.Addresses)
		}
	}
	for bad, want := range map[string]string{
		"127.0.0.1:99999": "has no port from 1 to 65535", "h:0": "has no port", "rediss://h:70000/0": "has no port",
		"redis://h:1/1": "rediss://host:port", "redis://h:1?db=1": "rediss://host:port", "redis://u:p@h:1": "never in an address",
		"http://h:1": "rediss://host:port", "h:1/0": "rediss://host:port", "h": "is not host:port",
	} {
		_, got := read(t, minimal, "topology.addresses=['"+bad+"']")
		wants(t, got, "--set topology.addresses: topology.addresses.0: .. "+want)
	}
}

func TestSettingsOfServersAreCheckedOneByOne(t *testing.T) {
	v := testVocabulary()
	v.CheckSetting = func(name, _ string) error {
		if name == "port" || name == "dir" {
			return fmt.Errorf("config %q cannot be set", name)
		}
		return nil
	}
	_, err := Read("x", []byte(minimal+"topology: {config: {port: 1, hz: 10, dir: /}}\n"), v, nil)
	want := "x:5:21: topology.config: config \"port\" cannot be set\nx:5:38: topology.config: config \"dir\" cannot be set"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestFileMayBeginWithAByteOrderMark(t *testing.T) {
	mustRead(t, "\ufeff"+minimal)
}

func TestThresholdsCanBeDropped(t *testing.T) {
	if s := mustRead(t, minimal+"thresholds: ['violations == 0']\n", "thresholds=[]"); len(s.Thresholds) != 0 {
		t.Errorf("left are %v", s.Thresholds)
	}
}

func TestUnknownNameFarFromAllShowsTheChoices(t *testing.T) {
	_, got := read(t, minimal+"topology: {provider: podman}\n")
	wants(t, got, "5:22: topology.provider: .. there are auto, container, process, embedded, external")
	_, got = read(t, strings.Replace(minimal, "set-px-lua", "{name: sharded, pick: best}", 1))
	wants(t, got, "4:36: strategies.0.pick: .. there are random, hash, least-of-2")
}

func TestLognormalWithoutAMeasurableMeanIsRefused(t *testing.T) {
	_, got := read(t, minimal, "hold={lognormal: {p50: 1ns, p99: 1h}}")
	wants(t, got, "--set hold: hold.lognormal: p50 1ns and p99 1h lie so far apart that the mean is above 24h")
}
