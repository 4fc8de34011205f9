package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestResolvedScenarioReadsBackEqual(t *testing.T) {
	v := testVocabulary()
	rapid.Check(t, func(r *rapid.T) {
		src := drawScenario(r)
		s, err := Read("drawn", []byte(src), v, nil)
		if err != nil {
			r.Fatalf("the drawn scenario is wrong: %v\n%s", err, src)
		}
		resolved := Marshal(s, v)
		again, err := Read("resolved", resolved, v, nil)
		if err != nil {
			r.Fatalf("%v\n%s\nfrom\n%s", err, resolved, src)
		}
		if d := cmp.Diff(s, again); d != "" {
			r.Fatalf("%s\n%s\nfrom\n%s", d, resolved, src)
		}
		if twice := Marshal(again, v); string(twice) != string(resolved) {
			r.Fatalf("written twice:\n%s\n%s", resolved, twice)
		}
		if d := cmp.Diff(names(s.Points()), names(again.Points())); d != "" {
			r.Fatal(d)
		}
	})
}

// pick draws one of the texts; "" leaves the line out.
func pick(r *rapid.T, name string, texts ...string) string {
	return rapid.SampledFrom(texts).Draw(r, name)
}

func drawScenario(r *rapid.T) string {
	var b strings.Builder
	line := func(s string) {
		if s != "" {
			b.WriteString(s + "\n")
		}
	}
	line("apiVersion: lockbench/v1\nname: " + rapid.StringMatching(`[a-z][a-z0-9.-]{0,30}`).Draw(r, "name"))
	if q := strings.TrimSpace(rapid.StringOfN(rapid.RuneFrom([]rune(`aZ0 "'\:#&*-{}[],>|%@é锁µ`+"`")), 1, 40, -1).Draw(r, "question")); q != "" {
		line("question: " + quoted(q))
	}
	line(pick(r, "seed", "", "seed: 42", "seed: 18446744073709551615"))
	line(pick(r, "topology", "", "topology: {provider: process, config: {maxmemory: 10mb, save: '', io-threads: 2}}",
		"topology:\n  provider: external\n  addresses: ['127.0.0.1:6379', '[::1]:7', a.b-c:1]\n  auth: {username: me, password_from: 'env:PW'}\n  tls: {ca: /x/y z.pem, server_name: r}",
		"topology: {cpu: 25%, image: 'valkey/valkey@sha256:abc'}"))
	axes, staged := drawLoad(r, line)
	line(pick(r, "client", "", "client: {open: on-demand}"))
	line(pick(r, "keys", "", "keys: {count: 10000000}", "keys: {count: 20, popularity: {zipf: 0.8}}", "keys: {count: 9, popularity: {hot: {keys: 33.3%, ops: 0.9}}}"))
	line(pick(r, "hold", "", "hold: 0s", "hold: {lognormal: {p50: 5ms, p99: 80ms}}", "hold: {exponential: 1m1s}", "hold: {uniform: {min: 1us, max: 1h}}",
		"hold: {mixture: [{share: 98%, dist: 5ms}, {share: 2%, dist: {pareto: {min: 10ms, p99: 0.5s}}}]}"))
	line(pick(r, "lock", "", "lock: {ttl: 1ms, max_lease: 1h, release_retries: 3}", "lock: {acquire_timeout: 90s, connect_timeout: 1.5s}"))
	line(pick(r, "crash", "", "crash: 0.1%", "crash: 1"))
	line(pick(r, "resource", "", "resource: {kind: counter}", "resource: {kind: counter, fenced: true, rows: [set-px-lua]}"))
	line("strategies: [set-px-lua, " + pick(r, "row", "noop", "{name: noop, as: n.0}", "{name: sharded, pick: hash}",
		"{name: redlock, on: {shape: independent}}", "{name: redlock, drift: 3%, strict: false, on: {shape: independent, nodes: 3}, as: r3}",
		"{name: watchdog, every: 1500us, sabotage: plain-del, as: null-1}") + "]")
	line(pick(r, "retries", "", "retries: [fixed: 10ms]", "retries: [{stages: [50ms x3, 100ms], within: 1s}, fail-fast]",
		"retries: [{full-jitter: {base: 2ms, cap: 64ms}, max_attempts: 10}, {full-jitter: {base: 2ms, cap: 8ms}, as: quick}]",
		"retries: [{linear: {from: 5ms, to: 50ms, steps: 10}}, staged-50-100]"))
	if strings.Contains(b.String(), "null-1") {
		line("expect: {null-1: broken}")
	}
	if !staged {
		line(pick(r, "phases", "", "phases: {warmup: 0s, measure: 100ms}", "phases: {tail: 2h}"))
	}
	line(pick(r, "trials", "", "trials: 1000"))
	line(pick(r, "thresholds", "", `thresholds: ["set-px-lua: response.p99 < 400ms", "violations == 0"]`, "thresholds: [acquired.share>=99%]"))
	line(pick(r, "baseline", "", "baseline: a-a"))
	line(drawMatrix(r, axes))
	return b.String()
}

