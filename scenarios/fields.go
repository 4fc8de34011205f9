package scenarios

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of lists and small numbers.
const (
	maxRetries     = 100
	maxThresholds  = 200
	maxFaults      = 100
	maxLoadStages  = 200
	maxNodes       = 15
	maxReplicas    = 5
	maxProcesses   = 64
	maxConfig      = 64
	maxAddresses   = 64
	maxNested      = 100
	maxReleaseRuns = 10
)

// verdicts that an expect can name; results.Verdict has the same texts.
var verdicts = plainNames("safe", "broken", "deadlock", "unavailable", "unknown")

// defaults is a scenario in which every key with a default has it.
func defaults() Scenario {
	return Scenario{
		Seed:     1,
		Topology: Topology{Shape: "single", Provider: "auto", Image: "redis:7.4-alpine"},
		Load:     Load{MaxInFlight: 2000, Processes: 1},
		Client:   Client{Library: "go-redis", Mode: "pooled", Open: "before"},
		Keys:     Keys{Count: 1, Popularity: Popularity{Kind: "uniform"}},
		Hold:     Constant(5 * time.Millisecond),
		Lock:     Lock{TTL: 30 * time.Second, AcquireTimeout: 2 * time.Second, ConnectTimeout: 2 * time.Second},
		Resource: Resource{Kind: "none"},
		Retries:  []Retry{{Name: "fail-fast", Label: "fail-fast"}},
		Phases:   Phases{Warmup: 2 * time.Second, Measure: 10 * time.Second},
		Trials:   Trials{Count: 3},
	}
}

// fields of a scenario file, in the order in which Marshal writes them. The matrix stands apart (matrixFields).
func (s *Scenario) fields(v Vocabulary) []field {
	return []field{
		{name: "apiVersion", doc: "version of this format", required: true, form: versionForm()},
		{name: "name", doc: "short name of the experiment, part of the name of its results", required: true, form: textForm(&s.Name, nameText, "a name of a-z 0-9 . -")},
		{name: "question", doc: "what the experiment answers; the title of its report", skip: unset(&s.Question), form: textForm(&s.Question, anyText, "a question")},
		{name: "seed", doc: "all randomness follows from it: the same seed gives the same schedule", form: seedForm(&s.Seed)},
		{name: "topology", doc: "servers, for rows that do not say `on:`", form: mapForm(s.Topology.fields(v)...)},
		{name: "load", doc: "who wants locks, and when: open or closed", required: true, form: mapForm(s.Load.fields(v)...)},
		{name: "client", doc: "client library and how it connects", form: mapForm(s.Client.fields()...)},
		{name: "keys", doc: "locks that are wanted", form: mapForm(s.Keys.fields()...)},
		{name: "hold", doc: "time in the critical section: 5ms, or a map with one distribution (and `nested`)", form: holdForm(s, v)},
		{name: "lock", doc: "settings of the lock", form: mapForm(s.Lock.fields()...)},
		{name: "network", doc: "delay between client and server", form: networkForm(v), skip: func() bool { return true }},
		{name: "crash", doc: "share of holders that die while holding and never release", skip: unset(&s.Crash), form: ratioForm(&s.Crash, 0, 1)},
		{name: "resource", doc: "what the lock protects", form: mapForm(s.Resource.fields()...)},
		{name: "strategies", doc: "rows to compare: a name, or a map with name, options, as, on, sabotage", required: true, form: listForm(&s.Strategies, "strategies", maxRows, func(p *Strategy) form { return strategyForm(p, v) })},
		{name: "retries", doc: "how to wait: a name, or a map with one policy and max_attempts, within, as; fail-fast where left out", form: listForm(&s.Retries, "retries", maxRetries, func(p *Retry) form { return retryForm(p, v) })},
		{name: "phases", doc: "parts of a trial", form: mapForm(s.phaseFields()...)},
		{name: "trials", doc: "measurements of each point; 3 where left out, 1 with faults", form: trialsForm(&s.Trials)},
		{name: "thresholds", doc: "what must hold, as \"response.p99 < 400ms\" or \"set-px-lua/full-jitter: violations == 0\"", skip: func() bool { return len(s.Thresholds) == 0 }, form: thresholdsForm(&s.Thresholds, v)},
		{name: "faults", doc: "what goes wrong during the trial", skip: func() bool { return len(s.Faults) == 0 }, form: listForm(&s.Faults, "faults", maxFaults, func(f *Fault) form { return faultForm(f, v) })},
		{name: "expect", doc: "verdict that each label (or label/retry) must get in every trial", skip: func() bool { return len(s.Expect) == 0 }, form: expectForm(&s.Expect)},
		{name: "baseline", doc: "a-a: every point once more under another name, to show the noise of the machine", skip: unset(&s.Baseline), form: choiceForm(&s.Baseline, "the baseline", plainNames("a-a"))},
	}
}

