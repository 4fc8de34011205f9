package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// length of the stages together.
func (o *Open) length() (d time.Duration) {
	for _, s := range o.Stages {
		d = min(d+s.For, 2*MaxDuration)
	}
	return d
}

// check finds what is wrong between keys that are right by themselves. Where one of them is not, nothing is said about
// them together, but everything about the others.
func (r *reader) check(s *Scenario, root *node, params []Param, exclude [][]Param) {
	c := checker{r, s, root, maps.Clone(r.bad), nil}
	c.unsure = c.unlabelled()
	r.unlabelled = c.unsure
	c.load()
	c.phases()
	c.topology("topology", s.Topology)
	c.strategies()
	c.retries(params, exclude)
	c.resource()
	c.scopes()
	if c.reads("lock.ttl", "lock.max_lease") && s.Lock.MaxLease > 0 && s.Lock.MaxLease < s.Lock.TTL {
		c.fail("lock.max_lease", "%s is shorter than the ttl of %s", printDuration(s.Lock.MaxLease), printDuration(s.Lock.TTL))
	}
}

type checker struct {
	r    *reader
	s    *Scenario
	root *node
	bad  map[string]bool // paths of what is wrong by itself
	// unsure names strategies and retries where the label of a row could not be read.
	unsure map[string]bool
}

func (c checker) fail(path, format string, args ...any) {
	c.r.fail(c.r.where(c.root, path), path, format, args...)
}

func (c checker) load() {
	l := c.s.Load
	switch {
	case l.Open != nil && l.Closed != nil:
		c.fail("load.closed", "a load is open or closed, not both")
	case l.Open == nil && l.Closed == nil && !c.has("load"):
	case l.Open == nil && l.Closed == nil:
		c.fail("load", "one of `open` and `closed` is needed")
	case l.Open != nil:
		c.open(*l.Open)
	case c.root.find("load.max_in_flight") != nil:
		c.fail("load.max_in_flight", "only an open load has a bound in flight: a closed one has its clients")
	}
	if l.Bursts != nil && l.Open == nil && c.has("load.open") {
		c.fail("load.bursts", "bursts need an open load")
	}
	if c.reads("load.bursts") && l.Bursts != nil && l.Bursts.Within > l.Bursts.Every {
		c.fail("load.bursts.within", "%s is longer than the time between bursts, %s", printDuration(l.Bursts.Within), printDuration(l.Bursts.Every))
	}
}

func (c checker) open(o Open) {
	rate := c.root.find("load.open.rate") != nil
	stages := c.root.find("load.open.stages") != nil
	switch {
	case rate && stages:
		c.fail("load.open.stages", "an open load has a rate or stages, not both")
	case !rate && !stages && !c.has("load.open.rate"):
	case !rate && !stages:
		c.fail("load.open", "one of `rate` and `stages` is needed")
	case o.length() > MaxDuration:
		c.fail("load.open.stages", "the stages together are longer than %s", printDuration(MaxDuration))
	}
}

func (c checker) phases() {
	if o := c.s.Load.Open; c.reads("load.open.stages", "phases.measure") && o != nil && len(o.Stages) > 0 && c.s.Phases.Measure != o.length() {
		c.fail("phases.measure", "%s is not the sum of the stages, %s; leave it out", printDuration(c.s.Phases.Measure), printDuration(o.length()))
	}
}

func (c checker) topology(path string, t Topology) {
	external := t.Provider == "external" || t.Provider == "auto"
	shaped := c.has(path + ".shape")
	switch {
	case shaped && t.Shape != "independent" && c.root.find(path+".nodes") != nil && t.Nodes != 1:
		c.fail(path+".nodes", "only the shape independent has several nodes, not %s", t.Shape)
	case shaped && t.Shape == "single" && c.root.find(path+".replicas") != nil:
		c.fail(path+".replicas", "the shape single has no replicas")
	case len(t.Addresses) > 0 && !external && c.has("topology.provider"):
		c.fail("topology.addresses", "only the provider external takes addresses, not %s", t.Provider)
	case len(t.Addresses) > 0 && len(t.Addresses) < t.Nodes:
		c.fail(path, "%d nodes need as many addresses, topology.addresses has %d", t.Nodes, len(t.Addresses))
	}
	if t.Auth.Username != "" && c.root.find("topology.auth.password_from") == nil && path == "topology" {
		c.fail("topology.auth", "a user needs a password: say where it is by password_from")
	}
}

