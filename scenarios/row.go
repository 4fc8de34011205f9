package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of rows and their options.
const (
	maxRows     = 100
	maxAttempts = 1_000_000
	maxStages   = 100
)

// options reads the options of a name: n is nothing, a bare value, or a map. Defaults are filled in.
func (r *reader) options(name Name, n *node, at position, path string) map[string]any {
	switch {
	case n.kind == null || n.kind == mapping && len(n.pairs) == 0:
		return r.optionMap(name, mapOf(), at, path)
	case n.kind == mapping:
		return r.optionMap(name, n, at, path)
	case name.Bare == "":
		r.fail(n.at, path, "%s", takes(name))
		return nil
	}
	out := map[string]any{}
	for _, o := range name.Options {
		if o.Name == name.Bare {
			if v, ok := r.option(o, n, path); ok {
				out[o.Name] = v
			}
		}
	}
	r.defaults(name, &node{kind: mapping, pairs: []pair{{key: name.Bare, value: n}}}, out, at, path)
	return out
}

func takes(name Name) string {
	if len(name.Options) == 0 {
		return fmt.Sprintf("%q takes no value", name.Name)
	}
	return fmt.Sprintf("%q takes a map with %s", name.Name, strings.Join(optionNames(name.Options), ", "))
}

func optionNames(options []Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return names
}

func (r *reader) optionMap(name Name, n *node, at position, path string) map[string]any {
	out := map[string]any{}
	for _, p := range n.pairs {
		i := slices.IndexFunc(name.Options, func(o Option) bool { return o.Name == p.key })
		if i < 0 {
			r.unknown(p.at, path, fmt.Sprintf("the option of %s", name.Name), p.key, optionNames(name.Options))
			continue
		}
		if v, ok := r.option(name.Options[i], p.value, join(path, p.key)); ok {
			out[p.key] = v
		}
	}
	r.defaults(name, n, out, at, path)
	if len(out) == 0 {
		return nil
	}
	return out
}

// defaults fills in what was not given, and reports what must be.
func (r *reader) defaults(name Name, given *node, out map[string]any, at position, path string) {
	for _, o := range name.Options {
		if given.get(o.Name) != nil {
			continue
		}
		if o.Required {
			r.fail(at, path, "%q needs the option %q: %s", name.Name, o.Name, o.Doc)
		} else if o.Default != "" {
			if v, ok := r.option(o, &node{kind: scalar, text: o.Default, at: at}, join(path, o.Name)); ok {
				out[o.Name] = v
			}
		}
	}
}

// option reads one value by its kind.
func (r *reader) option(o Option, n *node, path string) (any, bool) {
	before := r.all
	v, f := optionForm(o, nil, r.voc)
	f.read(r, n, path)
	return v(), r.all == before
}

// optionForm is the form of an option that begins as was (nil: its zero value), and a function for its value.
func optionForm(o Option, was any, v Vocabulary) (value func() any, f form) {
	low, high := o.Min, o.Max
	if high == 0 {
		high = map[string]float64{"duration": float64(MaxDuration), "stages": float64(MaxDuration), "ratio": 1, "int": maxAttempts}[o.Kind]
	}
	switch o.Kind {
	case "duration":
		return typed(was, func(p *time.Duration) form { return durationForm(p, time.Duration(low), time.Duration(high)) })
	case "ratio":
		return typed(was, func(p *float64) form { return ratioForm(p, low, high) })
	case "int":
		return typed(was, func(p *int) form { return intForm(p, int(low), int(high)) })
	case "bool":
		return typed(was, boolForm)
	case "stages":
		return typed(was, func(p *[]RetryStage) form { return stagesForm(p, time.Duration(low), time.Duration(high)) })
	case "dist":
		return typed(was, func(p *Dist) form { return distForm(p, v) })
	case "mixture":
		return typed(was, func(p *[]Weighted) form { return mixtureForm(p, v) })
	}
	return typed(was, func(p *string) form { return choiceForm(p, "the value", plainNames(o.Enum...)) })
}

func typed[T any](was any, f func(*T) form) (func() any, form) {
	p := new(T)
	if v, ok := was.(T); ok {
		*p = v
	}
	return func() any { return *p }, f(p)
}

// writeOptions writes given options in the order of the name's own.
func writeOptions(m *node, name Name, options map[string]any, v Vocabulary) *node {
	for _, o := range name.Options {
		if x, ok := options[o.Name]; ok {
			_, f := optionForm(o, x, v)
			m.put(o.Name, f.write())
		}
	}
	return m
}

