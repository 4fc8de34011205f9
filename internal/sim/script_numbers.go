package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua turns numbers into text as Go does, and text into numbers as Go's source does: 1e15 .. "" would be
// 1000000000000000 and "010" + 0 would be 8, where Redis has 1e+15 and 10. This file puts that right. Scripts that
// build keys from TIME in microseconds meet the first.

// hiddenText is the global that makes an operand of .. into text; no script can name it.
const hiddenText = "\x00text"

// asRedisComputes rewrites operands of .. and numbers in the source.
func asRedisComputes(block []ast.Stmt) []ast.Stmt {
	for _, s := range block {
		rewriteStatement(s)
	}
	return block
}

func rewriteStatement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		rewriteAll(s.Lhs)
		rewriteAll(s.Rhs)
	case *ast.LocalAssignStmt:
		rewriteAll(s.Exprs)
	case *ast.FuncCallStmt:
		rewrite(s.Expr)
	case *ast.DoBlockStmt:
		asRedisComputes(s.Stmts)
	case *ast.WhileStmt:
		rewrite(s.Condition)
		asRedisComputes(s.Stmts)
	case *ast.RepeatStmt:
		rewrite(s.Condition)
		asRedisComputes(s.Stmts)
	case *ast.IfStmt:
		rewrite(s.Condition)
		asRedisComputes(s.Then)
		asRedisComputes(s.Else)
	case *ast.NumberForStmt:
		rewriteAll([]ast.Expr{s.Init, s.Limit, s.Step})
		asRedisComputes(s.Stmts)
	case *ast.GenericForStmt:
		rewriteAll(s.Exprs)
		asRedisComputes(s.Stmts)
	case *ast.FuncDefStmt:
		rewrite(s.Func)
	case *ast.ReturnStmt:
		rewriteAll(s.Exprs)
	}
}

func rewriteAll(all []ast.Expr) {
	for _, x := range all {
		rewrite(x)
	}
}

func rewrite(x ast.Expr) {
	switch x := x.(type) {
	case *ast.NumberExpr:
		if f, ok := luaNumber(x.Value); ok {
			x.Value = strconv.FormatFloat(f, 'g', -1, 64)
		}
	case *ast.StringConcatOpExpr:
		rewriteAll([]ast.Expr{x.Lhs, x.Rhs})
		x.Lhs, x.Rhs = operand(x.Lhs), operand(x.Rhs)
	case *ast.AttrGetExpr:
		rewriteAll([]ast.Expr{x.Object, x.Key})
	case *ast.TableExpr:
		for _, f := range x.Fields {
			rewriteAll([]ast.Expr{f.Key, f.Value})
		}
	case *ast.FuncCallExpr:
		rewriteAll([]ast.Expr{x.Func, x.Receiver})
		rewriteAll(x.Args)
	case *ast.LogicalOpExpr:
		rewriteAll([]ast.Expr{x.Lhs, x.Rhs})
	case *ast.RelationalOpExpr:
		rewriteAll([]ast.Expr{x.Lhs, x.Rhs})
	case *ast.ArithmeticOpExpr:
		rewriteAll([]ast.Expr{x.Lhs, x.Rhs})
	case *ast.UnaryMinusOpExpr:
		rewrite(x.Expr)
	case *ast.UnaryNotOpExpr:
		rewrite(x.Expr)
	case *ast.UnaryLenOpExpr:
		rewrite(x.Expr)
	case *ast.FunctionExpr:
		asRedisComputes(x.Stmts)
	}
}

// operand wraps what may be a number; the result of another .. is text.
func operand(x ast.Expr) ast.Expr {
	switch x.(type) {
	case *ast.StringExpr, *ast.StringConcatOpExpr:
		return x
	}
	name := &ast.IdentExpr{Value: hiddenText}
	call := &ast.FuncCallExpr{Func: name, Args: []ast.Expr{x}, AdjustRet: true}
	for _, made := range []ast.Expr{name, call} {
		made.SetLine(x.Line())
		made.SetLastLine(x.Line())
	}
	return call
}

// numberAsText leaves what is no number alone.
func numberAsText(l *lua.LState) int {
	v := l.Get(1)
	if f, isNumber := v.(lua.LNumber); isNumber {
		v = lua.LString(formatG(float64(f), 14))
	}
	l.SetTop(0)
	l.Push(v)
	return 1
}

// luaNumber reads a number as Lua 5.1 does: C's strtod, blanks around it, and nothing beyond a zero byte.
func luaNumber(s string) (float64, bool) {
	s, _, _ = strings.Cut(s, "\x00")
	s = strings.Trim(s, " \t\n\v\f\r")
	return strtod(s)
}