func versionForm() form {
	return form{
		read: func(r *reader, n *node, path string) {
			if t, ok := r.scalar(n, path, APIVersion); ok && t != APIVersion {
				r.fail(n.at, path, "%q is not a version that this build reads: it reads %s", t, APIVersion)
			}
		},
		write:  func() *node { return text(APIVersion) },
		schema: schema{"const": APIVersion},
	}
}

func (t *Topology) fields(v Vocabulary) []field {
	return append(shapeFields(t, v),
		field{name: "provider", doc: "who runs the servers; auto takes the first that can", form: choiceForm(&t.Provider, "the provider", v.Providers)},
		field{name: "image", doc: "container image", form: textForm(&t.Image, imageText, "an image, as redis:7.4-alpine")},
		field{name: "cpu", doc: "CPU quota of a container on purpose, as 25%; stamped on every figure", skip: unset(&t.CPU), form: textForm(&t.CPU, cpuText, "a quota, as 25%")},
		field{name: "config", doc: "settings of servers that lockbench starts", skip: func() bool { return len(t.Config) == 0 }, form: configForm(&t.Config, v)},
		field{name: "addresses", doc: "host:port of each external server", skip: func() bool { return len(t.Addresses) == 0 }, form: listForm(&t.Addresses, "addresses", maxAddresses, serverForm)},
		field{name: "auth", doc: "user of an external server", skip: unset(&t.Auth), form: mapForm(t.Auth.fields()...)},
		field{name: "tls", doc: "TLS to an external server", skip: func() bool { return t.TLS == nil }, form: orNil(&t.TLS, TLS{}, (*TLS).fields)},
	)
}

func shapeFields(t *Topology, v Vocabulary) []field {
	return []field{
		{name: "shape", doc: "how the servers belong together", form: choiceForm(&t.Shape, "the shape", v.Shapes)},
		{name: "nodes", doc: "independent servers; 5 where left out", skip: func() bool { return t.Nodes == t.defaultNodes() }, form: intForm(&t.Nodes, 1, maxNodes)},
		{name: "replicas", doc: "replicas of each master", skip: func() bool { return t.Replicas == t.defaultReplicas() }, form: intForm(&t.Replicas, 1, maxReplicas)},
	}
}

// onForm is the topology of one row: shape, nodes and replicas; the rest is the scenario's.
func onForm(p **Topology, v Vocabulary) form {
	f := orNil(p, Topology{}, func(t *Topology) []field { return onFields(t, v) })
	f.describe = func() schema { return schema{"$ref": "#/$defs/on"} }
	return f
}

func onFields(t *Topology, v Vocabulary) []field {
	fields := shapeFields(t, v)
	fields[0].required = true
	return fields
}

// defaultNodes is the number of keyspaces where a file does not say it.
func (t *Topology) defaultNodes() int {
	switch {
	case t.Shape == "independent" && len(t.Addresses) > 0:
		return len(t.Addresses)
	case t.Shape == "independent":
		return 5
	}
	return 1
}

