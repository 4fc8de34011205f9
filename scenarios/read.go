package scenarios

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Read turns a scenario file into a Scenario, or tells everything that is wrong with it, as Errors. name stands in
// the errors; set are the texts of --set, path=value each, which replace what the file says. Nothing outside src is
// read: no includes, no environment, no commands.
func Read(name string, src []byte, v Vocabulary, set []string) (*Scenario, error) {
	root, err := parse(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))) // Windows editors begin UTF-8 with a mark
	if err != nil {
		err.File = name
		return nil, Errors{*err}
	}
	r := &reader{voc: v, file: name}
	if root.kind != mapping {
		r.fail(root.at, "", "a scenario is a map of keys, not %s", root.kind)
		return nil, r.errs
	}
	s := r.scenario(r.apply(root, set))
	if len(r.errs) > 0 {
		return nil, r.sorted()
	}
	return s, nil
}

// sorted is in the order of the file, what came from --set first.
func (r *reader) sorted() Errors {
	slices.SortStableFunc(r.errs, func(a, b Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.errs
}

// apply puts the values of --set into the tree.
func (r *reader) apply(root *node, set []string) *node {
	for _, s := range set {
		path, value, ok := strings.Cut(s, "=")
		at := position{source: "--set " + path}
		if !ok || path == "" || slices.Contains(strings.Split(path, "."), "") {
			r.fail(position{source: "--set"}, "", "%q is not path=value", path)
			continue
		}
		if root.get("matrix").get(path) != nil {
			r.fail(at, path, "the matrix varies this path")
			continue
		}
		v, err := setValue(value, at)
		if err != nil {
			r.fail(at, path, "%s", err.Message)
		} else if !root.set(path, v) {
			r.fail(at, path, "leads to no item of a list in the file")
		}
	}
	return root
}

// setValue is a plain text, or YAML where it begins with a bracket.
func setValue(value string, at position) (*node, *Error) {
	if !strings.HasPrefix(value, "[") && !strings.HasPrefix(value, "{") {
		if err := checkBytes([]byte(value)); err != nil {
			return nil, &Error{Message: strings.Replace(err.Message, "the file", "the value", 1)}
		}
		return &node{kind: scalar, text: strings.TrimSpace(value), at: at}, nil
	}
	n, err := parse([]byte(value))
	if err == nil {
		n.move(at)
	}
	return n, err
}

// move gives every node the same position.
func (n *node) move(at position) {
	n.at = at
	for _, x := range n.items {
		x.move(at)
	}
	for i := range n.pairs {
		n.pairs[i].at = at
		n.pairs[i].value.move(at)
	}
}

// scenario reads the whole tree: the matrix, then every cell.
func (r *reader) scenario(root *node) *Scenario {
	var axes []Axis
	var exclude [][]Param
	for _, f := range matrixFields(&axes, &exclude) {
		if n := root.get(f.name); n != nil {
			f.form.read(r, n, f.name)
		}
	}
	base := root.without("matrix", "exclude")
	n := combinations(axes)
	r.lost = r.unread(root, axes, exclude)
	matrix := root.get("matrix")
	if rows := n * count(base.get("strategies")) * count(base.get("retries")); rows > MaxPoints {
		r.fail(r.where(root, "matrix"), "", "the scenario has more than %d points: cells of the matrix x strategies x retries", MaxPoints)
		r.lost["exclude"] = true // it may be about the cells that are left out here
		for i := range axes {
			axes[i].Values = axes[i].Values[:1]
		}
	}
	cells := product(axes, matrix)
	r.baseValues(base, axes, cells[0])
	return r.cells(base, axes, exclude, cells, root)
}

// unread are the paths that nothing is known about, since what was to set them is wrong: a --set, or an axis of the
// matrix. Exclusions that are wrong are emptied, and exclude nothing.
func (r *reader) unread(root *node, axes []Axis, exclude [][]Param) map[string]bool {
	lost := maps.Clone(r.bad)
	if lost == nil {
		lost = map[string]bool{}
	}
	if m := root.get("matrix"); m != nil {
		for _, p := range m.pairs {
			if !slices.ContainsFunc(axes, func(a Axis) bool { return a.Path == p.key }) {
				lost[p.key] = true
			}
		}
	}
	for i := range exclude {
		if about(lost, fmt.Sprintf("exclude.%d", i)) {
			exclude[i] = nil
		}
	}
	return lost
}

// count is the number of rows of a list, at least 1.
func count(n *node) int {
	if n == nil {
		return 1
	}
	return max(1, len(n.items))
}

// baseValues judges values that every cell replaces: they are mistakes in the file all the same. Only a path that
// the file leaves to the matrix is filled in.
func (r *reader) baseValues(base *node, axes []Axis, first cell) {
	base = base.clone()
	for i, a := range axes {
		if base.find(a.Path) == nil && !base.set(a.Path, first.values[i]) {
			r.fail(first.values[i].at, "matrix", "%q leads to no item of a list in the file", a.Path)
		}
	}
	r.decode(base)
}

// cells reads every combination that is not wholly excluded.
func (r *reader) cells(base *node, axes []Axis, exclude [][]Param, cells []cell, root *node) *Scenario {
	used := make([]bool, len(exclude))
	var out []Cell
	for _, c := range cells {
		tree := base.clone()
		for i, p := range c.params {
			tree.set(p.Path, c.values[i])
		}
		s := r.decode(tree)
		if s == nil || len(r.errs) > 0 && len(r.errs) >= maxErrors {
			return nil
		}
		if r.anyPoint(s, c.params, exclude, used) {
			r.check(s, tree, c.params, exclude)
			out = append(out, Cell{Params: c.params, Scenario: s})
		}
	}
	r.excludeCheck(root, exclude, used, axes, out)
	if len(r.errs) > 0 || len(out) == 0 {
		return nil
	}
	whole := *out[0].Scenario
	whole.Matrix, whole.Exclude, whole.Cells = axes, exclude, out
	return &whole
}

// anyPoint tells whether a cell has a point left, and marks the exclusions that match one.
func (r *reader) anyPoint(s *Scenario, params []Param, exclude [][]Param, used []bool) bool {
	left := len(s.Strategies) == 0 || len(s.Retries) == 0 // which has been reported
	for _, row := range s.Strategies {
		for _, retry := range s.Retries {
			skip := false
			for i, e := range exclude {
				if excludes(e, params, row.Label, retry.Label) {
					used[i], skip = true, true
				}
			}
			left = left || !skip
		}
	}
	return left
}

func (r *reader) excludeCheck(root *node, exclude [][]Param, used []bool, axes []Axis, out []Cell) {
	for i, e := range exclude {
		path := fmt.Sprintf("exclude.%d", i)
		if used[i] || !r.judgesExclusion(e, path) {
			continue
		}
		at := r.where(root, path)
		for _, p := range e {
			if p.Path != "strategy" && p.Path != "retry" && !slices.ContainsFunc(axes, func(a Axis) bool { return a.Path == p.Path }) {
				r.unknown(at, path, "the path of the matrix", p.Path, axisPaths(axes))
			}
		}
		r.fail(at, path, "it matches no point")
	}
	if len(exclude) > 0 && len(out) == 0 {
		r.fail(r.where(root, "exclude"), "exclude", "no point is left")
	}
}

// judgesExclusion tells whether all that an exclusion names could be read.
func (r *reader) judgesExclusion(e []Param, path string) bool {
	if len(e) == 0 || above(r.lost, path) {
		return false
	}
	return !slices.ContainsFunc(e, func(p Param) bool {
		rows := map[string]string{"strategy": "strategies", "retry": "retries"}[p.Path]
		return above(r.lost, p.Path) || rows != "" && r.unlabelled[rows]
	})
}

func axisPaths(axes []Axis) []string {
	paths := []string{"strategy", "retry"}
	for _, a := range axes {
		paths = append(paths, a.Path)
	}
	return paths
}

// where is the position of a path, or of what is nearest above it.
func (r *reader) where(root *node, path string) position {
	for path != "" {
		if n := root.find(path); n != nil {
			return n.at
		}
		path, _ = cutLast(path)
	}
	return root.at
}

func cutLast(path string) (before, last string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// decode reads one scenario without a matrix, and fills in what depends on more than one key.
func (r *reader) decode(root *node) *Scenario {
	s := defaults()
	r.bad = maps.Clone(r.lost)
	r.fields(root, "", append(s.fields(r.voc), matrixFields(new([]Axis), new([][]Param))...))
	s.finish(root)
	return &s
}

// finish fills in defaults that depend on other keys.
func (s *Scenario) finish(root *node) {
	s.Topology.finish()
	for i := range s.Strategies {
		if on := s.Strategies[i].On; on != nil {
			t := s.Topology
			t.Shape, t.Nodes, t.Replicas = on.Shape, on.Nodes, on.Replicas
			t.finish()
			s.Strategies[i].On = &t
		}
	}
	if root.find("phases.measure") == nil && s.Load.Open != nil && len(s.Load.Open.Stages) > 0 {
		s.Phases.Measure = s.Load.Open.length()
	}
	if root.get("trials") == nil && len(s.Faults) > 0 {
		s.Trials.Count = 1
	}
}

func (t *Topology) finish() {
	if t.Nodes == 0 {
		t.Nodes = t.defaultNodes()
	}
	if t.Replicas == 0 {
		t.Replicas = t.defaultReplicas()
	}
}