// correctStringArithmetic: metamethods go before gopher-lua's own conversion.
func (e *Engine) correctStringArithmetic(metatable *lua.LTable) {
	metatable.RawSetString("__metatable", e.untouchable()) // shared by all scripts: out of their reach
	for event, f := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": func(a, b float64) float64 { return a - math.Floor(a/b)*b },
		"__pow": math.Pow,
		"__unm": func(a, _ float64) float64 { return -a },
	} {
		metatable.RawSetString(event, e.state.NewFunction(func(l *lua.LState) int {
			a, b := arithmeticOperand(l, 1), 0.0
			if event != "__unm" {
				b = arithmeticOperand(l, 2)
			}
			l.Push(lua.LNumber(f(a, b)))
			return 1
		}))
	}
}

func arithmeticOperand(l *lua.LState, i int) float64 {
	f, ok := asNumber(l.Get(i))
	if !ok {
		l.RaiseError("attempt to perform arithmetic on a %s value", l.Get(i).Type())
	}
	return f
}

// asNumber takes numbers, and text that reads as one.
func asNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return luaNumber(string(v))
	}
	return 0, false
}

func tostring(l *lua.LState) int {
	v := l.CheckAny(1)
	if f, isNumber := v.(lua.LNumber); isNumber {
		l.Push(lua.LString(formatG(float64(f), 14)))
	} else {
		l.Push(l.ToStringMeta(v))
	}
	return 1
}

func tonumber(l *lua.LState) int {
	v, base := l.CheckAny(1), l.OptInt(2, 10)
	result := lua.LValue(lua.LNil)
	if base == 10 {
		if f, ok := asNumber(v); ok {
			result = lua.LNumber(f)
		}
	} else if base < 2 || base > 36 {
		l.ArgError(2, "base out of range")
	} else if n, ok := inBase(l.CheckString(1), base); ok {
		result = lua.LNumber(n)
	}
	l.Push(result)
	return 1
}

// inBase is C's strtoul.
func inBase(s string, base int) (float64, bool) {
	s, _, _ = strings.Cut(s, "\x00")
	s = strings.Trim(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if lower := strings.ToLower(s); base == 16 && strings.HasPrefix(lower, "0x") {
		s = s[2:]
	}
	n, err := strconv.ParseUint(s, base, 64)
	if negative {
		n = -n
	}
	return float64(n), err == nil
}

// concat is table.concat.
func concat(l *lua.LState) int {
	t, separator := l.CheckTable(1), l.OptString(2, "")
	from, to := l.OptInt(3, 1), l.OptInt(4, t.Len())
	var b strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGet(lua.LNumber(i))
		if !lua.LVCanConvToString(v) {
			l.RaiseError("invalid value (%s) at index %d in table for 'concat'", v.Type(), i)
		}
		b.WriteString(luaText(v))
		if i < to {
			b.WriteString(separator)
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// format is string.format.
func format(l *lua.LState) int {
	pattern, argument := l.CheckString(1), 1
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "%")
		b.WriteString(before)
		if !found {
			l.Push(lua.LString(b.String()))
			return 1
		}
		n := len(rest) - len(strings.TrimLeft(rest, "-+ #0123456789."))
		if n == len(rest) {
			l.RaiseError("invalid option '%%' to 'format'")
		}
		if rest[n] == '%' {
			b.WriteByte('%')
		} else {
			argument++
			b.WriteString(formatted(l, argument, rest[:n], rest[n]))
		}
		pattern = rest[n+1:]
	}
}

// formatted is argument i by one conversion, as C's printf writes it.
func formatted(l *lua.LState, i int, flags string, verb byte) string {
	switch verb {
	case 'd', 'i':
		return fmt.Sprintf("%"+flags+"d", truncated(formatNumber(l, i)))
	case 'u':
		return fmt.Sprintf("%"+flags+"d", uint64(truncated(formatNumber(l, i))))
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+flags+string(verb), uint64(truncated(formatNumber(l, i))))
	case 'c':
		return string([]byte{byte(truncated(formatNumber(l, i)))})
	case 'e', 'E', 'f', 'g', 'G':
		return formatFloat(formatNumber(l, i), flags, verb)
	case 's':
		return fmt.Sprintf("%"+flags+"s", formatText(l, i))
	case 'q':
		return quoted(formatText(l, i))
	}
	l.RaiseError("invalid option '%%%c' to 'format'", verb)
	return ""
}

// formatFloat: C writes six digits where nothing is said, Go as many as it takes for %g.
func formatFloat(f float64, flags string, verb byte) string {
	if !strings.Contains(flags, ".") {
		flags += ".6"
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return formatG(f, 6)
	}
	return fmt.Sprintf("%"+flags+string(verb), f)
}

func formatNumber(l *lua.LState, i int) float64 {
	f, ok := asNumber(l.Get(i))
	if !ok {
		l.ArgError(i, "number expected, got "+typeName(l, i))
	}
	return f
}

func formatText(l *lua.LState, i int) string {
	v := l.Get(i)
	if !lua.LVCanConvToString(v) {
		l.ArgError(i, "string expected, got "+typeName(l, i))
	}
	return luaText(v)
}

func typeName(l *lua.LState, i int) string {
	if i > l.GetTop() {
		return "no value"
	}
	return l.Get(i).Type().String()
}

// quoted is text that Lua reads back.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(s) + `"`
}
