package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
)

// pure tells whether a file must run in virtual time too: it starts nothing, waits for nothing and draws nothing but
// through its arguments.
func pure(name string) bool {
	switch path.Dir(name) {
	case "strategies", "strategies/retry", "internal/load":
		return true
	}
	return name == "internal/bench/session.go"
}

// realTime are the packages that deal with the world outside: servers, processes, people. All others get their time
// from a clock.Clock or as a value.
var realTime = map[string]bool{
	"strategies/clock": true, "strategies/goredis": true, "strategies/libraries": true, "strategies/backends": true,
	"strategies/lockertest": true,
	"topologies":            true, "topologies/external": true, "topologies/process": true, "topologies/container": true,
	"topologies/embedded": true,
	"internal/bench":      true, "internal/fleet": true,
	"cmd/lockbench": true,
}

// wallClockNames of package time read the machine's clock or wait by it.
var wallClockNames = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

// wallClock: nobody reads the machine's clock, or waits by it, but the packages that deal with the world outside.
func (s *source) wallClock() {
	s.uses(func(at token.Pos, importPath, name string) {
		if importPath == "time" && slices.Contains(wallClockNames, name) {
			s.offend(at, "wall clock", "time.%s; take a clock.Clock", name)
		}
	})
}

// Names of a package that a pure file may not import or use.
var (
	impureImports = map[string]string{
		"sync":        "wait through clock.Group and clock.Signal",
		"math/rand":   "take a *rand.Rand of math/rand/v2",
		"crypto/rand": "take a *rand.Rand",
	}
	// contextNames make no context that ends by the machine's clock, and start nothing.
	contextNames = []string{"Context", "CancelFunc", "Background", "WithoutCancel", "WithValue", "Cause", "Canceled", "DeadlineExceeded"}
	// randNames make a source of one's own.
	randNames = []string{"Rand", "Source", "PCG", "ChaCha8", "Zipf", "New", "NewPCG", "NewChaCha8", "NewZipf"}
)

// pure: no go statement, channel or select, no sync but its atomics, no context of the standard library that ends by
// itself, no clock of the machine, no randomness that others share.
func (s *source) pure() {
	s.imports(func(at token.Pos, importPath string) {
		if instead := impureImports[importPath]; instead != "" {
			s.offend(at, "pure", "import of %s; %s", importPath, instead)
		}
	})
	s.uses(func(at token.Pos, importPath, name string) {
		switch {
		case importPath == "context" && !slices.Contains(contextNames, name):
			s.offend(at, "pure", "context.%s; take a clock.Clock", name)
		case importPath == "math/rand/v2" && !slices.Contains(randNames, name):
			s.offend(at, "pure", "rand.%s is shared by all; take a *rand.Rand", name)
		case importPath == "time" && realTime[s.dir] && slices.Contains(wallClockNames, name):
			s.offend(at, "pure", "time.%s; take a clock.Clock", name)
		}
	})
	ast.Inspect(s.file, func(n ast.Node) bool {
		if what := concurrency(n); what != "" {
			s.offend(n.Pos(), "pure", "%s; use clock.Group and clock.Signal", what)
		}
		return true
	})
}

// concurrency names the language's own means in n; "" where it is none.
func concurrency(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement"
	case *ast.ChanType:
		return "channel"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "send"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive"
		}
	}
	return ""
}
