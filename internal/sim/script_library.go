package sim

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// open builds the interpreter: Lua's libraries without those that reach outside, what Redis adds, all of it sealed.
func (e *Engine) open() {
	e.state = lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: 1 << 14, MinimizeStackMemory: true,
		RegistrySize: 1 << 10, RegistryMaxSize: 1 << 20, RegistryGrowStep: 1 << 10,
	})
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenString, lua.OpenTable, lua.OpenMath, lua.OpenCoroutine} {
		e.state.Push(e.state.NewFunction(open))
		e.state.Call(0, 0)
	}
	all := e.state.G.Global
	e.globals, e.sealed = e.state.NewTable(), map[*lua.LTable]*lua.LTable{}
	e.correctLibraries(all)
	for _, name := range offered {
		e.globals.RawSetString(name, all.RawGetString(name))
	}
	e.globals.RawSetString("redis", e.redis())
	for name, f := range e.base() {
		e.globals.RawSetString(name, e.state.NewFunction(f))
	}
	for _, name := range []string{"string", "table", "math", "coroutine", "redis"} {
		e.globals.RawSetString(name, e.seal(e.globals.RawGetString(name).(*lua.LTable), lua.LNil))
	}
	e.env = e.seal(e.globals, e.state.NewFunction(missingGlobal))
	e.globals.RawSetString("_G", e.env)
}

// offered is what Redis leaves of Lua's globals and gopher-lua does right.
var offered = []string{
	"_VERSION", "assert", "error", "getmetatable", "ipairs", "rawequal", "select", "type", "unpack", "xpcall",
	"coroutine", "math", "string", "table",
}

// seal makes an empty table that shows what real holds, and cannot be changed.
func (e *Engine) seal(real *lua.LTable, missing lua.LValue) *lua.LTable {
	show, guard := e.state.NewTable(), e.state.NewTable()
	guard.RawSetString("__index", real)
	guard.RawSetString("__newindex", e.state.NewFunction(readOnly))
	guard.RawSetString("__metatable", e.untouchable())
	show.Metatable = guard
	if missing != lua.LNil {
		behind := e.state.NewTable()
		behind.RawSetString("__index", missing)
		real.Metatable = behind
	}
	e.sealed[show] = real
	return show
}

// untouchable is what scripts see of a metatable that all share: nothing, and they cannot add to it.
func (e *Engine) untouchable() *lua.LTable {
	t := e.state.NewTable()
	t.Metatable = e.state.SetFuncs(e.state.NewTable(), map[string]lua.LGFunction{"__newindex": readOnly})
	return t
}

func readOnly(l *lua.LState) int {
	l.RaiseError("Attempt to modify a readonly table")
	return 0
}

// absent are libraries of Redis that no lock strategy needs.
var absent = map[string]bool{"cjson": true, "cmsgpack": true, "struct": true, "bit": true}

func missingGlobal(l *lua.LState) int {
	name := l.Get(2).String()
	if absent[name] {
		l.RaiseError("simulated server: library %s is not simulated", name)
	}
	l.RaiseError("Script attempted to access nonexistent global variable '%s'", name)
	return 0
}

// correctLibraries replaces what gopher-lua does unlike Lua 5.1, above all numbers as text, and randomness.
func (e *Engine) correctLibraries(all *lua.LTable) {
	text := all.RawGetString("string").(*lua.LTable)
	text.RawSetString("format", e.state.NewFunction(format))
	e.correctStringArithmetic(text)
	all.RawGetString("table").(*lua.LTable).RawSetString("concat", e.state.NewFunction(concat))
	numbers := all.RawGetString("math").(*lua.LTable)
	numbers.RawSetString("huge", lua.LNumber(math.Inf(1)))
	numbers.RawSetString("random", e.state.NewFunction(e.random))
	numbers.RawSetString("randomseed", e.state.NewFunction(func(l *lua.LState) int {
		e.keyspace.randomness = newLrand48(int32(truncated(float64(l.CheckNumber(1)))))
		return 0
	}))
}

