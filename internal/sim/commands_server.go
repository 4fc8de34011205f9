package sim

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version of Redis whose replies are simulated.
const Version = "7.0.15"

func serverTime(k *Keyspace, _ []string) reply {
	return textsReply([]string{strconv.FormatInt(k.us/1e6, 10), strconv.FormatInt(k.us%1e6, 10)})
}

func ping(_ *Keyspace, args []string) reply {
	switch len(args) {
	case 1:
		return reply{Kind: status, Text: "PONG"}
	case 2:
		return textReply(args[1])
	}
	return wrongArity("ping")
}

func echo(_ *Keyspace, args []string) reply { return textReply(args[1]) }

// selectDatabase: there is one.
func selectDatabase(_ *Keyspace, args []string) reply {
	switch n, isNumber := parseInteger(args[1]); {
	case !isNumber:
		return notInteger
	case n < 0 || n > 15:
		return fail("ERR DB index is out of range")
	case n > 0:
		return notSimulated("a database other than 0")
	}
	return okay
}

func publish(k *Keyspace, args []string) reply {
	if k.Publish == nil {
		return zero
	}
	return integerReply(int64(k.Publish(args[1], args[2])))
}

// info tells what topologies samples, whatever section is asked for. The CPU is all user time: a model has no kernel.
func info(k *Keyspace, _ []string) reply {
	var b strings.Builder
	role, cpu := k.Role, 0.0
	if role == "" {
		role = "master"
	}
	if k.CPU != nil {
		cpu = k.CPU().Seconds()
	}
	fmt.Fprintf(&b, "# Server\r\nredis_version:%s\r\nserver_name:simulated-redis\r\nredis_mode:standalone\r\n", Version)
	fmt.Fprintf(&b, "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n# Replication\r\nrole:%s\r\n", role)
	fmt.Fprintf(&b, "# CPU\r\nused_cpu_sys_main_thread:0.000000\r\nused_cpu_user_main_thread:%.6f\r\n", cpu)
	b.WriteString("# Commandstats\r\n")
	for _, line := range k.commandStats() {
		b.WriteString(line)
	}
	b.WriteString("# Keyspace\r\n")
	if keys, ends := k.size(); keys > 0 {
		fmt.Fprintf(&b, "db0:keys=%d,expires=%d,avg_ttl=0\r\n", keys, ends)
	}
	return textReply(b.String())
}

// commandStats counts commands inside scripts too, as Redis does.
func (k *Keyspace) commandStats() []string {
	var lines []string
	for i, n := range k.calls {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("cmdstat_%s:calls=%d\r\n", commandList[i].name, n))
		}
	}
	slices.Sort(lines)
	return lines
}

// size counts living keys, and those of them that have a TTL.
func (k *Keyspace) size() (keys, ends int) {
	k.sweep()
	for _, e := range k.entries {
		if e.deadline != 0 {
			ends++
		}
	}
	return len(k.entries), ends
}

// scriptCommand is SCRIPT LOAD, EXISTS and FLUSH.
func scriptCommand(k *Keyspace, args []string) reply {
	name := strings.ToLower(args[1])
	switch {
	case name == "load" && len(args) == 3:
		s, bad := k.load(args[2])
		if bad != nil {
			return *bad
		}
		return textReply(s.sha)
	case name == "exists" && len(args) > 2:
		all := make([]reply, 0, len(args)-2)
		for _, sha := range args[2:] {
			all = append(all, boolReply(k.scripts[strings.ToLower(sha)] != nil))
		}
		return listReply(all)
	case name == "flush" && len(args) == 2, name == "flush" && len(args) == 3 && isFlushMode(args[2]):
		k.scripts = map[string]*script{}
		return okay
	case name == "flush":
		return fail("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	case name == "load" || name == "exists":
		return wrongArity("script|" + name)
	}
	return notSimulated("command SCRIPT " + strings.ToUpper(args[1]))
}

func isFlushMode(word string) bool {
	return strings.EqualFold(word, "sync") || strings.EqualFold(word, "async")
}

func eval(k *Keyspace, args []string) reply {
	keys, rest, bad := keysAndArgs(args)
	if bad != nil {
		return *bad
	}
	s, bad := k.load(args[1])
	if bad != nil {
		return *bad
	}
	return k.engine.run(k, s, keys, rest)
}

func evalsha(k *Keyspace, args []string) reply {
	if len(args[1]) != 2*sha1.Size {
		return noScript
	}
	keys, rest, bad := keysAndArgs(args)
	if bad != nil {
		return *bad
	}
	s := k.scripts[args[1]]
	if s == nil {
		if s = k.scripts[strings.ToLower(args[1])]; s == nil {
			return noScript
		}
	}
	return k.engine.run(k, s, keys, rest)
}

func keysAndArgs(args []string) (keys, rest []string, bad *reply) {
	n, ok := parseInteger(args[2])
	switch {
	case !ok:
		return nil, nil, &notInteger
	case n > int64(len(args)-3):
		r := fail("ERR Number of keys can't be greater than number of args")
		return nil, nil, &r
	case n < 0:
		r := fail("ERR Number of keys can't be negative")
		return nil, nil, &r
	}
	return args[3 : 3+n], args[3+n:], nil
}

// Digest is the name by which EVALSHA knows a script: its SHA-1 in hexadecimal.
func Digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// load makes a script known to this server.
func (k *Keyspace) load(text string) (*script, *reply) {
	sha := Digest(text)
	if s := k.scripts[sha]; s != nil {
		return s, nil
	}
	s, err := k.engine.compile(sha, text)
	if err != nil {
		r := fail("ERR Error compiling script (new function): " + oneLine(err.Error()))
		return nil, &r
	}
	k.scripts[sha] = s
	return s, nil
}

// oneLine is a text that fits into a status or error.
func oneLine(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}
