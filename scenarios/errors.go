package scenarios

import (
	"fmt"
	"strings"
)

// Error is one thing wrong with a scenario, and where.
type Error struct {
	File         string // name given to Read, or "--set path=value"
	Line, Column int    // from 1; 0 where the text came from --set
	Path         string // of the value, as load.open.rate; "" for the file as a whole
	Message      string // what is wrong and what would be right
	Suggestion   string // the name that was probably meant; "" none
}

// Error is one line, as `flash-sale.yaml:7:11: load.open.rate: "200" needs a unit, as 200/s`.
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	b.WriteString(": " + e.Message)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, " (did you mean %q?)", e.Suggestion)
	}
	return b.String()
}

// Errors is everything wrong with a scenario, in the order of the file.
type Errors []Error

// Error has one line for each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// maxErrors ends the search: a file with more mistakes than a screen holds is another kind of file.
const maxErrors = 100

// Closest is the candidate that a mistyped name most probably means, or "": at most one edit for every three
// characters, two for short names. An exchange of neighbours counts as one edit (Damerau).
func Closest(name string, candidates []string) string {
	best, least := "", max(2, len(name)/3)+1
	if len(name) > maxName {
		return ""
	}
	for _, c := range candidates {
		if d := edits(strings.ToLower(name), strings.ToLower(c)); d < least && d < max(len(c), 2) {
			best, least = c, d
		}
	}
	return best
}

// maxName is the longest name that is worth comparing.
const maxName = 64

// edits is the optimal string alignment distance of a and b.
func edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