// defaultReplicas is the number of replicas where a file does not say it.
func (t *Topology) defaultReplicas() int {
	if t.Shape == "replicated" || t.Shape == "sentinel" {
		return 1
	}
	return 0
}

func addressForm(p *string) form { return addressOf(p, addressText, "host:port") }

// serverForm reads the address of a Redis server, which may be a URL.
func serverForm(p *string) form {
	return addressOf(p, serverText, "host:port, redis://host:port or rediss://host:port")
}

func addressOf(p *string, pattern *regexp.Regexp, want string) form {
	f := textForm(p, pattern, want+"; user and password stand under auth, never in an address")
	read := f.read
	f.read = func(r *reader, n *node, path string) {
		if n.kind == scalar && strings.ContainsAny(n.text, "@/") && !pattern.MatchString(strings.TrimSpace(n.text)) {
			// It may hold a password: the text is not repeated.
			r.fail(n.at, path, "an address is %s; user and password stand under auth, never in an address", want)
			return
		}
		before := r.all
		read(r, n, path)
		if r.all == before && !portOf(*p) {
			r.fail(n.at, path, "%q has no port from 1 to 65535", *p)
		}
	}
	return f
}

// portOf tells whether the port of an address exists.
func portOf(address string) bool {
	address = strings.TrimRight(serverPath.ReplaceAllString(address, ""), "/")
	port, err := strconv.ParseUint(address[strings.LastIndexByte(address, ':')+1:], 10, 16)
	return err == nil && port > 0
}

// configForm reads names and values of server settings.
func configForm(p *map[string]string, voc Vocabulary) form {
	return form{
		read: func(r *reader, n *node, path string) {
			if n.kind != mapping || len(n.pairs) > maxConfig {
				r.fail(n.at, path, "a map with at most %d settings is needed here", maxConfig)
				return
			}
			m := map[string]string{}
			for _, x := range n.pairs {
				if !settingText(x.key) {
					r.fail(x.at, path, "%q is no name of a setting", x.key)
				}
				if v, ok := r.scalar(x.value, join(path, x.key), "the value of a setting"); ok {
					m[x.key] = v
					if voc.CheckSetting == nil || !settingText(x.key) {
						continue
					}
					if err := voc.CheckSetting(x.key, v); err != nil {
						r.fail(x.at, path, "%s", err)
					}
				}
			}
			*p = m
		},
		write: func() *node {
			m := mapOf()
			for _, k := range slices.Sorted(maps.Keys(*p)) {
				m.put(k, text((*p)[k]))
			}
			return m
		},
		schema: schema{"type": "object", "maxProperties": maxConfig, "additionalProperties": schema{"type": []string{"string", "number", "boolean"}}},
	}
}