// base are global functions that differ from gopher-lua's.
func (e *Engine) base() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"tostring": tostring, "tonumber": tonumber, "pcall": pcall, hiddenText: numberAsText,
		"loadstring": e.loadstring, "load": e.load,
		"rawset": e.unlessSealed("rawset"), "setmetatable": e.unlessSealed("setmetatable"),
		"rawget": e.throughSeal("rawget"), "next": e.throughSeal("next"), "pairs": e.pairs,
		"collectgarbage": zeroNumber, "gcinfo": zeroNumber, // Go's collector is not the script's business
	}
}

func zeroNumber(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

func (e *Engine) unlessSealed(name string) lua.LGFunction {
	f := e.state.G.Global.RawGetString(name).(*lua.LFunction).GFunction
	return func(l *lua.LState) int {
		if t, isTable := l.Get(1).(*lua.LTable); isTable && e.sealed[t] != nil {
			l.Error(e.field("err", "ERR Attempt to modify a readonly table"), 1)
		}
		return f(l)
	}
}

func (e *Engine) throughSeal(name string) lua.LGFunction {
	f := e.state.G.Global.RawGetString(name).(*lua.LFunction).GFunction
	return func(l *lua.LState) int {
		if t, isTable := l.Get(1).(*lua.LTable); isTable && e.sealed[t] != nil {
			l.Replace(1, e.sealed[t])
		}
		return f(l)
	}
}

func (e *Engine) pairs(l *lua.LState) int {
	t := l.CheckTable(1)
	l.Push(e.globals.RawGetString("next"))
	l.Push(t)
	l.Push(lua.LNil)
	return 3
}

// redis is the table of what Redis offers to scripts.
func (e *Engine) redis() *lua.LTable {
	t := e.state.SetFuncs(e.state.NewTable(), map[string]lua.LGFunction{
		"call": func(l *lua.LState) int {
			r := e.command(l)
			if r.Kind == failure {
				e.throw(l, r.Text)
			}
			l.Push(e.toLua(r))
			return 1
		},
		"pcall": func(l *lua.LState) int {
			l.Push(e.toLua(e.command(l)))
			return 1
		},
		"error_reply":        e.errorReply,
		"status_reply":       e.statusReply,
		"sha1hex":            e.sha1hex,
		"log":                e.log,
		"setresp":            e.setresp,
		"set_repl":           e.setRepl,
		"replicate_commands": giving(lua.LTrue),
		"breakpoint":         giving(lua.LFalse),
		"debug":              func(*lua.LState) int { return 0 },
	})
	for name, n := range map[string]int{
		"LOG_DEBUG": 0, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": 3,
		"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3, "REDIS_VERSION_NUM": 0x07000f,
	} {
		t.RawSetString(name, lua.LNumber(n))
	}
	t.RawSetString("REDIS_VERSION", lua.LString(Version))
	return t
}

func giving(v lua.LValue) lua.LGFunction {
	return func(l *lua.LState) int {
		l.Push(v)
		return 1
	}
}

// throw raises an error as redis.call does: a table with the text and the line of the script.
func (e *Engine) throw(l *lua.LState, message string) {
	t := e.field("err", message)
	if line, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(l.Where(1), chunk), ": ")); err == nil {
		t.RawSetString("line", lua.LNumber(line))
	}
	l.Error(t, 1)
}

func (e *Engine) onlyText(l *lua.LState) (string, bool) {
	s, isText := l.Get(1).(lua.LString)
	if l.GetTop() != 1 || !isText {
		l.Push(e.field("err", "ERR wrong number or type of arguments"))
		return "", false
	}
	return string(s), true
}

// errorReply: the first word is the code after a dash, or where there are several words; else the code is ERR.
func (e *Engine) errorReply(l *lua.LState) int {
	if s, good := e.onlyText(l); good {
		s = strings.TrimPrefix(s, "-")
		if !strings.Contains(s, " ") {
			s = "ERR " + s
		}
		l.Push(e.field("err", s))
	}
	return 1
}

func (e *Engine) statusReply(l *lua.LState) int {
	if s, good := e.onlyText(l); good {
		l.Push(e.field("ok", s))
	}
	return 1
}

// sha1hex takes what is no text for the empty one.
func (e *Engine) sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		e.throw(l, "ERR wrong number of arguments")
	}
	l.Push(lua.LString(Digest(luaText(l.Get(1)))))
	return 1
}

