package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checker of JSON Schema, as far as Schema uses it; it refuses keywords that it does not know, so that no part of the
// schema goes untested.
type schemaReader struct {
	defs map[string]any
}

func (s schemaReader) valid(rule map[string]any, v any) error {
	for key, want := range rule {
		if err := s.keyword(key, want, rule, v); err != nil {
			return err
		}
	}
	return nil
}

func (s schemaReader) keyword(key string, want any, rule map[string]any, v any) error {
	switch key {
	case "$schema", "$defs", "title", "description", "default":
		return nil
	case "$ref":
		return s.valid(s.defs[strings.TrimPrefix(want.(string), "#/$defs/")].(map[string]any), v)
	case "anyOf":
		return s.any(want.([]any), v)
	case "const":
		return ensure(v == want, "%v is not %v", v, want)
	case "enum":
		return ensure(slices.Contains(want.([]any), v), "%v is none of %v", v, want)
	case "type":
		return ensure(hasType(want, v), "%v (%T) is not of type %v", v, v, want)
	case "pattern":
		t, ok := v.(string)
		return ensure(!ok || regexp.MustCompile(want.(string)).MatchString(t), "%q does not match %v", t, want)
	case "minimum", "maximum":
		n, ok := v.(float64)
		limit := want.(float64)
		return ensure(!ok || key == "minimum" && n >= limit || key == "maximum" && n <= limit, "%v: %s is %v", v, key, limit)
	case "maxLength":
		t, _ := v.(string)
		return ensure(float64(len(t)) <= want.(float64), "%q is too long", t)
	case "minItems", "maxItems", "items":
		return s.list(key, want, v)
	case "properties", "additionalProperties", "required", "minProperties", "maxProperties":
		return s.object(key, want, rule, v)
	}
	return fmt.Errorf("the test does not know the keyword %s", key)
}

func (s schemaReader) any(rules []any, v any) error {
	var all []string
	for _, r := range rules {
		err := s.valid(r.(map[string]any), v)
		if err == nil {
			return nil
		}
		all = append(all, err.Error())
	}
	return fmt.Errorf("none of: %s", strings.Join(all, " | "))
}

func (s schemaReader) list(key string, want, v any) error {
	items, ok := v.([]any)
	if !ok {
		return nil
	}
	if key != "items" {
		n := float64(len(items))
		return ensure(key == "minItems" && n >= want.(float64) || key == "maxItems" && n <= want.(float64), "%d items", len(items))
	}
	for _, x := range items {
		if err := s.valid(want.(map[string]any), x); err != nil {
			return err
		}
	}
	return nil
}

