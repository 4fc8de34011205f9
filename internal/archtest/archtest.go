// Package archtest holds the rules of the house that the compiler does not know: which package may import which,
// who owns a third-party library, where time, randomness and concurrency must come as arguments. Its test reads the
// whole tree. Test files are exempt from all rules but the one on notes left behind.
package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is the path of this module.
const Module = "github.com/lockbench/lockbench"

// Offence is one broken rule.
type Offence struct {
	File string
	Line int
	Rule string // layers, owners, pure, wall clock, names, notes
	What string
}

func (o Offence) String() string { return fmt.Sprintf("%s:%d: %s: %s", o.File, o.Line, o.Rule, o.What) }

// Check reads every Go and Lua file below the root of tree and returns all offences in order of file and line.
func Check(tree fs.FS) ([]Offence, error) {
	var all []Offence
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		found, err := checkFile(tree, name)
		all = append(all, found...)
		return err
	})
	slices.SortFunc(all, func(a, b Offence) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	return all, err
}

// skipped are folders without source of this module.
func skipped(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) ||
		base == "testdata" || base == "vendor" || dir == "results/runs" || dir == "results/published"
}

func checkFile(tree fs.FS, name string) ([]Offence, error) {
	switch path.Ext(name) {
	case ".go", ".lua":
	default:
		return nil, nil
	}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	if path.Ext(name) == ".lua" {
		return luaNotes(name, string(text)), nil
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("rules need source that parses: %w", err)
	}
	s := &source{name: name, dir: path.Dir(name), set: set, file: parsed}
	s.check()
	return s.found, nil
}

// source is one Go file under examination.
type source struct {
	name, dir string
	set       *token.FileSet
	file      *ast.File
	found     []Offence
}

func (s *source) check() {
	s.notes()
	if strings.HasSuffix(s.name, "_test.go") {
		return
	}
	s.names()
	s.layers()
	s.owners()
	if !realTime[s.dir] {
		s.wallClock()
	}
	if pure(s.name) {
		s.pure()
	}
}

func (s *source) offend(at token.Pos, rule, format string, args ...any) {
	s.found = append(s.found, Offence{s.name, s.set.Position(at).Line, rule, fmt.Sprintf(format, args...)})
}

// imports calls f with every import path.
func (s *source) imports(f func(at token.Pos, importPath string)) {
	for _, i := range s.file.Imports {
		f(i.Pos(), strings.Trim(i.Path.Value, `"`))
	}
}

// uses calls f with every mention of a name that a package of the standard library exports, as ("time", "Now").
func (s *source) uses(f func(at token.Pos, importPath, name string)) {
	known := map[string]string{}
	for _, i := range s.file.Imports {
		p := strings.Trim(i.Path.Value, `"`)
		known[localName(i, p)] = p
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			// An identifier with an object is declared in this file: a variable that hides the package.
			if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && known[x.Name] != "" {
				f(sel.Pos(), known[x.Name], sel.Sel.Name)
			}
		}
		return true
	})
}

// localName is the name by which a file knows an import. A version is no name: math/rand/v2 is rand.
func localName(i *ast.ImportSpec, p string) string {
	if i.Name != nil {
		return i.Name.Name
	}
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && base[1] >= '0' && base[1] <= '9' {
		base = path.Base(path.Dir(p))
	}
	return base
}
