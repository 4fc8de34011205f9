package scenarios

import (
	"encoding/json"
	"strconv"
)

// Schema is the JSON Schema (draft 2020-12) of scenario files, for editors. It comes from the tables that Read uses;
// what lies between keys (labels, bounds together) only Read can tell.
func Schema(v Vocabulary) ([]byte, error) {
	s := defaults()
	var axes []Axis
	var exclude [][]Param
	out := fieldsSchema(append(s.fields(v), matrixFields(&axes, &exclude)...))
	out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out["title"] = "lockbench scenario, version 1"
	distribution := distSchema(v, true)
	out["$defs"] = schema{
		"on":           fieldsSchema(onFields(&Topology{}, v)),
		"distribution": distribution,
		"hold":         schema{"anyOf": append(distribution["anyOf"].([]any), nestedSchemas(v)...)},
	}
	b, err := json.MarshalIndent(out, "", "  ")
	return append(b, '\n'), err
}

func distSchema(v Vocabulary, bare bool) schema {
	var any []any
	if bare {
		any = append(any, schema{"type": "string", "pattern": durationPattern, "description": "the same time always"})
	}
	for _, n := range v.Distributions {
		any = append(any, oneKey(n, v, schema{}))
	}
	return schema{"anyOf": any}
}

// nestedSchemas are distributions with `nested` beside them.
func nestedSchemas(v Vocabulary) []any {
	var out []any
	for _, n := range v.Distributions {
		out = append(out, oneKey(n, v, schema{"nested": schema{"type": "integer", "minimum": 0, "maximum": maxNested, "description": "re-entries inside a hold"}}))
	}
	return out
}

// oneKey is a map with one name and its options, and other keys beside.
func oneKey(n Name, v Vocabulary, beside schema) schema {
	properties := schema{n.Name: valueSchema(n, v)}
	for k, s := range beside {
		properties[k] = s
	}
	return schema{"type": "object", "description": n.Doc, "properties": properties, "required": []string{n.Name}, "additionalProperties": false}
}

// valueSchema is what may stand behind a name: nothing, a bare value, or its options.
func valueSchema(n Name, v Vocabulary) any {
	var any []any
	required := requiredOptions(n)
	if len(required) == 0 {
		any = append(any, schema{"type": "null"})
	}
	for _, o := range n.Options {
		if o.Name == n.Bare {
			any = append(any, optionSchema(o, v))
		}
	}
	options := schema{"type": "object", "properties": optionSchemas(n, v), "additionalProperties": false}
	if len(required) > 0 {
		options["required"] = required
	}
	return schema{"anyOf": append(any, options)}
}

func requiredOptions(n Name) (names []string) {
	for _, o := range n.Options {
		if o.Required {
			names = append(names, o.Name)
		}
	}
	return names
}

func optionSchemas(n Name, v Vocabulary) schema {
	out := schema{}
	for _, o := range n.Options {
		out[o.Name] = optionSchema(o, v)
	}
	return out
}

func optionSchema(o Option, v Vocabulary) schema {
	_, f := optionForm(o, nil, v)
	out := schema{"description": o.Doc}
	for k, x := range f.jsonSchema() {
		out[k] = x
	}
	if o.Default != "" {
		out["default"] = jsonValue(o.Default)
	}
	return out
}

func strategySchema(v Vocabulary) schema {
	any := []any{schema{"enum": bareNames(v.Strategies)}}
	for _, n := range v.Strategies {
		properties := optionSchemas(n, v)
		for _, f := range rowFields(&Strategy{}, v) {
			properties[f.name] = described(f)
		}
		properties["name"] = schema{"const": n.Name, "description": n.Doc}
		any = append(any, schema{"type": "object", "description": n.Doc, "properties": properties,
			"required": append([]string{"name"}, requiredOptions(n)...), "additionalProperties": false})
	}
	return schema{"anyOf": any}
}

func retrySchema(v Vocabulary) schema {
	beside := schema{}
	for _, f := range limitFields(&Retry{}) {
		s := described(f)
		delete(s, "default")
		beside[f.name] = s
	}
	any := []any{schema{"enum": bareNames(v.Retries)}}
	for _, n := range v.Retries {
		any = append(any, oneKey(n, v, beside))
	}
	return schema{"anyOf": any}
}

// bareNames can stand without options.
func bareNames(names []Name) []string {
	out := []string{}
	for _, n := range names {
		if len(requiredOptions(n)) == 0 {
			out = append(out, n.Name)
		}
	}
	return out
}

// jsonValue is the JSON value that a YAML reader sees in a plain text.
func jsonValue(text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil && numberOnly.MatchString(text) {
		return n
	}
	if b, err := strconv.ParseBool(text); err == nil && (text == "true" || text == "false") {
		return b
	}
	return text
}
