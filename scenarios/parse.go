package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a file. The parser needs 126 MB for 9,000 open brackets and 2.4 s for 30,000 nested lists (goccy/go-yaml
// 1.19.2, measured), so depth and size are judged on the flat list of tokens, before it runs.
const (
	MaxSize   = 64 << 10 // bytes
	MaxDepth  = 32
	maxTokens = 20_000
)

// parse turns YAML into nodes. It knows nothing of scenarios; its error comes alone.
func parse(src []byte) (n *node, err *Error) {
	defer func() { // a parser of strangers' text may stumble; the text is wrong either way
		if x := recover(); x != nil {
			n, err = nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf("cannot be read as YAML: %v", x)}
		}
	}()
	if err := checkBytes(src); err != nil {
		return nil, err
	}
	if err := checkTokens(lexer.Tokenize(string(src))); err != nil {
		return nil, err
	}
	file, failed := parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey()) // duplicates: see convert
	if failed != nil {
		return nil, syntaxError(failed)
	}
	for _, d := range file.Docs {
		if d.Body != nil {
			return convert(d.Body, 0)
		}
	}
	return nil, &Error{Line: 1, Column: 1, Message: "the file says nothing"}
}

func checkBytes(src []byte) *Error {
	switch {
	case len(src) > MaxSize:
		return &Error{Message: fmt.Sprintf("the file is larger than %d KiB", MaxSize>>10)}
	case len(bytes.TrimSpace(src)) == 0:
		return &Error{Message: "the file is empty"}
	}
	line := 1
	for i, column := 0, 1; i < len(src); column++ {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return &Error{Line: line, Column: column, Message: "the file is not UTF-8"}
		case r == 0:
			return &Error{Line: line, Column: column, Message: "the file contains a NUL byte"}
		case r == '\n':
			line, column = line+1, 0
		}
		i += size
	}
	return nil
}

// refused are the YAML features that a scenario does without: they hide what a file says, or multiply it.
var refused = map[token.Type]string{
	token.AnchorType:     "anchors (&) are not allowed: write the value where it is used",
	token.AliasType:      "aliases (*) are not allowed: write the value where it is used; quote a text that begins with *",
	token.MergeKeyType:   "merge keys (<<) are not allowed: write the keys where they are used",
	token.TagType:        "tags (!) are not allowed; quote a text that begins with !",
	token.DirectiveType:  "directives (%) are not allowed",
	token.MappingKeyType: "keys written with ? are not allowed",
}

func checkTokens(tokens token.Tokens) *Error {
	var d depth
	for i, t := range tokens {
		at := func(message string) *Error {
			return &Error{Line: t.Position.Line, Column: t.Position.Column, Message: message}
		}
		switch {
		case refused[t.Type] != "":
			return at(refused[t.Type])
		case i >= maxTokens:
			return at("the file has too many values")
		case t.Type == token.DocumentHeaderType && i > 0 && !onlyComments(tokens[:i]),
			t.Type == token.DocumentEndType && !onlyComments(tokens[i+1:]):
			return at("a second document is not allowed: one scenario a file")
		case d.of(t) > MaxDepth:
			return at(fmt.Sprintf("nested deeper than %d levels", MaxDepth))
		}
	}
	return nil
}

func onlyComments(tokens token.Tokens) bool {
	for _, t := range tokens {
		if t.Type != token.CommentType {
			return false
		}
	}
	return true
}

// depth follows the nesting of a file from its tokens: open brackets, and the columns at which blocks begin.
type depth struct {
	brackets int
	columns  []int
}

func (d *depth) of(t *token.Token) int {
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		d.brackets++
	case token.MappingEndType, token.SequenceEndType:
		d.brackets = max(0, d.brackets-1)
	case token.SequenceEntryType, token.MappingValueType:
		if d.brackets == 0 {
			d.block(t)
		}
	}
	return d.brackets + len(d.columns)
}

func (d *depth) block(t *token.Token) {
	column := t.Position.Column
	if t.Type == token.MappingValueType && t.Prev != nil {
		column = t.Prev.Position.Column
	}
	for len(d.columns) > 0 && d.columns[len(d.columns)-1] >= column {
		d.columns = d.columns[:len(d.columns)-1]
	}
	d.columns = append(d.columns, column)
}

func syntaxError(err error) *Error {
	e := &Error{Line: 1, Column: 1, Message: "cannot be read as YAML: " + err.Error()}
	var y yaml.Error
	if errors.As(err, &y) {
		e.Message = "cannot be read as YAML: " + y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}

// convert copies the parser's tree; level bounds the recursion.
func convert(n ast.Node, level int) (*node, *Error) {
	at := place(n)
	if level > MaxDepth {
		return nil, &Error{Line: at.line, Column: at.column, Message: fmt.Sprintf("nested deeper than %d levels", MaxDepth)}
	}
	switch x := n.(type) {
	case *ast.MappingNode:
		return convertMap(at, x.Values, level)
	case *ast.MappingValueNode:
		return convertMap(at, []*ast.MappingValueNode{x}, level)
	case *ast.SequenceNode:
		m := &node{kind: list, at: at}
		for _, v := range x.Values {
			c, err := convert(v, level+1)
			if err != nil {
				return nil, err
			}
			m.items = append(m.items, c)
		}
		return m, nil
	case *ast.LiteralNode:
		return &node{kind: scalar, text: x.Value.Value, at: at}, nil
	case *ast.NullNode:
		return &node{kind: null, at: at}, nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: scalar, text: n.GetToken().Value, at: at}, nil
	}
	return nil, &Error{Line: at.line, Column: at.column, Message: fmt.Sprintf("%s is not allowed here", n.Type())}
}

func convertMap(at position, values []*ast.MappingValueNode, level int) (*node, *Error) {
	m := &node{kind: mapping, at: at}
	for i, v := range values {
		key, here := v.Key.GetToken().Value, place(v.Key)
		if i == 0 && m.at.line >= here.line { // a block's own token is its first colon
			m.at = earlier(m.at, here)
		}
		if m.get(key) != nil {
			return nil, &Error{Line: here.line, Column: here.column, Message: fmt.Sprintf("the key %q stands here twice", key)}
		}
		c, err := convert(v.Value, level+1)
		if err != nil {
			return nil, err
		}
		m.pairs = append(m.pairs, pair{key: key, at: here, value: c})
	}
	return m, nil
}

func earlier(a, b position) position {
	if b.line < a.line || b.line == a.line && b.column < a.column {
		return b
	}
	return a
}

func place(n ast.Node) position {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return position{line: 1, column: 1}
	}
	p := n.GetToken().Position
	return position{line: p.Line, column: p.Column}
}
