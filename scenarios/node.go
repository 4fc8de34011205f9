package scenarios

import (
	"slices"
	"strconv"
	"strings"
)

// kind of a node.
type kind uint8

const (
	null kind = iota
	scalar
	list
	mapping
)

func (k kind) String() string { return [...]string{"nothing", "a value", "a list", "a map"}[k] }

// node is a piece of a scenario as written: a scalar keeps its text, so that nothing is guessed from it.
type node struct {
	kind  kind
	text  string  // of a scalar
	items []*node // of a list
	pairs []pair  // of a map, in the order of the file
	at    position
}

type pair struct {
	key   string
	at    position
	value *node
}

// position in the file or in a --set.
type position struct {
	source       string // "--set path=value"; "" the file
	line, column int
}

func text(s string) *node { return &node{kind: scalar, text: s} }

func listOf(items ...*node) *node { return &node{kind: list, items: items} }

func mapOf(pairs ...pair) *node { return &node{kind: mapping, pairs: pairs} }

// get is the value under a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, p := range n.pairs {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// put sets the value under a key.
func (n *node) put(key string, v *node) {
	for i, p := range n.pairs {
		if p.key == key {
			n.pairs[i].value = v
			return
		}
	}
	n.pairs = append(n.pairs, pair{key: key, at: v.at, value: v})
}

// without is n less some keys; the rest is shared.
func (n *node) without(keys ...string) *node {
	c := *n
	c.pairs = slices.DeleteFunc(slices.Clone(n.pairs), func(p pair) bool { return slices.Contains(keys, p.key) })
	return &c
}

// clone shares nothing with n.
func (n *node) clone() *node {
	if n == nil {
		return nil
	}
	c := *n
	c.items = make([]*node, len(n.items))
	for i, x := range n.items {
		c.items[i] = x.clone()
	}
	c.pairs = make([]pair, len(n.pairs))
	for i, p := range n.pairs {
		c.pairs[i] = pair{key: p.key, at: p.at, value: p.value.clone()}
	}
	return &c
}

// find is the node at a path as load.open.rate or strategies.1.shards, or nil.
func (n *node) find(path string) *node {
	for step := range strings.SplitSeq(path, ".") {
		if n == nil {
			return nil
		}
		if n.kind == list {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.items) {
				return nil
			}
			n = n.items[i]
			continue
		}
		n = n.get(step)
	}
	return n
}

// set puts v at a path, and makes the maps on the way that are not there: hold: 5ms becomes a map for
// hold.exponential.mean. It is false where the path leads through a list to an item that does not exist.
func (n *node) set(path string, v *node) bool {
	steps := strings.Split(path, ".")
	for i, step := range steps[:len(steps)-1] {
		next, ok := n.child(step)
		if !ok {
			return false
		}
		if next == nil || next.kind != mapping && !(next.kind == list && countText.MatchString(steps[i+1])) {
			next = opened(steps[:i+2], next, v.at)
			n.place(step, next)
		}
		n = next
	}
	last := steps[len(steps)-1]
	if _, ok := n.child(last); !ok {
		return false
	}
	n.place(last, v)
	return true
}

// opened is the map that a value becomes when the last step of path is set inside it: a row of strategies keeps its
// name, a row of retries its policy, and a list is what it was short for, as the parts of a mixture.
func opened(path []string, was *node, at position) *node {
	m := &node{kind: mapping, at: at}
	switch {
	case was == nil || was.kind == null:
	case was.kind == list:
		m.put(path[len(path)-1], was)
	case len(path) == 3 && path[0] == "strategies":
		m.put("name", was)
	case len(path) == 3 && path[0] == "retries":
		m.put(was.text, &node{kind: null, at: was.at})
	}
	return m
}

func (n *node) child(step string) (*node, bool) {
	if n.kind != list {
		return n.get(step), true
	}
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= len(n.items) {
		return nil, false
	}
	return n.items[i], true
}

func (n *node) place(step string, v *node) {
	if n.kind == list {
		i, _ := strconv.Atoi(step) // child has checked it
		n.items[i] = v
		return
	}
	n.put(step, v)
}
