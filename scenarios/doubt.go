package scenarios

import (
	"fmt"
	"strings"
)

// above tells whether one of some paths is path, or holds it. The file as a whole ("") holds nothing: a key that is
// missing says nothing about the others.
func above(paths map[string]bool, path string) bool {
	for path != "" {
		if paths[path] {
			return true
		}
		path, _ = cutLast(path)
	}
	return false
}

// about tells whether one of some paths is path, holds it, or lies in it.
func about(paths map[string]bool, path string) bool {
	if above(paths, path) {
		return true
	}
	for p := range paths {
		if strings.HasPrefix(p, path+".") {
			return true
		}
	}
	return false
}

// reads tells whether these values, and all that they hold, could be read: what is checked between keys must not
// blame one for a mistake in the other.
func (c checker) reads(paths ...string) bool {
	for _, p := range paths {
		if about(c.bad, p) {
			return false
		}
	}
	return true
}

// has tells whether it is known which keys stand at a path, right or wrong.
func (c checker) has(path string) bool { return !above(c.bad, path) }

// labelled tells whether a row of strategies or retries has the label that its author means: where the name is a slip
// of the pen and there is no `as`, nobody knows.
func (c checker) labelled(list string, i int, label string, names []Name) bool {
	path := fmt.Sprintf("%s.%d", list, i)
	if label == "" || c.bad[path+".as"] {
		return false
	}
	_, known := lookup(names, label)
	return known || c.root.find(path+".as") != nil
}

// unlabelled are the lists of rows whose labels are not all known.
func (c checker) unlabelled() map[string]bool {
	out := map[string]bool{"strategies": c.bad["strategies"], "retries": c.bad["retries"]}
	for i, row := range c.s.Strategies {
		out["strategies"] = out["strategies"] || !c.labelled("strategies", i, row.Label, c.r.voc.Strategies)
	}
	for i, row := range c.s.Retries {
		out["retries"] = out["retries"] || !c.labelled("retries", i, row.Label, c.r.voc.Retries)
	}
	return out
}