func (c checker) strategies() {
	labels := map[string]int{}
	for i, row := range c.s.rows() {
		path := fmt.Sprintf("strategies.%d", i%max(1, len(c.s.Strategies)))
		if first, ok := labels[row.Label]; ok && row.Label != "" && !c.bad[path+".as"] {
			c.fail(path, "the label %q is already that of row %d: tell them apart by `as`", row.Label, first+1)
		} else {
			labels[row.Label] = i
		}
		if i < len(c.s.Strategies) {
			c.strategy(path, row)
		}
	}
}

func (c checker) strategy(path string, row Strategy) {
	name, known := lookup(c.r.voc.Strategies, row.Name)
	if !known || row.On != nil && row.On.Shape == "" { // which has been reported
		return
	}
	shape, shaped := c.s.Topology.Shape, c.has("topology.shape")
	if row.On != nil {
		shape, shaped = row.On.Shape, true
		c.topology(path+".on", *row.On)
	}
	if need := c.needsOf(name, row); shaped && c.has(path+".base") && name.Missing == "" && !fits(need, shape) {
		c.fail(path, "%q needs %s, but the shape is %s; give the row its own, as `on: {shape: %s}`", row.Name, needs(need), shape, need)
	}
	if c.s.Nested > 0 && c.has(path+".base") && name.Missing == "" && row.Name != "reentrant" && row.Options["base"] != "reentrant" {
		c.fail("hold.nested", "%q cannot be entered again by its holder: nested needs a reentrant strategy", row.Name)
	}
	if row.Sabotage != "" {
		c.sabotage(path, name, row)
	}
}

// needsOf is the shape that a row needs: what wraps a base needs what the base does.
func (c checker) needsOf(name Name, row Strategy) string {
	if base, ok := c.baseOf(row.Options); ok && name.Needs == "single" {
		return base.Needs
	}
	return name.Needs
}

func (c checker) baseOf(options map[string]any) (Name, bool) {
	base, _ := options["base"].(string)
	return lookup(c.r.voc.Strategies, base)
}

// fits tells whether a shape offers what a strategy needs.
func fits(needs, shape string) bool {
	switch needs {
	case "-", "":
		return true
	case "single": // one keyspace
		return slices.Contains([]string{"single", "replicated", "sentinel", "cluster"}, shape)
	case "replicated":
		return shape == "replicated" || shape == "sentinel"
	}
	return needs == shape
}

func needs(shape string) string {
	return map[string]string{"single": "one keyspace", "independent": "independent servers", "replicated": "a master with replicas"}[shape]
}

func (c checker) sabotage(path string, name Name, row Strategy) {
	if how, ok := lookup(c.r.voc.Sabotages, row.Sabotage); ok && name.Missing == "" && c.has(path+".base") && !c.applies(how, name, row.Options) {
		c.fail(path+".sabotage", "%q changes nothing in %q; it applies to %s", row.Sabotage, row.Name, strings.Join(how.Applies, ", "))
	}
	if c.root.find(path+".as") == nil {
		c.fail(path, "a sabotaged row needs a name of its own: `as`")
	}
	if !c.has("expect") {
		return
	}
	for k := range c.s.Expect {
		if strategy, _, _ := strings.Cut(k, "/"); strategy == row.Label {
			return
		}
	}
	c.fail(path, "a sabotaged row needs an `expect` for %q", row.Label)
}

// applies tells whether a sabotage changes a strategy, in itself, in its base, or in the base of that.
func (c checker) applies(how, name Name, options map[string]any) bool {
	if len(how.Applies) == 0 || slices.Contains(how.Applies, name.Name) {
		return true
	}
	base, ok := c.baseOf(options)
	if !ok || base.Name == name.Name {
		return false
	}
	inner := map[string]any{}
	for _, o := range base.Options {
		if o.Name == "base" {
			inner["base"] = o.Default
		}
	}
	return c.applies(how, base, inner)
}

