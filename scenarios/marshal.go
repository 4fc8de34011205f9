package scenarios

import (
	"fmt"
	"regexp"
	"strings"
)

// Marshal writes s as YAML with every default filled in, matrix and exclude as they were. Read turns it into an equal
// Scenario: this is scenario.yaml of a run, and what `validate --explain` prints.
func Marshal(s *Scenario, v Vocabulary) []byte {
	axes, exclude := s.Matrix, s.Exclude
	c := *s
	fields := c.fields(v)
	for i, f := range fields {
		if f.name == "phases" { // the matrix stands before the phases, as in the documentation
			fields = append(fields[:i:i], append(matrixFields(&axes, &exclude), fields[i:]...)...)
			break
		}
	}
	var b strings.Builder
	emitMap(&b, writeFields(fields), "")
	return []byte(b.String())
}

// emitMap writes block style; a map without keys cannot be written so.
func emitMap(b *strings.Builder, n *node, indent string) {
	for _, p := range n.pairs {
		b.WriteString(indent + quoted(p.key) + ":")
		emitValue(b, p.value, indent)
	}
}

func emitValue(b *strings.Builder, n *node, indent string) {
	switch {
	case n.kind == mapping && len(n.pairs) > 0 && !flat(n):
		b.WriteString("\n")
		emitMap(b, n, indent+"  ")
	case n.kind == list && len(n.items) > 0 && !flat(n):
		b.WriteString("\n")
		for _, x := range n.items {
			b.WriteString(indent + "  - ")
			emitFlow(b, x)
			b.WriteString("\n")
		}
	default:
		b.WriteString(" ")
		emitFlow(b, n)
		b.WriteString("\n")
	}
}

// flat tells whether a value holds only single values, so that one line shows it best.
func flat(n *node) bool {
	for _, x := range n.items {
		if x.kind != scalar || len(n.items) > 8 {
			return false
		}
	}
	for _, p := range n.pairs {
		if p.value.kind != scalar || len(n.pairs) > 4 {
			return false
		}
	}
	return true
}

func emitFlow(b *strings.Builder, n *node) {
	switch n.kind {
	case scalar:
		b.WriteString(quoted(n.text))
	case list:
		b.WriteString("[")
		for i, x := range n.items {
			b.WriteString([]string{"", ", "}[min(i, 1)])
			emitFlow(b, x)
		}
		b.WriteString("]")
	default:
		b.WriteString("{")
		for i, p := range n.pairs {
			b.WriteString([]string{"", ", "}[min(i, 1)] + quoted(p.key) + ": ")
			emitFlow(b, p.value)
		}
		b.WriteString("}")
	}
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/%+µ-]*(( -> | )[A-Za-z0-9][A-Za-z0-9._/%+µ-]*)*$`)
	nullText  = regexp.MustCompile(`(?i)^(null|~|)$`)
)

// quoted is text as a YAML scalar, in quotes where a bare one would be read as something else.
func quoted(s string) string {
	if plainText.MatchString(s) && !nullText.MatchString(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || r == 0x85 || r == 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
