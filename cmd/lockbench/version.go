package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version of this source; a build from a tagged module names that tag instead.
const version = "0.1.0-dev"

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v, commit := build()
			_, err := fmt.Fprintf(a.out, "lockbench %s %s %s %s/%s\n", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// build names the version and the commit that this binary was made from.
func build() (v, commit string) {
	v, commit = version, "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v, commit
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v = m
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty {
		commit += "+changes"
	}
	return v, commit
}
