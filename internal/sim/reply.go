package sim

import (
	"strings"

	"github.com/lockbench/lockbench/strategies"
)

type reply = strategies.Reply

// Kinds that only a script can tell from those of strategies.
const (
	status  strategies.Kind = strategies.List + 1 + iota // simple string: Text outside, {ok=...} inside a script
	failure                                              // error: its Text is the whole message
	noList                                               // the null array: Nil outside
)

var (
	okay       = reply{Kind: status, Text: "OK"}
	null       = reply{}
	zero       = integerReply(0)
	one        = integerReply(1)
	emptyList  = reply{Kind: strategies.List, List: []reply{}}
	wrongType  = fail("WRONGTYPE Operation against a key holding the wrong kind of value")
	notInteger = fail("ERR value is not an integer or out of range")
	notFloat   = fail("ERR value is not a valid float")
	badSyntax  = fail("ERR syntax error")
	overflow   = fail("ERR increment or decrement would overflow")
	noScript   = fail("NOSCRIPT No matching script. Please use EVAL.")
)

func integerReply(n int64) reply  { return reply{Kind: strategies.Int, Int: n} }
func textReply(s string) reply    { return reply{Kind: strategies.Text, Text: s} }
func listReply(all []reply) reply { return reply{Kind: strategies.List, List: all} }
func doubleReply(f float64) reply { return textReply(formatDouble(f)) }
func fail(message string) reply   { return reply{Kind: failure, Text: message} }
func wrongArity(command string) reply {
	return fail("ERR wrong number of arguments for '" + command + "' command")
}

func boolReply(b bool) reply {
	if b {
		return one
	}
	return zero
}

func textsReply(texts []string) reply {
	all := make([]reply, len(texts))
	for i, s := range texts {
		all[i] = textReply(s)
	}
	return listReply(all)
}

// notSimulated is the answer to what Redis can do and this server cannot.
func notSimulated(what string) reply {
	return fail("ERR simulated server: " + what + " is not simulated")
}

// public makes r what a client of strategies sees: an error is a *ServerError whose Code is the first word.
func public(r reply) (strategies.Reply, error) {
	if r.Kind == failure {
		code, _, _ := strings.Cut(r.Text, " ")
		return strategies.Reply{}, &strategies.ServerError{Code: code, Message: r.Text}
	}
	return folded(r), nil
}

// folded replaces the private kinds. An error inside a list, which only a script can make, is its text.
func folded(r reply) reply {
	switch r.Kind {
	case status, failure:
		return textReply(r.Text)
	case noList:
		return null
	case strategies.List:
		for i := range r.List {
			r.List[i] = folded(r.List[i])
		}
	}
	return r
}
