package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/results"
)

var update = flag.Bool("update", false, "rewrite the README's session from the published run")

// TestReadmeShowsThePublishedRun holds the session on the README's first screen to the files of the run that is
// published beside it.
func TestReadmeShowsThePublishedRun(t *testing.T) {
	dirs, err := filepath.Glob("../../results/published/*/retry-storm")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no published run of retry-storm: %v", err)
	}
	d, err := results.Read(dirs[len(dirs)-1])
	if err != nil {
		t.Fatal(err)
	}
	d.Dir = ""
	var table bytes.Buffer
	if err := report.Text(&table, d); err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- session -->\n", "<!-- /session -->"
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(readme), begin)
	shown, tail, found := strings.Cut(rest, end)
	want := "```\n$ go run ./cmd/lockbench run retry-storm\n" + table.String() + "```\n"
	if !found {
		t.Fatal("the README has no place for the session")
	}
	if *update {
		if err := os.WriteFile("../../README.md", []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("the README's session is not the published run (go test ./cmd/lockbench -run Published -update rewrites it):\n%s", diff)
	}
}

// blocks are the fenced blocks of a language in a Markdown file.
func blocks(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// commands are the lines of the sh blocks, without their comments.
func commands(t *testing.T, file string) []string {
	t.Helper()
	var all []string
	for _, block := range blocks(t, file, "sh") {
		for line := range strings.Lines(block) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}

// TestReadmeCommandsWork runs every lockbench command of the READMEs: runs are cut short and made on the embedded
// server, my.yaml is the scenario that the README shows, RUN is what a run has left.
func TestReadmeCommandsWork(t *testing.T) {
	readme, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	chinese, makefile := filepath.Join(filepath.Dir(readme), "README.zh-CN.md"), filepath.Join(filepath.Dir(readme), "Makefile")
	var all []string
	for _, file := range []string{readme, chinese} {
		all = append(all, commands(t, file)...)
	}
	scenario := blocks(t, readme, "yaml")[0]
	targets, err := os.ReadFile(makefile)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"my.yaml", "checkout.yaml"} {
		if err := os.WriteFile(name, []byte(scenario), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	done := map[string]bool{}
	for _, line := range all {
		if done[line] {
			continue
		}
		done[line] = true
		t.Run(line, func(t *testing.T) { try(t, line, string(targets)) })
	}
}

func try(t *testing.T, line, makefile string) {
	if target, ok := strings.CutPrefix(line, "make "); ok {
		if !strings.Contains(makefile, "\n"+target+":") {
			t.Errorf("the Makefile has no target %s", target)
		}
		return
	}
	line = strings.TrimPrefix(line, "go run ./cmd/")
	args := strings.Fields(line)
	if args[0] != "lockbench" {
		return
	}
	args = before(args[1:], ">")
	switch {
	case args[0] == "run":
		args = quickly(t, args)
	case args[0] == "report":
		dir := filepath.Join(t.TempDir(), "run")
		command(context.Background(), append(quickly(t, []string{"run", "my.yaml"}), "--out", dir)...)
		args[1] = dir
	}
	r := command(context.Background(), args...)
	if r.status != statusPass && (args[0] != "run" || r.status != statusInvalid && r.status != statusThreshold) {
		t.Errorf("status %d\n%s", r.status, r.err)
	}
}

// quickly keeps what the line asks for and makes it quick: a run of a second or two measures too little for a verdict
// or a percentile, which its exit status may say.
func quickly(t *testing.T, args []string) []string {
	t.Helper()
	if i := slices.Index(args, "--address"); i >= 0 {
		args = slices.Delete(slices.Clone(args), i, i+2)
	}
	return append(slices.Clone(args), "--provider", "embedded", "--trials", "1", "--set", "phases.warmup=100ms", "--set", "phases.measure=400ms")
}

// before is what stands before a word.
func before(args []string, word string) []string {
	if i := slices.Index(args, word); i >= 0 {
		return args[:i]
	}
	return args
}
