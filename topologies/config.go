package topologies

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// configurable are the server settings that a scenario may change. It is an allow-list because a scenario may come
// from a stranger: loadmodule runs code, dir and logfile write files, bind opens the server to the network.
var configurable = []string{
	"activedefrag", "activerehashing", "appendfsync", "appendonly", "busy-reply-threshold", "databases", "dynamic-hz", "hz",
	"io-threads", "io-threads-do-reads", "latency-monitor-threshold", "latency-tracking", "lazyfree-lazy-expire",
	"lazyfree-lazy-server-del", "lazyfree-lazy-user-del", "lua-time-limit", "maxclients", "maxmemory", "maxmemory-policy",
	"maxmemory-samples", "active-expire-effort", "notify-keyspace-events", "proto-max-bulk-len", "save", "slowlog-log-slower-than",
	"slowlog-max-len", "tcp-backlog", "tcp-keepalive", "timeout",
}

// savePoints are the times of snapshots; with others a server does not start.
var savePoints = regexp.MustCompile(`^([1-9][0-9]{0,8} [0-9]{1,9}( [1-9][0-9]{0,8} [0-9]{1,9})*)?$`)

// CheckConfig refuses settings that are not on the list, and values that a server would read as a further option.
func CheckConfig(config map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains(configurable, name) {
			return fmt.Errorf("config %q cannot be set from a scenario; these can: %s", name, strings.Join(slices.Sorted(slices.Values(configurable)), ", "))
		}
		value := config[name]
		if len(value) > 128 || strings.HasPrefix(value, "-") || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("config %s: the value must be at most 128 characters, without control characters and not begin with a dash", name)
		}
		if name == "save" && !savePoints.MatchString(value) {
			return fmt.Errorf("config save: %q is not pairs of seconds and changes, as \"900 1\", or empty", value)
		}
	}
	return nil
}

// ServerArgs are the arguments, after the program's name, of a server that keeps nothing on disk and answers on one
// address. Settings of config come last and win. identity is what Ready looks for.
func ServerArgs(bind string, port int, protected bool, identity string, config map[string]string) []string {
	mode := map[bool]string{true: "yes", false: "no"}[protected]
	args := []string{
		"--port", fmt.Sprint(port), "--bind", bind, "--protected-mode", mode, "--daemonize", "no",
		"--save", "", "--appendonly", "no", "--syslog-ident", identity,
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		args = append(args, "--"+name, config[name])
	}
	return args
}