// strategyForm reads a name, or a map with the name and its options beside it.
func strategyForm(s *Strategy, v Vocabulary) form {
	return form{
		read:     func(r *reader, n *node, path string) { r.strategy(s, n, path) },
		write:    func() *node { return writeStrategy(*s, v) },
		describe: func() schema { return strategySchema(v) },
	}
}

func rowFields(s *Strategy, v Vocabulary) []field {
	return []field{
		{name: "name", doc: "name of the strategy, as in `lockbench list strategies`", form: form{}},
		{name: "as", doc: "label of the row, where its name is not enough", form: textForm(&s.Label, nameText, "a label of a-z 0-9 . -")},
		{name: "on", doc: "topology of this row alone", form: onForm(&s.On, v)},
		{name: "sabotage", doc: "breaks the strategy on purpose; needs `as` and an `expect`", form: choiceForm(&s.Sabotage, "the sabotage", v.Sabotages)},
	}
}

func (r *reader) strategy(s *Strategy, n *node, path string) {
	at, written := n, n
	if n.kind == mapping {
		if written = n.get("name"); written == nil {
			r.fail(n.at, path, "the key \"name\" is missing: which strategy?")
			r.row(s, nameless, n, path)
			return
		}
		at, path = written, join(path, "name")
	}
	t, ok := r.scalar(written, path, "the name of a strategy")
	if !ok {
		return
	}
	name, ok := r.choose(at.at, path, "the strategy", t, r.voc.Strategies)
	path = strings.TrimSuffix(path, ".name")
	s.Name, s.Label = t, t
	if !ok {
		name = nameless
	}
	if n.kind != mapping {
		n = &node{kind: mapping, at: n.at}
	}
	r.row(s, name, n, path)
}

// nameless is the name of a row whose own does not exist: its options cannot be judged, its other keys can.
var nameless = Name{Missing: "it does not exist"}

// row reads the keys of every row, and hands the rest to the options of the name.
func (r *reader) row(s *Strategy, name Name, n *node, path string) {
	fields := rowFields(s, r.voc)
	rest := &node{kind: mapping, at: n.at}
	for _, p := range n.pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == p.key })
		switch {
		case i > 0:
			fields[i].form.read(r, p.value, join(path, p.key))
		case name.Missing != "": // its options do not exist yet either
		case i < 0 && !slices.Contains(optionNames(name.Options), p.key):
			r.unknown(p.at, path, fmt.Sprintf("the option of %s", name.Name), p.key, append(optionNames(name.Options), fieldNames(fields)...))
		case i < 0:
			rest.pairs = append(rest.pairs, p)
		}
	}
	if name.Missing == "" {
		s.Options = r.options(name, rest, n.at, path)
	}
}

func writeStrategy(s Strategy, v Vocabulary) *node {
	name, _ := lookup(v.Strategies, s.Name)
	m := writeOptions(mapOf(pair{key: "name", value: text(s.Name)}), name, s.Options, v)
	if s.Label != s.Name {
		m.put("as", text(s.Label))
	}
	if s.Sabotage != "" {
		m.put("sabotage", text(s.Sabotage))
	}
	if s.On != nil {
		m.put("on", onForm(&s.On, v).write())
	}
	return m
}

func lookup(names []Name, name string) (Name, bool) {
	i := slices.IndexFunc(names, func(n Name) bool { return n.Name == name })
	if i < 0 {
		return Name{}, false
	}
	return names[i], true
}

// retryForm reads a name, or a map with one policy and its limits.
func retryForm(p *Retry, v Vocabulary) form {
	return form{
		read:     func(r *reader, n *node, path string) { r.retry(p, n, path) },
		write:    func() *node { return writeRetry(*p, v) },
		describe: func() schema { return retrySchema(v) },
	}
}

func limitFields(p *Retry) []field {
	return []field{
		{name: "max_attempts", doc: "gives up after so many attempts", form: intForm(&p.MaxAttempts, 1, maxAttempts)},
		{name: "within", doc: "gives up after this time", form: durationForm(&p.Within, time.Millisecond, MaxDuration)},
		{name: "as", doc: "label of the retry, where its name is not enough", form: textForm(&p.Label, nameText, "a label of a-z 0-9 . -")},
	}
}