func (c checker) retries(params []Param, exclude [][]Param) {
	labels := map[string]int{}
	for i, p := range c.s.Retries {
		path := fmt.Sprintf("retries.%d", i)
		if first, ok := labels[p.Label]; ok && p.Label != "" && !c.bad[path+".as"] {
			c.fail(path, "the label %q is already that of row %d: tell them apart by `as`", p.Label, first+1)
		} else {
			labels[p.Label] = i
		}
		if p.Name == "native" {
			c.native(path, p, params, exclude)
		}
	}
}

// native needs strategies that wait by their own means.
func (c checker) native(path string, p Retry, params []Param, exclude [][]Param) {
	if !c.reads("exclude") {
		return
	}
	for _, row := range c.s.Strategies {
		name, ok := lookup(c.r.voc.Strategies, row.Name)
		if ok && name.Missing == "" && !name.Native && !excluded(exclude, params, row.Label, p.Label) {
			c.fail(path, "%q cannot wait by its own means (%s can); skip the pair by `exclude: [{strategy: %s, retry: %s}]`",
				row.Name, strings.Join(c.natives(), ", "), row.Label, p.Label)
		}
	}
}

func (c checker) natives() (names []string) {
	for _, n := range c.r.voc.Strategies {
		if n.Native && n.Missing == "" {
			names = append(names, n.Name)
		}
	}
	return names
}

func (c checker) resource() {
	x := c.s.Resource
	if !c.reads("resource.kind", "resource.fenced") {
		return
	}
	if x.Kind == "none" && (x.Fenced || len(x.Rows) > 0) {
		c.fail("resource", "only a resource can be fenced: give its kind, as counter")
	}
	if x.Kind != "postgres" && (x.Address != "" || x.Auth != Auth{}) {
		c.fail("resource", "only the kind postgres takes address and auth")
	}
	if len(x.Rows) > 0 && !x.Fenced {
		c.fail("resource.rows", "only a fenced resource looks at tokens: set fenced")
	}
	for i, l := range x.Rows {
		if l != "" && !c.knows(l) || strings.Contains(l, "/") {
			c.unknownLabel(fmt.Sprintf("resource.rows.%d", i), l)
		}
	}
}

// scopes of thresholds and expects must name rows.
func (c checker) scopes() {
	for i, t := range c.s.Thresholds {
		if t.Scope != "" && !c.knows(t.Scope) {
			c.unknownLabel(fmt.Sprintf("thresholds.%d", i), t.Scope)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.s.Expect)) {
		if !c.knows(k) {
			c.unknownExpect(k)
			continue
		}
		if name := c.nameOf(k); name.Excludes == "none" {
			c.r.fail(c.expectAt(k), "expect", "%q excludes nobody: it has no verdict", name.Name)
		}
	}
}

func (c checker) nameOf(scope string) Name {
	l, _, _ := strings.Cut(scope, "/")
	for _, row := range c.s.Strategies {
		if row.Label == l {
			name, _ := lookup(c.r.voc.Strategies, row.Name)
			return name
		}
	}
	return Name{}
}

// knows tells whether a scope names a row, or may name one whose label could not be read.
func (c checker) knows(scope string) bool {
	strategy, retry, refined := strings.Cut(scope, "/")
	return c.s.knownScope(scope) ||
		(c.unsure["strategies"] || c.s.knownScope(strategy)) &&
			(!refined || c.unsure["retries"] || slices.ContainsFunc(c.s.Retries, func(x Retry) bool { return x.Label == retry }))
}

func (c checker) unknownLabel(path, l string) {
	c.r.unknown(c.r.where(c.root, path), path, "the label", l, c.s.scopes())
}

func (c checker) unknownExpect(k string) {
	c.r.unknown(c.expectAt(k), "expect", "the label", k, c.s.scopes())
}

// expectAt is where a key of expect stands; a label may contain dots, so it is no path.
func (c checker) expectAt(key string) position {
	if n := c.root.get("expect"); n != nil {
		for _, p := range n.pairs {
			if p.key == key {
				return p.at
			}
		}
	}
	return c.r.where(c.root, "expect")
}