// luaText is a string or number as text; empty for all else.
func luaText(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return formatG(float64(v), 14)
	}
	return ""
}

// log checks its arguments and drops them: a simulated server has no log.
func (e *Engine) log(l *lua.LState) int {
	level, isNumber := l.Get(1).(lua.LNumber)
	switch {
	case l.GetTop() < 2:
		e.throw(l, "ERR redis.log() requires two arguments or more.")
	case !isNumber:
		e.throw(l, "ERR First argument must be a number (log level).")
	case level < 0 || level > 3:
		e.throw(l, "ERR Invalid debug level.")
	}
	return 0
}

func (e *Engine) setresp(l *lua.LState) int {
	switch v, isNumber := l.Get(1).(lua.LNumber); {
	case isNumber && v == 3:
		e.throw(l, "ERR simulated server: RESP3 is not simulated")
	case !isNumber || v != 2:
		e.throw(l, "ERR RESP version must be 2 or 3.")
	}
	return 0
}

func (e *Engine) setRepl(l *lua.LState) int {
	switch v, isNumber := l.Get(1).(lua.LNumber); {
	case l.GetTop() != 1:
		e.throw(l, "ERR redis.set_repl() requires two arguments.")
	case !isNumber || float64(v) != math.Trunc(float64(v)) || v < 0 || v > 3:
		e.throw(l, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	case v != 3:
		e.throw(l, "ERR simulated server: replication flags other than REPL_ALL are not simulated")
	}
	return 0
}

// pcall gives an error of Redis as its text, where Lua would give the table.
func pcall(l *lua.LState) int {
	l.CheckAny(1)
	if err := l.PCall(l.GetTop()-1, lua.MultRet, nil); err != nil {
		object := lua.LValue(lua.LString(err.Error()))
		if thrown, is := err.(*lua.ApiError); is && thrown.Object != nil {
			object = thrown.Object
		}
		if t, isTable := object.(*lua.LTable); isTable {
			if text := t.RawGetString("err"); text.Type() == lua.LTString || text.Type() == lua.LTNumber {
				object = text
			}
		}
		l.SetTop(0)
		l.Push(lua.LFalse)
		l.Push(object)
		return 2
	}
	l.Insert(lua.LTrue, 1)
	return l.GetTop()
}

// loadstring compiles under the same rules as a script.
func (e *Engine) loadstring(l *lua.LState) int {
	text := l.CheckString(1)
	return e.loaded(l, text, l.OptString(2, `[string "`+strings.ReplaceAll(text, "\n", "...")+`"]`))
}

// load joins the pieces that a function gives, up to nil or the empty one.
func (e *Engine) load(l *lua.LState) int {
	piece, text := l.CheckFunction(1), strings.Builder{}
	for {
		l.Push(piece)
		l.Call(0, 1)
		s := luaText(l.Get(-1))
		l.Pop(1)
		if s == "" {
			return e.loaded(l, text.String(), l.OptString(2, "=(load)"))
		}
		text.WriteString(s)
	}
}

func (e *Engine) loaded(l *lua.LState, text, name string) int {
	f, err := e.function(text, name)
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(f)
	return 1
}

// random is Redis' own math.random.
func (e *Engine) random(l *lua.LState) int {
	const most = math.MaxInt32
	r := float64(e.keyspace.randomness.next()%most) / most
	low, high := 1.0, 0.0
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(r))
		return 1
	case 1:
		high = math.Trunc(float64(l.CheckNumber(1)))
	case 2:
		low, high = math.Trunc(float64(l.CheckNumber(1))), math.Trunc(float64(l.CheckNumber(2)))
	default:
		l.RaiseError("wrong number of arguments")
	}
	if low > high {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	l.Push(lua.LNumber(math.Floor(r*(high-low+1)) + low))
	return 1
}

// lrand48 is the generator of that name: 48 bits, linear. Redis starts each server with the same state, and goes on
// from script to script.
type lrand48 uint64

const unseeded lrand48 = 0x1234ABCD330E

func newLrand48(seed int32) lrand48 { return lrand48(uint64(uint32(seed))<<16 | 0x330E) }

func (r *lrand48) next() int32 {
	*r = (*r*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return int32(*r >> 17)
}
