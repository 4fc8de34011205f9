package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// form says how one value of a file is read, written back and described. The three stand side by side so that what
// Read takes, what Marshal writes and what the JSON Schema tells cannot drift apart.
type form struct {
	read     func(r *reader, n *node, path string)
	write    func() *node
	schema   schema
	describe func() schema // instead of schema, where building one for every read would be a waste
}

func (f form) jsonSchema() schema {
	if f.describe != nil {
		return f.describe()
	}
	return f.schema
}

type schema = map[string]any

// field is one key of a map.
type field struct {
	name, doc string
	form      form
	required  bool
	skip      func() bool // not written: the value says nothing; nil: always written
}

// unset tells that a value is the zero value.
func unset[T comparable](p *T) func() bool {
	return func() bool { var zero T; return *p == zero }
}

// reader walks over the nodes and collects all that is wrong.
type reader struct {
	file       string // stands in errors
	voc        Vocabulary
	errs       Errors
	seen       map[Error]bool  // one mistake shows in every cell of a matrix, and is told once
	all        int             // mistakes met, told or not
	lost       map[string]bool // paths that cannot be judged in any cell: of a --set or an axis that is wrong itself
	unlabelled map[string]bool // strategies, retries: a row of them has no label that could be read
	bad        map[string]bool // paths of all mistakes met since decoding began, and of lost
}

func (r *reader) fail(at position, path, format string, args ...any) {
	r.report(at, Error{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) report(at position, e Error) {
	e.File, e.Line, e.Column = at.source, at.line, at.column
	if at.source == "" {
		e.File = r.file
	}
	r.all++
	if r.bad == nil {
		r.bad = map[string]bool{}
	}
	r.bad[e.Path] = true
	if r.seen[e] || len(r.errs) >= maxErrors {
		return
	}
	if r.seen == nil {
		r.seen = map[Error]bool{}
	}
	r.seen[e] = true
	r.errs = append(r.errs, e)
}

// maxChoices is the longest list of names that an error shows.
const maxChoices = 12

// unknown reports a name that does not exist.
func (r *reader) unknown(at position, path, what, name string, candidates []string) {
	e := Error{Path: path, Message: fmt.Sprintf("%s %q does not exist", what, name), Suggestion: Closest(name, candidates)}
	if n := len(candidates); e.Suggestion == "" && n > 0 && n <= maxChoices {
		e.Message += ": there are " + strings.Join(candidates, ", ")
	}
	r.report(at, e)
}

// scalar is the text of n, or an error that says what was wanted.
func (r *reader) scalar(n *node, path, want string) (string, bool) {
	if n.kind == scalar {
		return n.text, true
	}
	r.fail(n.at, path, "%s is needed here, not %s", want, n.kind)
	return "", false
}

// scalarForm reads a value by parse, whose errors name the text.
func scalarForm[T any](p *T, want string, parse func(string) (T, error), print func(T) string, s schema) form {
	return form{
		read: func(r *reader, n *node, path string) {
			t, ok := r.scalar(n, path, want)
			if !ok {
				return
			}
			v, err := parse(t)
			if err != nil {
				r.fail(n.at, path, "%s", err)
				return
			}
			*p = v
		},
		write:  func() *node { return text(print(*p)) },
		schema: s,
	}
}

// bounded is a parser that keeps within low and high.
func bounded[T int | float64 | time.Duration](parse func(string) (T, error), low, high T, print func(T) string) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := parse(s)
		if err == nil {
			err = within(v, low, high, print)
		}
		return v, err
	}
}

const (
	durationPattern = `^([0-9]*\.?[0-9]+(ns|us|µs|μs|ms|s|m|h))+$`
	ratePattern     = `^[0-9]*\.?[0-9]+(k|M)?/(s|min|h)$`
	rampPattern     = `^[0-9]*\.?[0-9]+(k|M)?/(s|min|h)( *-> *[0-9]*\.?[0-9]+(k|M)?/(s|min|h))?$`
	percentPattern  = `^[0-9]*\.?[0-9]+%?$`
	stagePattern    = `^([0-9]*\.?[0-9]+(ns|us|µs|μs|ms|s|m|h))+( +x[0-9]+)?$`
)

func durationForm(p *time.Duration, low, high time.Duration) form {
	return scalarForm(p, "a duration", bounded(parseDuration, low, high, printDuration), printDuration,
		schema{"type": "string", "pattern": durationPattern})
}

func rateForm(p *float64) form {
	return scalarForm(p, "a rate", bounded(parseRate, MinRate, MaxRate, printRate), printRate,
		schema{"type": "string", "pattern": ratePattern})
}

