package archtest

import (
	"regexp"
	"slices"
	"strings"
)

// emptyNames of packages say nothing about what is inside.
var emptyNames = []string{"base", "common", "helper", "helpers", "misc", "pkg", "shared", "types", "util", "utils"}

// names: a package is called after what it provides. A dot import hides where a name is from, and from these rules.
func (s *source) names() {
	if n := s.file.Name.Name; slices.Contains(emptyNames, n) {
		s.offend(s.file.Name.Pos(), "names", "a package called %s", n)
	}
	for _, part := range strings.Split(s.dir, "/") {
		if slices.Contains(emptyNames, part) {
			s.offend(s.file.Package, "names", "a folder called %s", part)
		}
	}
	for _, i := range s.file.Imports {
		if i.Name != nil && i.Name.Name == "." {
			s.offend(i.Pos(), "names", "dot import of %s", i.Path.Value)
		}
	}
}

// note matches what people write instead of doing it.
var note = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// notes: what is left to do is done, or filed, and does not wait in a comment.
func (s *source) notes() {
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if m := note.FindString(c.Text); m != "" {
				s.offend(c.Pos(), "notes", "%s in a comment", m)
			}
		}
	}
}

func luaNotes(name, text string) []Offence {
	var found []Offence
	for i, line := range strings.Split(text, "\n") {
		_, comment, _ := strings.Cut(line, "--")
		if m := note.FindString(comment); m != "" {
			found = append(found, Offence{name, i + 1, "notes", m + " in a comment"})
		}
	}
	return found
}