// drawLoad returns the axes that fit the load.
func drawLoad(r *rapid.T, line func(string)) (axes []string, staged bool) {
	switch pick(r, "load", "open", "stages", "closed") {
	case "open":
		rate := rapid.IntRange(1, 1_000_000).Draw(r, "rate")
		line(fmt.Sprintf("load: {open: {rate: %d/%s%s}%s}", rate, pick(r, "per", "s", "min", "h"), pick(r, "arrivals", "", ", arrivals: constant"),
			pick(r, "more", "", ", max_in_flight: 1", ", bursts: {every: 3s, size: 100, within: 10ms}")))
		return []string{"load.open.rate: [7/min, 100/s, 12k/min]"}, false
	case "stages":
		line("load: {open: {stages: [{rate: 100/s, for: 2s}, {rate: 100/s -> 7/min, for: 1m}]}}")
		return []string{"load.open.stages.1.rate: [100/s -> 200/s, 5/s]", "load.open.stages.0.for: [1s, 2s]"}, true
	}
	line("load: {closed: {clients: 300, think: {exponential: 500ms}}}")
	return []string{"load.closed.clients: [1, 2]", "load.closed.think: [0s, 1s]"}, false
}

func drawMatrix(r *rapid.T, axes []string) string {
	axes = append(axes, "keys.count: [1, 10]", "hold: [5ms, 7ms]", "lock.ttl: [1000ms, 2s]", "keys.popularity: [uniform]")
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(axes), 0, 3, rapid.ID).Draw(r, "axes")
	if len(chosen) == 0 {
		return ""
	}
	m := "matrix: {" + strings.Join(chosen, ", ") + "}"
	if path, _, ok := strings.Cut(chosen[0], ": "); ok && strings.Contains(chosen[0], ",") && rapid.Bool().Draw(r, "exclude") {
		value, _, _ := strings.Cut(strings.TrimPrefix(chosen[0], path+": ["), ",")
		m += fmt.Sprintf("\nexclude: [{%s: %s}]", path, value)
	}
	return m
}

func TestTextsSurviveYAML(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.String().Draw(r, "text")
		if strings.ContainsRune(s, 0) {
			return
		}
		n, err := parse([]byte(quoted(s) + ": [" + quoted(s) + ", {a: " + quoted(s) + "}]\n"))
		if err != nil {
			r.Fatalf("%q: %v", s, err)
		}
		if n.pairs[0].key != s || n.pairs[0].value.items[0].text != s || n.pairs[0].value.items[1].get("a").text != s {
			r.Fatalf("%q comes back as %+v", s, n.pairs[0])
		}
	})
}

func TestDurationsPrintShort(t *testing.T) {
	for text, want := range map[string]string{"3600s": "1h", "90s": "1m30s", "1h0m1s": "1h0m1s", "60000ms": "1m", "24h": "24h", "0s": "0s", "1500us": "1.5ms", "10s": "10s", "10h10m": "10h10m"} {
		d, err := parseDuration(text)
		if err != nil || printDuration(d) != want {
			t.Errorf("%s prints as %s, want %s (%v)", text, printDuration(d), want, err)
		}
		if back, err := parseDuration(printDuration(d)); back != d || err != nil {
			t.Errorf("%s reads back as %v, %v", printDuration(d), back, err)
		}
	}
}
