package scenarios

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.yaml
var library embed.FS

// Builtin are the names of the scenarios that come with lockbench, in order.
func Builtin() []string {
	entries, err := library.ReadDir(".")
	if err != nil {
		return nil // an embedded folder that is there cannot fail
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
	}
	return names
}

// Source is the text of a built-in scenario.
func Source(name string) ([]byte, bool) {
	src, err := library.ReadFile(name + ".yaml")
	return src, err == nil
}
