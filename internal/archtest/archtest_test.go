package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

func TestTheTreeKeepsItsRules(t *testing.T) {
	offences, err := Check(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range offences {
		t.Error(o)
	}
}

func TestTheModuleIsTheOneInGoMod(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(text), "\n"); first != "module "+Module {
		t.Errorf("go.mod begins with %q, the rules are written for %q", first, Module)
	}
}

func TestThePlacesThatMustBePureExist(t *testing.T) {
	for _, place := range []string{"strategies/locker.go", "strategies/retry/loop.go", "internal/load/arrivals.go", "internal/bench/session.go"} {
		if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(place))); err != nil || !pure(place) {
			t.Errorf("%s is not there, or no longer held to be pure: %v", place, err)
		}
	}
}

func TestTheTableIsConsistent(t *testing.T) {
	for from, l := range table {
		for _, to := range l.arrow {
			if target, known := table[to]; !known || target.level >= l.level {
				t.Errorf("the arrow of %s names %s, which is not below it", from, to)
			}
		}
	}
}

// offence is what the rules say of one planted file.
func offence(t *testing.T, name, text string) string {
	t.Helper()
	found, err := Check(fstest.MapFS{name: {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, o := range found {
		lines = append(lines, o.String())
	}
	return strings.Join(lines, "\n")
}

func TestPlantedOffencesAreFound(t *testing.T) {
	const pureFile = "strategies/x.go"
	for _, c := range []struct{ name, file, text, want string }{
		{"upward import", "results/x.go", `import _ "` + Module + `/internal/bench"`, "layers: results (level 0) imports internal/bench (level 3)"},
		{"sideways import", "topologies/process/x.go", `import _ "` + Module + `/topologies/container"`, "layers: topologies/process (level 3) imports topologies/container"},
		{"import beside the arrow", "internal/load/x.go", `import _ "` + Module + `/scenarios"`, "layers: internal/load imports scenarios; its arrow names only strategies/clock"},
		{"package without a place", "internal/extra/x.go", ``, "layers: package internal/extra has no place"},
		{"import of a package without a place", "internal/bench/x.go", `import _ "` + Module + `/internal/extra"`, "layers: internal/extra has no place"},
		{"library of another", "cmd/lockbench/x.go", `import _ "github.com/redis/go-redis/v9"`, "owners: github.com/redis/go-redis/v9 belongs to strategies/goredis"},
		{"library without an owner", "cmd/lockbench/x.go", `import _ "example.org/left-pad"`, "owners: example.org/left-pad has no owner"},
		{"library of the tests", "internal/check/x.go", `import _ "github.com/anishathalye/porcupine"`, "owners: github.com/anishathalye/porcupine has no owner"},
		{"go statement", pureFile, `func f() { go f() }`, "pure: go statement"},
		{"channel", "strategies/retry/x.go", `var c chan int`, "pure: channel"},
		{"select", pureFile, `func f() { select {} }`, "pure: select"},
		{"send", pureFile, `func f() { c() <- 1 }`, "pure: send"},
		{"receive", "internal/load/x.go", "import \"context\"\nfunc f(ctx context.Context) { <-ctx.Done() }", "pure: receive"},
		{"mutex", pureFile, "import \"sync\"\nvar m sync.Mutex", "pure: import of sync"},
		{"context with a deadline", pureFile, "import \"context\"\nvar f = context.WithTimeout", "pure: context.WithTimeout"},
		{"context under another name", "internal/bench/session.go", "import c \"context\"\nvar f = c.WithCancel", "pure: context.WithCancel"},
		{"work after a context", pureFile, "import \"context\"\nvar f = context.AfterFunc", "pure: context.AfterFunc"},
		{"wall clock in a pure package", pureFile, "import \"time\"\nvar f = time.Now", "wall clock: time.Now"},
		{"wall clock in the session", "internal/bench/session.go", "import \"time\"\nvar f = time.Sleep", "pure: time.Sleep"},
		{"wall clock in the report", "internal/report/x.go", "import \"time\"\nvar f = time.Since", "wall clock: time.Since"},
		{"shared randomness", "internal/load/x.go", "import \"math/rand/v2\"\nvar f = rand.IntN", "pure: rand.IntN is shared"},
		{"old randomness", pureFile, "import \"math/rand\"\nvar f = rand.New", "pure: import of math/rand"},
		{"randomness of the machine", pureFile, "import \"crypto/rand\"\nvar f = rand.Read", "pure: import of crypto/rand"},
		{"folder with an empty name", "internal/util/x.go", "", "names: a folder called util"},
		{"dot import", "internal/bench/x.go", `import . "time"`, "names: dot import"},
		{"note in a comment", "results/x_test.go", "// TO" + "DO later", "notes: TO" + "DO in a comment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := offence(t, c.file, "package x\n"+c.text+"\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAPackageWithAnEmptyNameIsFound(t *testing.T) {
	if got := offence(t, "results/x.go", "package helper\n"); !strings.Contains(got, "names: a package called helper") {
		t.Errorf("got %q", got)
	}
}

func TestANoteInLuaIsFound(t *testing.T) {
	if got := offence(t, "strategies/x.lua", "return 1\n-- FIX"+"ME\n"); !strings.Contains(got, "x.lua:2: notes: FIX"+"ME") {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsAllowedIsNotFound(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"the arrow", "strategies/x.go", `import _ "` + Module + `/strategies/clock"`},
		{"anything lower", "internal/bench/x.go", `import _ "` + Module + `/internal/check"`},
		{"atomics", "strategies/x.go", "import \"sync/atomic\"\nvar n atomic.Int64"},
		{"a context that nothing cancels", "strategies/x.go", "import \"context\"\nvar f = context.WithoutCancel"},
		{"randomness of one's own", "internal/load/x.go", "import \"math/rand/v2\"\nvar r = rand.New(rand.NewPCG(1, 2))"},
		{"durations", "strategies/x.go", "import \"time\"\nvar d = 3 * time.Second"},
		{"a variable that hides a package", "strategies/x.go", "import \"time\"\nvar _ time.Duration\nfunc f(time struct{ Now int }) int { return time.Now }"},
		{"the wall clock outside", "topologies/process/x.go", "import \"time\"\nvar f = time.Now"},
		{"concurrency outside the session", "internal/bench/x.go", "func f() { go f() }"},
		{"an owner", "strategies/goredis/x.go", `import _ "github.com/redis/go-redis/v9"`},
		{"test libraries in tests", "internal/check/x_test.go", `import _ "github.com/anishathalye/porcupine"`},
		{"a test's imports", "results/x_test.go", `import _ "` + Module + `/internal/bench"`},
		{"data", "results/runs/old/x.go", "import . \"time\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := offence(t, c.file, "package x\n"+c.text+"\n"); got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
}
