package sim

import (
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/lockbench/lockbench/strategies"
)

// Engine runs scripts, one at a time, as Redis 7.0 does: the same Lua, the same library but for cjson, cmsgpack, struct
// and bit, globals that cannot be changed. What it has compiled it keeps, for all the servers that share it: an interpreter costs
// a fraction of a millisecond to make.
//
// Known differences: pairs visits named fields in the order of their arrival, where Redis has none that it promises; the
// position in front of an error's text may differ; error objects carry no source; a script that never ends is not stopped.
type Engine struct {
	state    *lua.LState
	globals  *lua.LTable                 // what scripts find by name
	sealed   map[*lua.LTable]*lua.LTable // what scripts see and cannot change, and what it stands for
	env      *lua.LTable                 // globals, sealed
	compiled map[string]*script

	// The run under way.
	keyspace *Keyspace
	script   *script
	words    []string // of the inner command, reused
}

// script is a compiled script.
type script struct {
	sha  string
	main *lua.LFunction
}

// chunk is how Redis names the source of a script in error messages.
const chunk = "user_script"

// NewEngine makes an interpreter. Its state is built at the first script.
func NewEngine() *Engine { return &Engine{compiled: map[string]*script{}} }

func (e *Engine) compile(sha, text string) (*script, error) {
	if s := e.compiled[sha]; s != nil {
		return s, nil
	}
	if e.state == nil {
		e.open()
	}
	main, err := e.function(text, chunk)
	if err != nil {
		return nil, err
	}
	s := &script{sha: sha, main: main}
	e.compiled[sha] = s
	return s, nil
}

// function compiles a text into a function that sees the sealed globals.
func (e *Engine) function(text, name string) (*lua.LFunction, error) {
	if strings.HasPrefix(text, "#!") {
		return nil, errors.New("simulated server: a script that begins with #! is not simulated")
	}
	tree, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(asRedisComputes(tree), name)
	if err != nil {
		return nil, err
	}
	f := e.state.NewFunctionFromProto(proto)
	f.Env = e.env
	return f, nil
}

// run runs a script on k. The keyspace keeps what the script did before it failed, as in Redis.
func (e *Engine) run(k *Keyspace, s *script, keys, args []string) reply {
	e.keyspace, e.script = k, s
	e.globals.RawSetString("KEYS", e.texts(keys))
	e.globals.RawSetString("ARGV", e.texts(args))
	e.state.Push(s.main)
	if err := e.state.PCall(0, 1, nil); err != nil {
		return e.failed(err)
	}
	result := e.state.Get(-1)
	e.state.Pop(1)
	return toReply(result, 0)
}

func (e *Engine) texts(all []string) *lua.LTable {
	t := e.state.CreateTable(len(all), 0)
	for i, s := range all {
		t.RawSetInt(i+1, lua.LString(s))
	}
	return t
}

// failed is the reply to an error that nobody caught: Redis adds which script it was and, where it knows, the line.
func (e *Engine) failed(err error) reply {
	message, line := err.Error(), ""
	var thrown *lua.ApiError
	if errors.As(err, &thrown) {
		switch object := thrown.Object.(type) {
		case *lua.LTable:
			message = errorText(object)
			if n, known := object.RawGetString("line").(lua.LNumber); known {
				line = formatG(float64(n), 14)
			}
		case nil:
			message = "ERR " + message
		default:
			message = "ERR " + object.String()
			line, _, _ = strings.Cut(strings.TrimPrefix(object.String(), chunk+":"), ":")
		}
	}
	message += " script: " + e.script.sha
	if _, err := strconv.Atoi(line); err == nil {
		message += ", on @" + chunk + ":" + line
	}
	return fail(oneLine(message) + ".")
}

func errorText(t *lua.LTable) string {
	if s, isText := t.RawGetString("err").(lua.LString); isText {
		return string(s)
	}
	return "ERR unknown error"
}

// command is redis.call and redis.pcall: the reply to the words on l's stack.
func (e *Engine) command(l *lua.LState) reply {
	n := l.GetTop()
	if n == 0 {
		return fail("ERR Please specify at least one argument for this redis lib call")
	}
	e.words = e.words[:0]
	for i := 1; i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			e.words = append(e.words, string(v))
		case lua.LNumber:
			e.words = append(e.words, formatDouble(float64(v)))
		default:
			return fail("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	return e.keyspace.innerCommand(e.words)
}

// waiting are commands that the node runs, not the keyspace, and that Redis refuses in a script.
var waiting = map[string]bool{
	"wait": true, "blpop": true, "brpop": true, "blmove": true, "subscribe": true, "psubscribe": true,
	"unsubscribe": true, "multi": true, "exec": true, "watch": true, "client": true, "hello": true, "auth": true,
}

func (k *Keyspace) innerCommand(words []string) reply {
	c := lookupCommand(words[0])
	switch {
	case c == nil && waiting[strings.ToLower(words[0])], c != nil && c.takes(len(words)) && c.noScript:
		return fail("ERR This Redis command is not allowed from script")
	case c == nil:
		return notSimulated("command " + words[0])
	case !c.takes(len(words)):
		return fail("ERR Wrong number of args calling Redis command from script")
	}
	k.inner++
	return k.call(c, words)
}

// toLua is how a script sees a reply; an error is a table here, which redis.call throws.
func (e *Engine) toLua(r reply) lua.LValue {
	switch r.Kind {
	case strategies.Int:
		return lua.LNumber(r.Int)
	case strategies.Text:
		return lua.LString(r.Text)
	case status:
		return e.field("ok", r.Text)
	case failure:
		return e.field("err", r.Text)
	case strategies.List:
		t := e.state.CreateTable(len(r.List), 0)
		for i, item := range r.List {
			t.RawSetInt(i+1, e.toLua(item))
		}
		return t
	}
	return lua.LFalse
}

func (e *Engine) field(name, value string) *lua.LTable {
	t := e.state.CreateTable(0, 1)
	t.RawSetString(name, lua.LString(value))
	return t
}

// deepest is how far replies may nest, somewhat less than Redis' interpreter allows.
const deepest = 1000

// toReply is the reply that a script's result becomes: numbers are cut to integers, true is 1, false nil, and a table
// ends at its first nil.
func toReply(v lua.LValue, depth int) reply {
	switch v := v.(type) {
	case lua.LString:
		return textReply(string(v))
	case lua.LNumber:
		return integerReply(truncated(float64(v)))
	case lua.LBool:
		if v {
			return one
		}
	case *lua.LTable:
		return tableReply(v, depth)
	}
	return null
}

func tableReply(t *lua.LTable, depth int) reply {
	if depth == deepest {
		return fail("ERR reached lua stack limit")
	}
	if s, isText := t.RawGetString("err").(lua.LString); isText {
		return fail(oneLine(string(s)))
	}
	if s, isText := t.RawGetString("ok").(lua.LString); isText {
		return reply{Kind: status, Text: oneLine(string(s))}
	}
	if f, isNumber := t.RawGetString("double").(lua.LNumber); isNumber && !math.IsNaN(float64(f)) {
		return doubleReply(float64(f))
	}
	all := make([]reply, 0, t.Len())
	for i := 1; ; i++ {
		v := t.RawGetInt(i)
		if v == lua.LNil {
			return listReply(all)
		}
		all = append(all, toReply(v, depth+1))
	}
}