func settingText(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (a *Auth) fields() []field {
	return []field{
		{name: "username", doc: "ACL user", skip: unset(&a.Username), form: textForm(&a.Username, anyText, "a name")},
		{name: "password_from", doc: "where the password is: env:NAME or file:PATH", skip: unset(&a.PasswordFrom), form: secretForm(&a.PasswordFrom)},
	}
}

// secretForm never repeats the text: it may be the password itself.
func secretForm(p *string) form {
	f := textForm(p, passwordText, "env:NAME or file:PATH")
	f.read = func(r *reader, n *node, path string) {
		t, ok := r.scalar(n, path, "env:NAME or file:PATH")
		if ok && (len(t) > maxText || !passwordText.MatchString(t)) {
			r.fail(n.at, path, "say where the password is, as env:NAME or file:PATH; the password itself never stands in a scenario")
			return
		}
		*p = t
	}
	return f
}

func (t *TLS) fields() []field {
	file := func(p *string, name, doc string) field {
		return field{name: name, doc: doc, skip: unset(p), form: textForm(p, anyText, "a path")}
	}
	return []field{
		file(&t.CA, "ca", "file with the authority's certificate"),
		file(&t.Cert, "cert", "file with the client's certificate"),
		file(&t.Key, "key", "file with the client's key"),
		{name: "server_name", doc: "name in the server's certificate", skip: unset(&t.ServerName), form: textForm(&t.ServerName, anyText, "a host name")},
	}
}

func (l *Load) fields(v Vocabulary) []field {
	return []field{
		{name: "open", doc: "arrivals do not wait for earlier sessions", form: orNil(&l.Open, Open{Arrivals: "poisson"}, (*Open).fields)},
		{name: "closed", doc: "fixed clients that think between sessions", form: orNil(&l.Closed, Closed{Think: Constant(0)}, func(c *Closed) []field { return c.fields(v) })},
		{name: "bursts", doc: "arrivals on top of an open load", form: orNil(&l.Bursts, Bursts{}, (*Bursts).fields)},
		{name: "max_in_flight", doc: "sessions at the same time; arrivals beyond it are dropped and counted (open load)", skip: func() bool { return l.Open == nil && l.Closed != nil }, form: intForm(&l.MaxInFlight, 1, MaxInFlight)},
		{name: "processes", doc: "worker processes that share the one schedule", form: processesForm(&l.Processes)},
	}
}

func processesForm(p *int) form {
	f := intForm(p, 1, maxProcesses)
	read := f.read
	f.read = func(r *reader, n *node, path string) {
		read(r, n, path)
		if *p > 1 {
			r.lacks(n, path, "processes")
		}
	}
	return f
}

func (o *Open) fields() []field {
	return []field{
		{name: "rate", doc: "arrivals, as 200/s", skip: unset(&o.Rate), form: rateForm(&o.Rate)},
		{name: "arrivals", doc: "constant: evenly spaced; poisson: independent of each other", form: choiceForm(&o.Arrivals, "the arrivals", plainNames("constant", "poisson"))},
		{name: "stages", doc: "rates one after another, instead of rate", skip: func() bool { return len(o.Stages) == 0 }, form: listForm(&o.Stages, "stages", maxLoadStages, stageForm)},
	}
}

func stageForm(s *Stage) form {
	return mapForm(
		field{name: "rate", doc: "arrivals, as 100/s or 100/s -> 800/s", required: true, form: rampForm(s)},
		field{name: "for", doc: "length of the stage", required: true, form: durationForm(&s.For, time.Millisecond, MaxDuration)},
	)
}

// rampForm reads 100/s, or 100/s -> 800/s.
func rampForm(s *Stage) form {
	parse := func(t string) (Stage, error) {
		from, to, ramp := strings.Cut(t, "->")
		rate := bounded(parseRate, MinRate, MaxRate, printRate)
		a, err := rate(strings.TrimSpace(from))
		if err != nil || !ramp {
			return Stage{From: a, To: a, For: s.For}, err
		}
		b, err := rate(strings.TrimSpace(to))
		return Stage{From: a, To: b, For: s.For}, err
	}
	print := func(s Stage) string {
		if s.From == s.To {
			return printRate(s.From)
		}
		return printRate(s.From) + " -> " + printRate(s.To)
	}
	return scalarForm(s, "a rate", parse, print, schema{"type": "string", "pattern": rampPattern})
}

func (c *Closed) fields(v Vocabulary) []field {
	return []field{
		{name: "clients", doc: "clients that each do one session after another", required: true, form: intForm(&c.Clients, 1, MaxClients)},
		{name: "think", doc: "time between a client's sessions", form: distForm(&c.Think, v)},
	}
}

func (b *Bursts) fields() []field {
	return []field{
		{name: "every", doc: "time from one burst to the next", required: true, form: durationForm(&b.Every, time.Millisecond, MaxDuration)},
		{name: "size", doc: "arrivals in a burst", required: true, form: intForm(&b.Size, 1, MaxInFlight)},
		{name: "within", doc: "time over which a burst is spread evenly; 0s: all at once", form: durationForm(&b.Within, 0, MaxDuration)},
	}
}

func (c *Client) fields() []field {
	return []field{
		{name: "library", doc: "client library", form: featureChoice(&c.Library, "the library", "go-redis", "rueidis")},
		{name: "mode", doc: "a pool of connections, or one that all share", form: featureChoice(&c.Mode, "the mode", "pooled", "multiplexed")},
		{name: "open", doc: "before: connections are opened before measuring; on-demand: by the sessions, whose waits then do not invalidate", form: featureChoice(&c.Open, "the opening", "before", "on-demand")},
	}
}

// featureChoice is a choice whose names a build may lack as features.
func featureChoice(p *string, what string, names ...string) form {
	f := choiceForm(p, what, plainNames(names...))
	read := f.read
	f.read = func(r *reader, n *node, path string) {
		read(r, n, path)
		r.lacks(n, path, *p)
	}
	return f
}

func (k *Keys) fields() []field {
	return []field{
		{name: "count", doc: "different locks", form: intForm(&k.Count, 1, MaxKeys)},
		{name: "popularity", doc: "uniform, {zipf: s} or {hot: {keys: 10%, ops: 90%}}", form: popularityForm(&k.Popularity)},
	}
}

// holdForm reads a distribution, and `nested` beside it.
func holdForm(s *Scenario, v Vocabulary) form {
	nested := intForm(&s.Nested, 0, maxNested)
	return form{
		read: func(r *reader, n *node, path string) {
			if x := n.get("nested"); x != nil {
				nested.read(r, x, join(path, "nested"))
				n = n.without("nested")
			}
			r.dist(&s.Hold, n, path, true)
		},
		write: func() *node {
			h := writeDist(s.Hold, v)
			if s.Nested == 0 {
				return h
			}
			if h.kind == scalar {
				h = mapOf(pair{key: "constant", value: h})
			}
			h.put("nested", nested.write())
			return h
		},
		schema: schema{"$ref": "#/$defs/hold"},
	}
}

func (l *Lock) fields() []field {
	return []field{
		{name: "ttl", doc: "time after which the server forgets the lock", form: durationForm(&l.TTL, time.Millisecond, MaxDuration)},
		{name: "acquire_timeout", doc: "longest time that a session waits for the lock", form: durationForm(&l.AcquireTimeout, time.Millisecond, MaxDuration)},
		{name: "max_lease", doc: "no renewal beyond this time after the grant; without it a live holder renews for ever", skip: unset(&l.MaxLease), form: durationForm(&l.MaxLease, time.Millisecond, MaxDuration)},
		{name: "connect_timeout", doc: "longest time that opening a connection may take", form: durationForm(&l.ConnectTimeout, time.Millisecond, MaxDuration)},
		{name: "release_retries", doc: "further tries of a release without reply", form: intForm(&l.ReleaseRetries, 0, maxReleaseRuns)},
	}
}

// networkForm checks `network` and refuses it where the build lacks it.
func networkForm(v Vocabulary) form {
	var rtt Dist
	f := mapForm(field{name: "rtt", doc: "round trip added between client and server", required: true, form: distForm(&rtt, v)})
	read := f.read
	f.read = func(r *reader, n *node, path string) {
		r.lacks(n, path, "network")
		read(r, n, path)
	}
	return f
}

func (x *Resource) fields() []field {
	return []field{
		{name: "kind", doc: "none; counter: one in memory for each key; postgres: a row", form: featureChoice(&x.Kind, "the resource", "none", "counter", "postgres")},
		{name: "fenced", doc: "the resource refuses a write with an older fencing token", form: boolForm(&x.Fenced)},
		{name: "rows", doc: "labels of the rows that present their fencing token; all that have one where left out", skip: func() bool { return len(x.Rows) == 0 }, form: listForm(&x.Rows, "labels", maxRows, func(p *string) form { return textForm(p, nameText, "a label") })},
		{name: "address", doc: "host:port of the database", skip: unset(&x.Address), form: addressForm(&x.Address)},
		{name: "auth", doc: "user of the database", skip: unset(&x.Auth), form: mapForm(x.Auth.fields()...)},
	}
}

func (s *Scenario) phaseFields() []field {
	staged := func() bool { return s.Load.Open != nil && len(s.Load.Open.Stages) > 0 }
	return []field{
		{name: "warmup", doc: "load before measuring, discarded", form: durationForm(&s.Phases.Warmup, 0, MaxDuration)},
		{name: "measure", doc: "measured time; the sum of the stages where the load has some", skip: staged, form: durationForm(&s.Phases.Measure, time.Millisecond, MaxDuration)},
		{name: "tail", doc: "load after the faults, to see whether the locks recover", skip: unset(&s.Phases.Tail), form: durationForm(&s.Phases.Tail, 0, MaxDuration)},
	}
}

// trialsForm reads 3, or {until: 5%, max: 30}.
func trialsForm(t *Trials) form {
	count := intForm(&t.Count, 1, MaxTrials)
	until := mapForm(
		field{name: "until", doc: "width of the interval at which it is enough, as 5%", required: true, form: ratioForm(&t.Until, 0.001, 1)},
		field{name: "max", doc: "at most so many", required: true, form: intForm(&t.Max, 1, MaxTrials)},
	)
	return form{
		read: func(r *reader, n *node, path string) {
			if n.kind != mapping {
				count.read(r, n, path)
				return
			}
			until.read(r, n, path)
			r.lacks(n, path, "until")
		},
		write: func() *node {
			if t.Until > 0 {
				return until.write()
			}
			return count.write()
		},
		schema: schema{"anyOf": []any{count.schema, until.jsonSchema()}},
	}
}

func faultForm(f *Fault, v Vocabulary) form {
	m := mapForm(f.fields(v)...)
	read := m.read
	m.read = func(r *reader, n *node, path string) {
		read(r, n, path)
		if n.kind == mapping && (n.get("at") == nil) == (n.get("when") == nil) {
			r.fail(n.at, path, "a fault needs one of `at` and `when`")
		}
	}
	return m
}

func (f *Fault) fields(v Vocabulary) []field {
	return []field{
		{name: "kind", doc: "what happens", required: true, form: choiceForm(&f.Kind, "the fault", v.Faults)},
		{name: "at", doc: "time from the start of the measured window", skip: func() bool { return f.When != nil }, form: durationForm(&f.At, 0, MaxDuration)},
		{name: "when", doc: "what sets it off", skip: func() bool { return f.When == nil }, form: orNil(&f.When, When{}, (*When).fields)},
		{name: "node", doc: "which server, from 0", skip: unset(&f.Node), form: intForm(&f.Node, 0, maxNodes)},
		{name: "process", doc: "which worker process, from 0", skip: unset(&f.Process), form: intForm(&f.Process, 0, maxProcesses)},
		{name: "direction", doc: "to the server, or from it", skip: unset(&f.Direction), form: choiceForm(&f.Direction, "the direction", plainNames("request", "reply", "both"))},
		{name: "by", doc: "how far, of a clock", skip: unset(&f.By), form: durationForm(&f.By, 0, MaxDuration)},
		{name: "for", doc: "how long", skip: unset(&f.For), form: durationForm(&f.For, 0, MaxDuration)},
	}
}

func (w *When) fields() []field {
	holding := mapForm(field{name: "process", doc: "the process that holds", required: true, form: intForm(&w.Process, 0, maxProcesses)})
	return []field{
		{name: "command", doc: "name of a command", skip: unset(&w.Command), form: textForm(&w.Command, anyText, "the name of a command")},
		{name: "nth", doc: "which of them, from 1", skip: unset(&w.Nth), form: intForm(&w.Nth, 1, maxAttempts)},
		{name: "side", doc: "before the server sees it, or before the client sees the reply", skip: unset(&w.Side), form: choiceForm(&w.Side, "the side", plainNames("request", "reply"))},
		{name: "process", doc: "the process that sends it", skip: func() bool { return w.Holding || w.Process == 0 }, form: intForm(&w.Process, 0, maxProcesses)},
		{name: "holding", doc: "while this process holds a lock", skip: func() bool { return !w.Holding }, form: form{
			read:     func(r *reader, n *node, path string) { w.Holding = true; holding.read(r, n, path) },
			write:    holding.write,
			describe: holding.describe,
		}},
	}
}

func expectForm(p *map[string]string) form {
	return form{
		read: func(r *reader, n *node, path string) {
			if n.kind != mapping {
				r.fail(n.at, path, "a map from label to verdict is needed here, not %s", n.kind)
				return
			}
			m := map[string]string{}
			for _, x := range n.pairs {
				var v string
				choiceForm(&v, "the verdict", verdicts).read(r, x.value, join(path, x.key))
				m[x.key] = v
			}
			*p = m
		},
		write: func() *node {
			m := mapOf()
			for _, k := range slices.Sorted(maps.Keys(*p)) {
				m.put(k, text((*p)[k]))
			}
			return m
		},
		schema: schema{"type": "object", "additionalProperties": schema{"enum": namesOf(verdicts)}},
	}
}

func thresholdsForm(p *[]Threshold, v Vocabulary) form {
	f := listForm(p, "thresholds", maxThresholds, func(t *Threshold) form {
		return scalarForm(t, "a threshold, as \"response.p99 < 400ms\",",
			func(s string) (Threshold, error) { return ParseThreshold(s, v) },
			func(t Threshold) string { return t.Text },
			schema{"type": "string", "maxLength": maxText, "pattern": thresholdPattern})
	})
	read, describe := f.read, f.describe
	f.read = func(r *reader, n *node, path string) {
		if n.kind == list && len(n.items) == 0 { // as --set thresholds=[] drops those of the file
			return
		}
		read(r, n, path)
	}
	f.describe = func() schema {
		s := describe()
		s["minItems"] = 0
		return s
	}
	return f
}

// matrixFields stand in the file beside fields; they describe many scenarios, not one.
func matrixFields(axes *[]Axis, exclude *[][]Param) []field {
	return []field{
		{name: "matrix", doc: "paths and the values they take, as {load.open.rate: [50/s, 100/s]}; every combination is measured", skip: func() bool { return len(*axes) == 0 }, form: matrixForm(axes)},
		{name: "exclude", doc: "points to skip: a list of maps with matrix paths, strategy, retry (labels); all of one map must match", skip: func() bool { return len(*exclude) == 0 }, form: excludeForm(exclude)},
	}
}

func matrixForm(p *[]Axis) form {
	return form{
		read: func(r *reader, n *node, path string) { *p = r.axes(n, path) },
		write: func() *node {
			m := mapOf()
			for _, a := range *p {
				l := listOf()
				for _, v := range a.Values {
					l.items = append(l.items, text(v))
				}
				m.put(a.Path, l)
			}
			return m
		},
		schema: schema{"type": "object", "minProperties": 1, "additionalProperties": schema{
			"type": "array", "minItems": 1, "maxItems": MaxPoints, "items": schema{"type": []string{"string", "number", "boolean"}}}},
	}
}

func excludeForm(p *[][]Param) form {
	return listForm(p, "exclusions", MaxPoints, func(e *[]Param) form {
		return form{
			read: func(r *reader, n *node, path string) {
				if n.kind != mapping || len(n.pairs) == 0 {
					r.fail(n.at, path, "a map with matrix paths, strategy or retry is needed here, not %s", n.kind)
					return
				}
				for _, x := range n.pairs {
					if v, ok := r.scalar(x.value, join(path, x.key), "a value"); ok {
						*e = append(*e, Param{Path: x.key, Value: v})
					}
				}
			},
			write: func() *node {
				m := mapOf()
				for _, x := range *e {
					m.put(x.Path, text(x.Value))
				}
				return m
			},
			schema: schema{"type": "object", "minProperties": 1, "additionalProperties": schema{"type": []string{"string", "number", "boolean"}}},
		}
	})
}

// label of a row and retry, as `expect` and thresholds name them.
func label(strategy, retry string) string { return fmt.Sprintf("%s/%s", strategy, retry) }