func ratioForm(p *float64, low, high float64) form {
	return scalarForm(p, "a share", bounded(parseRatio, low, high, printNumber), printNumber, ratioSchema())
}

func ratioSchema() schema {
	return schema{"anyOf": []any{
		schema{"type": "number", "minimum": 0},
		schema{"type": "string", "pattern": percentPattern},
	}}
}

func numberForm(p *float64, low, high float64) form {
	return scalarForm(p, "a number", bounded(parseNumber, low, high, printNumber), printNumber,
		schema{"type": "number", "minimum": low, "maximum": high})
}

func intForm(p *int, low, high int) form {
	return scalarForm(p, "a whole number", bounded(parseInt, low, high, printInt), printInt,
		schema{"type": "integer", "minimum": low, "maximum": high})
}

func parseInt(s string) (int, error) {
	v, err := parseCount(s)
	if err == nil && v > 1<<53 {
		err = fmt.Errorf("%q is too large", s)
	}
	return int(v), err
}

func printInt(v int) string { return fmt.Sprint(v) }

func seedForm(p *uint64) form {
	return scalarForm(p, "a whole number", parseCount, func(v uint64) string { return fmt.Sprint(v) },
		schema{"type": "integer", "minimum": 0})
}

func boolForm(p *bool) form {
	return scalarForm(p, "true or false", parseBool, func(v bool) string { return fmt.Sprint(v) }, schema{"type": "boolean"})
}

func parseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("%q is neither true nor false", s)
	}
	return s == "true", nil
}

// maxText bounds every free text.
const maxText = 500

// textForm takes text that matches pattern; want says how it looks.
func textForm(p *string, pattern *regexp.Regexp, want string) form {
	parse := func(s string) (string, error) {
		s = strings.TrimSpace(s) // a block scalar ends in a line break
		switch {
		case len(s) > maxText:
			return "", fmt.Errorf("is longer than %d bytes", maxText)
		case strings.ContainsFunc(s, unicode.IsControl):
			return "", fmt.Errorf("%q contains a line break or another control character", s)
		case !pattern.MatchString(s):
			return "", fmt.Errorf("%q is not %s", s, want)
		}
		return s, nil
	}
	return scalarForm(p, want, parse, func(s string) string { return s }, schema{"type": "string", "pattern": pattern.String()})
}

const hostPort = `(\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}`

var (
	anyText      = regexp.MustCompile(`\S`)
	nameText     = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)
	imageText    = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._/:@-]*$`)
	cpuText      = regexp.MustCompile(`^[0-9]*\.?[0-9]+%$`)
	addressText  = regexp.MustCompile(`^` + hostPort + `$`)
	serverText   = regexp.MustCompile(`^((rediss?://)?` + hostPort + `|rediss?://` + hostPort + `/0?)$`)
	serverPath   = regexp.MustCompile(`/0?$`)
	passwordText = regexp.MustCompile(`^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$`)
)

// choiceForm takes one of names.
func choiceForm(p *string, what string, names []Name) form {
	return form{
		read: func(r *reader, n *node, path string) {
			if t, ok := r.scalar(n, path, what); ok {
				if x, ok := r.choose(n.at, path, what, t, names); ok {
					*p = x.Name
				}
			}
		},
		write:    func() *node { return text(*p) },
		describe: func() schema { return schema{"enum": namesOf(names)} },
	}
}

// choose looks a name up; one that this build lacks is refused by name.
func (r *reader) choose(at position, path, what, name string, names []Name) (Name, bool) {
	i := slices.IndexFunc(names, func(x Name) bool { return x.Name == name })
	if i < 0 {
		r.unknown(at, path, what, name, namesOf(names))
		return Name{}, false
	}
	if names[i].Missing != "" {
		r.fail(at, path, "%s %q cannot be used: %s", what, name, names[i].Missing)
	}
	return names[i], true
}

func namesOf(names []Name) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n.Name
	}
	return out
}

// plainNames are choices that every build has.
func plainNames(names ...string) []Name {
	out := make([]Name, len(names))
	for i, n := range names {
		out[i] = Name{Name: n}
	}
	return out
}

// lacks refuses a feature that this build does not have yet.
func (r *reader) lacks(n *node, path, feature string) {
	for _, f := range r.voc.Features {
		if f.Name == feature && f.Missing != "" {
			r.fail(n.at, path, "%s cannot be used: %s", f.Doc, f.Missing)
		}
	}
}

