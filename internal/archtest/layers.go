package archtest

import (
	"go/token"
	"slices"
	"strings"
)

// layer is the place of a package: it may import what lies lower, or only what its arrow names.
type layer struct {
	level int
	arrow []string // nil: any package on a lower level
}

// table is the import table of the design. A package that is not in it has no place yet.
var table = map[string]layer{
	"cmd/lockbench": {5, nil},

	"internal/fleet": {4, []string{"internal/bench", "scenarios", "results", "internal/fault"}},
	"internal/plan":  {4, []string{"internal/bench", "internal/sim", "topologies", "scenarios", "results", "internal/stat"}},

	"internal/bench":       {3, nil},
	"topologies/external":  {3, nil},
	"topologies/process":   {3, nil},
	"topologies/container": {3, nil},
	"topologies/embedded":  {3, nil},
	"topologies/virtual":   {3, nil},

	"topologies":            {2, nil},
	"strategies/retry":      {2, nil},
	"strategies/goredis":    {2, nil},
	"strategies/libraries":  {2, nil},
	"strategies/backends":   {2, nil},
	"strategies/lockertest": {2, nil},
	"internal/sim":          {2, nil},
	"internal/report":       {2, []string{"plots", "results", "internal/stat"}},

	"strategies":     {1, []string{"strategies/clock"}},
	"internal/load":  {1, []string{"strategies/clock"}},
	"internal/fault": {1, []string{"strategies/clock"}},
	"internal/check": {1, []string{"results"}},
	"plots":          {1, []string{"results"}},

	"strategies/clock":  {0, nil},
	"internal/stat":     {0, nil},
	"scenarios":         {0, nil},
	"results":           {0, nil},
	"internal/archtest": {0, nil},
}

// layers: imports inside the module go strictly downwards, along the arrow where there is one.
func (s *source) layers() {
	from, known := table[s.dir]
	if !known {
		s.offend(s.file.Package, "layers", "package %s has no place in the import table", s.dir)
		return
	}
	s.imports(func(at token.Pos, importPath string) {
		to, inside := strings.CutPrefix(importPath, Module+"/")
		if !inside {
			return
		}
		target, known := table[to]
		switch {
		case !known:
			s.offend(at, "layers", "%s has no place in the import table", to)
		case target.level >= from.level:
			s.offend(at, "layers", "%s (level %d) imports %s (level %d)", s.dir, from.level, to, target.level)
		case from.arrow != nil && !slices.Contains(from.arrow, to):
			s.offend(at, "layers", "%s imports %s; its arrow names only %s", s.dir, to, strings.Join(from.arrow, ", "))
		}
	})
}

// library gives packages below a path to the packages of this module that may import them.
type library struct {
	prefix string
	owners []string // nil: everybody
}

// libraries of others and who owns them. golang.org/x/sys counts as a part of the standard library.
var libraries = []library{
	{"github.com/redis/go-redis/", []string{"strategies/goredis", "strategies/libraries"}},
	{"github.com/redis/rueidis", []string{"strategies/goredis", "strategies/libraries"}},
	{"github.com/go-redsync/redsync/", []string{"strategies/libraries"}},
	{"github.com/bsm/redislock", []string{"strategies/libraries"}},
	{"go.etcd.io/etcd/client/", []string{"strategies/backends"}},
	{"github.com/go-zookeeper/zk", []string{"strategies/backends"}},
	{"github.com/jackc/pgx/", []string{"strategies/backends"}},
	{"github.com/testcontainers/testcontainers-go", []string{"topologies/container"}},
	{"github.com/moby/moby/", []string{"topologies/container"}},
	{"github.com/docker/go-connections/", []string{"topologies/container"}},
	{"github.com/containerd/errdefs", []string{"topologies/container"}}, // the errors of moby/client
	{"github.com/alicebob/miniredis/", []string{"topologies/embedded"}},
	{"github.com/yuin/gopher-lua", []string{"internal/sim"}},
	{"github.com/HdrHistogram/hdrhistogram-go", []string{"results"}},
	{"gonum.org/v1/plot", []string{"plots"}},
	{"golang.org/x/image", []string{"plots"}},
	{"gonum.org/v1/gonum/", []string{"internal/stat", "internal/plan"}},
	{"golang.org/x/perf/", []string{"internal/stat"}},
	{"github.com/aclements/go-moremath/", []string{"internal/stat"}},
	{"github.com/goccy/go-yaml", []string{"scenarios"}},
	{"github.com/spf13/", []string{"cmd/lockbench"}},
	{"github.com/prometheus/", []string{"cmd/lockbench"}},
	{"github.com/schollz/progressbar/", []string{"cmd/lockbench"}},
	{"golang.org/x/sys/", nil},
}

// owners: a third-party library is imported by its owners alone.
func (s *source) owners() {
	s.imports(func(at token.Pos, importPath string) {
		first, _, _ := strings.Cut(importPath, "/")
		if !strings.Contains(first, ".") || strings.HasPrefix(importPath, Module+"/") {
			return
		}
		i := slices.IndexFunc(libraries, func(l library) bool { return strings.HasPrefix(importPath, l.prefix) })
		switch {
		case i < 0:
			s.offend(at, "owners", "%s has no owner", importPath)
		case libraries[i].owners != nil && !slices.Contains(libraries[i].owners, s.dir):
			s.offend(at, "owners", "%s belongs to %s", importPath, strings.Join(libraries[i].owners, ", "))
		}
	})
}
