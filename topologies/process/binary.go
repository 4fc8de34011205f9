package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// binary is a server program that was found.
type binary struct {
	path, name, version string
}

func (b binary) String() string { return b.name + " " + b.version }

// locate finds a server on PATH and asks its version.
func locate(ctx context.Context) (binary, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		version, err := askVersion(ctx, path)
		return binary{path, name, version}, err
	}
	return binary{}, errors.New("neither redis-server nor valkey-server is on PATH; install one, as with `apt-get install redis-server` or `brew install redis`")
}

// versionWord is in "Redis server v=7.0.15 sha=..." and in "Valkey server v=8.1.0 sha=...".
var versionWord = regexp.MustCompile(`\bv=([0-9][0-9.]*)`)

func askVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--version")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	m := versionWord.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s --version: this does not look like a Redis server", path)
	}
	return string(m[1]), nil
}

// major is 7 for "7.0.15".
func (b binary) major() int {
	n, _ := strconv.Atoi(regexp.MustCompile(`^[0-9]+`).FindString(b.version))
	return n
}