func (s schemaReader) object(key string, want any, rule map[string]any, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	properties, _ := rule["properties"].(map[string]any)
	switch key {
	case "minProperties":
		return ensure(float64(len(m)) >= want.(float64), "too few keys")
	case "maxProperties":
		return ensure(float64(len(m)) <= want.(float64), "too many keys")
	case "required":
		for _, k := range want.([]any) {
			if _, ok := m[k.(string)]; !ok {
				return fmt.Errorf("%v is missing", k)
			}
		}
	case "properties":
		for k, p := range properties {
			if x, ok := m[k]; ok {
				if err := s.valid(p.(map[string]any), x); err != nil {
					return fmt.Errorf("%s: %w", k, err)
				}
			}
		}
	case "additionalProperties":
		for k, x := range m {
			if _, ok := properties[k]; ok {
				continue
			}
			rest, ok := want.(map[string]any)
			if !ok {
				return fmt.Errorf("the key %s is not allowed", k)
			}
			if err := s.valid(rest, x); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
	}
	return nil
}

func ensure(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func hasType(want, v any) bool {
	if all, ok := want.([]any); ok {
		return slices.ContainsFunc(all, func(w any) bool { return hasType(w, v) })
	}
	n, number := v.(float64)
	switch x := v.(type) {
	case nil:
		return want == "null"
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case []any:
		return want == "array"
	case map[string]any:
		return want == "object"
	default:
		_ = x
	}
	return number && (want == "number" || want == "integer" && n == float64(int64(n)))
}

// value is what a YAML reader makes of a node.
func (n *node) value() any {
	switch n.kind {
	case scalar:
		return jsonValue(n.text)
	case list:
		all := []any{}
		for _, x := range n.items {
			all = append(all, x.value())
		}
		return all
	case mapping:
		m := map[string]any{}
		for _, p := range n.pairs {
			m[p.key] = p.value.value()
		}
		return m
	}
	return nil
}

func readSchema(t *testing.T) (schemaReader, map[string]any) {
	t.Helper()
	b, err := Schema(testVocabulary())
	if err != nil {
		t.Fatal(err)
	}
	var rule map[string]any
	if err := json.Unmarshal(b, &rule); err != nil {
		t.Fatal(err)
	}
	return schemaReader{rule["$defs"].(map[string]any)}, rule
}

func parsed(t *testing.T, src string) any {
	t.Helper()
	n, err := parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return n.value()
}

func TestSchemaTakesWhatReadTakes(t *testing.T) {
	s, rule := readSchema(t)
	for _, src := range []string{
		minimal,
		"apiVersion: lockbench/v1\nname: x\nload: {closed: {clients: 3, think: {exponential: 5ms}}}\nstrategies: [{name: redlock, drift: 1%, mode: at-quorum, as: r, on: {shape: independent, nodes: 3}}]\n" +
			"retries: [fail-fast, {fixed: 10ms, max_attempts: 3}, {full-jitter: {base: 2ms, cap: 4ms}, as: j}, {stages: [5ms x3, 1s]}, {native: {}}]\n" +
			"hold: {mixture: [{share: 98%, dist: 5ms}, {share: 0.02, dist: {lognormal: {p50: 1s, p99: 2s}}}], nested: 2}\nkeys: {count: 3, popularity: {hot: {keys: 10%, ops: 0.9}}}\n" +
			"trials: {until: 5%, max: 30}\nmatrix: {keys.count: [1, 2], hold.constant: [5ms]}\nexclude: [{keys.count: 1}]\nthresholds: ['a/b: violations == 0']\nexpect: {r: safe}\n" +
			"resource: {kind: counter, fenced: true}\nseed: 7\nbaseline: a-a\nfaults: [{kind: kill-node, when: {holding: {process: 0}}, for: 1s}]\n",
	} {
		if err := s.valid(rule, parsed(t, src)); err != nil {
			t.Errorf("%v\n%s", err, src)
		}
		if sc, err := Read("x", []byte(src), testVocabulary(), nil); err == nil {
			if err := s.valid(rule, parsed(t, string(Marshal(sc, testVocabulary())))); err != nil {
				t.Errorf("resolved: %v", err)
			}
		}
	}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.valid(rule, parsed(t, string(src))); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestSchemaRefusesWhatAnEditorShouldMark(t *testing.T) {
	s, rule := readSchema(t)
	for _, line := range []string{
		"hodl: 5ms", "hold: 5", "hold: {lognormall: {p50: 1ms, p99: 2ms}}", "hold: {uniform: {min: 1ms}}", "lock: {ttl: 5sec}", "keys: {count: 0}",
		"keys: {count: many}", "retries: [full-jiter]", "retries: [{fixed: 10}]", "retries: [fixed]", "trials: 0", "topology: {shape: ring}",
		"expect: {x: save}", "crash: often", "resource: {kind: counter, fenced: 3}", "matrix: {keys.count: 3}", "thresholds: ['low']",
	} {
		if s.valid(rule, parsed(t, minimal+line+"\n")) == nil {
			t.Errorf("accepted: %s", line)
		}
	}
}

func TestSchemaShowsDefaults(t *testing.T) {
	_, rule := readSchema(t)
	at := func(path ...string) any {
		m := rule
		for _, k := range path {
			m = m["properties"].(map[string]any)[k].(map[string]any)
		}
		return m["default"]
	}
	for _, c := range []struct {
		want any
		path []string
	}{{"30s", []string{"lock", "ttl"}}, {3.0, []string{"trials"}}, {2000.0, []string{"load", "max_in_flight"}}, {"single", []string{"topology", "shape"}}} {
		if got := at(c.path...); got != c.want {
			t.Errorf("default of %v is %v, want %v", c.path, got, c.want)
		}
	}
}