// mapForm is a map with known keys.
func mapForm(fields ...field) form {
	return form{
		read:     func(r *reader, n *node, path string) { r.fields(n, path, fields) },
		write:    func() *node { return writeFields(fields) },
		describe: func() schema { return fieldsSchema(fields) },
	}
}

// fields reads a map; every key of it must be one of fields.
func (r *reader) fields(n *node, path string, fields []field) {
	if n.kind != mapping {
		r.fail(n.at, path, "a map is needed here, not %s; its keys are %s", n.kind, keysOf(fields))
		return
	}
	for _, p := range n.pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == p.key })
		if i < 0 {
			r.unknownKey(p, path, fields)
			continue
		}
		fields[i].form.read(r, p.value, join(path, p.key))
	}
	for _, f := range fields {
		if f.required && n.get(f.name) == nil {
			r.fail(n.at, path, "the key %q is missing: %s", f.name, f.doc)
		}
	}
}

// misplaced tells where a key belongs that people look for elsewhere.
var misplaced = map[string]string{
	"load.closed.rate":     "a closed loop has no rate: its clients are as fast as the lock lets them be; a rate stands under load.open",
	"load.closed.arrivals": "a closed loop has no arrivals; they stand under load.open",
	"load.closed.stages":   "a closed loop has no stages; they stand under load.open",
	"load.open.clients":    "an open load has no clients; they stand under load.closed",
	"load.open.think":      "an open load has no clients that think; they stand under load.closed",
	"load.rate":            "the rate stands under load.open",
	"load.clients":         "the clients stand under load.closed",
	"ttl":                  "the ttl stands under lock",
	"acquire_timeout":      "the acquire_timeout stands under lock",
	"nested":               "nested stands under hold",
	"warmup":               "warmup stands under phases",
	"measure":              "measure stands under phases",
	"addresses":            "addresses stand under topology",
}

func (r *reader) unknownKey(p pair, path string, fields []field) {
	if hint := misplaced[join(path, p.key)]; hint != "" {
		r.fail(p.at, path, "%s", hint)
		return
	}
	r.unknown(p.at, path, "the key", p.key, fieldNames(fields))
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func keysOf(fields []field) string { return strings.Join(fieldNames(fields), ", ") }

func writeFields(fields []field) *node {
	m := mapOf()
	for _, f := range fields {
		if f.skip != nil && f.skip() {
			continue
		}
		if v := f.form.write(); v != nil {
			m.put(f.name, v)
		}
	}
	return m
}

func fieldsSchema(fields []field) schema {
	properties, required := schema{}, []string{}
	for _, f := range fields {
		properties[f.name] = described(f)
		if f.required {
			required = append(required, f.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// described adds what a key is for and the value it has when it is left out.
func described(f field) schema {
	s := schema{"description": f.doc}
	for k, v := range f.form.jsonSchema() {
		s[k] = v
	}
	if f.required || f.form.write == nil || f.skip != nil && f.skip() {
		return s
	}
	if d := f.form.write(); d != nil && d.kind == scalar && d.text != "" {
		s["default"] = jsonValue(d.text)
	}
	return s
}

// listForm is a list of at most most items, each read by item into a new element.
func listForm[T any](p *[]T, what string, most int, item func(*T) form) form {
	return form{
		read: func(r *reader, n *node, path string) {
			if n.kind != list {
				r.fail(n.at, path, "a list of %s is needed here, not %s", what, n.kind)
				return
			}
			if len(n.items) == 0 {
				r.fail(n.at, path, "the list is empty: at least one of %s is needed", what)
				return
			}
			if len(n.items) > most {
				r.fail(n.at, path, "%d %s are too many: at most %d", len(n.items), what, most)
				return
			}
			*p = make([]T, len(n.items))
			for i, x := range n.items {
				item(&(*p)[i]).read(r, x, join(path, fmt.Sprint(i)))
			}
		},
		write: func() *node {
			l := listOf()
			for i := range *p {
				l.items = append(l.items, item(&(*p)[i]).write())
			}
			return l
		},
		describe: func() schema {
			return schema{"type": "array", "minItems": 1, "maxItems": most, "items": item(new(T)).jsonSchema()}
		},
	}
}

// orNil makes a map optional: *p is nil until the key is there, and begins as start.
func orNil[T any](p **T, start T, fields func(*T) []field) form {
	return form{
		read: func(r *reader, n *node, path string) {
			v := start
			*p = &v
			r.fields(n, path, fields(*p))
		},
		write: func() *node {
			if *p == nil {
				return nil
			}
			return writeFields(fields(*p))
		},
		describe: func() schema { v := start; return fieldsSchema(fields(&v)) },
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