func (r *reader) retry(p *Retry, n *node, path string) {
	if n.kind == scalar {
		n = &node{kind: mapping, at: n.at, pairs: []pair{{key: n.text, at: n.at, value: &node{at: n.at}}}}
	}
	if n.kind != mapping {
		r.fail(n.at, path, "the name of a retry policy, or a map with one, is needed here, not %s", n.kind)
		return
	}
	fields := limitFields(p)
	var policies []pair
	for _, x := range n.pairs {
		if !slices.Contains(fieldNames(fields), x.key) {
			policies = append(policies, x)
		}
	}
	if len(policies) != 1 {
		r.fail(n.at, path, "one retry policy is needed in each row, here are %d (%s)", len(policies), keysIn(policies))
		r.limits(p, n, path)
		return
	}
	name, ok := lookup(r.voc.Retries, policies[0].key)
	p.Name, p.Label = policies[0].key, policies[0].key
	if !ok {
		r.unknown(policies[0].at, path, "the retry policy", policies[0].key, append(namesOf(r.voc.Retries), fieldNames(fields)...))
		r.limits(p, n, path)
		return
	}
	r.policy(p, name, policies[0], n, path)
}

func keysIn(pairs []pair) string {
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = p.key
	}
	return strings.Join(keys, ", ")
}

func (r *reader) policy(p *Retry, name Name, one pair, n *node, path string) {
	r.choose(one.at, path, "the retry policy", one.key, r.voc.Retries)
	r.limits(p, n, path)
	if name.Missing != "" {
		return // its options do not exist yet either
	}
	before := r.all
	p.Args = r.options(name, one.value, one.at, join(path, one.key))
	if r.all == before {
		r.orderedArgs(p.Args, one.at, join(path, one.key))
	}
	if v := n.get("max_attempts"); v != nil && name.Name == "fail-fast" && p.MaxAttempts > 1 {
		r.fail(v.at, join(path, "max_attempts"), "fail-fast makes one attempt")
	}
	if v := n.get("max_attempts"); v != nil && name.Name == "native" {
		r.fail(v.at, join(path, "max_attempts"), "native waits by the strategy's own means: its attempts are not counted")
	}
}

// limits reads the keys of every row of retries.
func (r *reader) limits(p *Retry, n *node, path string) {
	for _, f := range limitFields(p) {
		if v := n.get(f.name); v != nil {
			f.form.read(r, v, join(path, f.name))
		}
	}
}

// orderedArgs refuses a lower end above its upper end.
func (r *reader) orderedArgs(args map[string]any, at position, path string) {
	durations := map[string]time.Duration{}
	for k, v := range args {
		if d, ok := v.(time.Duration); ok {
			durations[k] = d
		}
	}
	for _, ends := range [][2]string{{"min", "max"}, {"base", "cap"}, {"from", "to"}} {
		if err := ordered(durations, ends[0], ends[1]); err != nil {
			r.fail(at, path, "%s", err)
		}
	}
}

func writeRetry(p Retry, v Vocabulary) *node {
	name, _ := lookup(v.Retries, p.Name)
	args := writeOptions(mapOf(), name, p.Args, v)
	if len(args.pairs) == 1 && len(name.Options) == 1 && args.pairs[0].key == name.Bare {
		args = args.pairs[0].value
	}
	m := mapOf(pair{key: p.Name, value: args})
	if p.MaxAttempts > 0 {
		m.put("max_attempts", text(fmt.Sprint(p.MaxAttempts)))
	}
	if p.Within > 0 {
		m.put("within", text(printDuration(p.Within)))
	}
	if p.Label != p.Name {
		m.put("as", text(p.Label))
	}
	return m
}

var stageText = regexp.MustCompile(`^(\S+?)(?: +x([0-9]+))?$`)

// stagesForm reads [50ms x3, 100ms x3], each wait between low and high.
func stagesForm(p *[]RetryStage, low, high time.Duration) form {
	return listForm(p, "stages", maxStages, func(s *RetryStage) form {
		parse := func(text string) (RetryStage, error) { return parseStage(text, low, high) }
		return scalarForm(s, "a wait, as 50ms x3,", parse, printStage, schema{"type": "string", "pattern": stagePattern})
	})
}

func parseStage(text string, low, high time.Duration) (RetryStage, error) {
	m := stageText.FindStringSubmatch(text)
	if m == nil {
		return RetryStage{}, fmt.Errorf("%q is no stage, as 50ms x3", text)
	}
	wait, err := bounded(parseDuration, low, high, printDuration)(m[1])
	if err != nil || m[2] == "" {
		return RetryStage{Wait: wait, Times: 1}, err
	}
	times, err := bounded(parseInt, 1, maxAttempts, printInt)(m[2])
	return RetryStage{Wait: wait, Times: times}, err
}

func printStage(s RetryStage) string { return fmt.Sprintf("%s x%d", printDuration(s.Wait), s.Times) }
