package sim

import "strings"

// command is one entry of the table. Arity counts the name itself; a negative one is a minimum.
type command struct {
	name     string
	arity    int
	run      func(k *Keyspace, args []string) reply
	data     bool // may change keys: replicas hear of it
	noScript bool // refused inside a script
	index    int
}

func (c *command) takes(args int) bool {
	return args == c.arity || c.arity < 0 && args >= -c.arity
}

// commandList is what the simulated server knows, in the order of the files; the index is filled by init. It is not a
// literal of a variable because EVAL runs what it finds here.
var commandList []*command

var commandIndex = map[string]*command{}

func init() {
	commandList = []*command{
		{name: "set", arity: -3, run: set, data: true},
		{name: "get", arity: 2, run: get},
		{name: "setnx", arity: 3, run: setnx, data: true},
		{name: "setex", arity: 4, run: setex, data: true},
		{name: "psetex", arity: 4, run: psetex, data: true},
		{name: "getset", arity: 3, run: getset, data: true},
		{name: "getdel", arity: 2, run: getdel, data: true},
		{name: "getex", arity: -2, run: getex, data: true},
		{name: "append", arity: 3, run: appendText, data: true},
		{name: "strlen", arity: 2, run: strlen},
		{name: "incr", arity: 2, run: incr, data: true},
		{name: "decr", arity: 2, run: decr, data: true},
		{name: "incrby", arity: 3, run: incrby, data: true},
		{name: "decrby", arity: 3, run: decrby, data: true},
		{name: "mset", arity: -3, run: mset, data: true},
		{name: "msetnx", arity: -3, run: msetnx, data: true},
		{name: "mget", arity: -2, run: mget},

		{name: "del", arity: -2, run: del, data: true},
		{name: "unlink", arity: -2, run: del, data: true},
		{name: "exists", arity: -2, run: exists},
		{name: "type", arity: 2, run: typeOf},
		{name: "expire", arity: -3, run: expire(expiry{"expire", 1000, false}), data: true},
		{name: "pexpire", arity: -3, run: expire(expiry{"pexpire", 1, false}), data: true},
		{name: "expireat", arity: -3, run: expire(expiry{"expireat", 1000, true}), data: true},
		{name: "pexpireat", arity: -3, run: expire(expiry{"pexpireat", 1, true}), data: true},
		{name: "ttl", arity: 2, run: ttl(1000, false)},
		{name: "pttl", arity: 2, run: ttl(1, false)},
		{name: "expiretime", arity: 2, run: ttl(1000, true)},
		{name: "pexpiretime", arity: 2, run: ttl(1, true)},
		{name: "persist", arity: 2, run: persist, data: true},
		{name: "dbsize", arity: 1, run: dbsize},
		{name: "flushall", arity: -1, run: flushall, data: true},
		{name: "flushdb", arity: -1, run: flushall, data: true},

		{name: "hset", arity: -4, run: hset, data: true},
		{name: "hmset", arity: -4, run: hmset, data: true},
		{name: "hsetnx", arity: 4, run: hsetnx, data: true},
		{name: "hget", arity: 3, run: hget},
		{name: "hmget", arity: -3, run: hmget},
		{name: "hdel", arity: -3, run: hdel, data: true},
		{name: "hexists", arity: 3, run: hexists},
		{name: "hincrby", arity: 4, run: hincrby, data: true},
		{name: "hgetall", arity: 2, run: hgetall},
		{name: "hlen", arity: 2, run: hlen},
		{name: "hkeys", arity: 2, run: hkeys},
		{name: "hvals", arity: 2, run: hvals},

		{name: "lpush", arity: -3, run: lpush, data: true},
		{name: "rpush", arity: -3, run: rpush, data: true},
		{name: "lpop", arity: -2, run: lpop, data: true},
		{name: "rpop", arity: -2, run: rpop, data: true},
		{name: "llen", arity: 2, run: llen},
		{name: "lrange", arity: 4, run: lrange},
		{name: "lrem", arity: 4, run: lrem, data: true},
		{name: "lindex", arity: 3, run: lindex},

		{name: "zadd", arity: -4, run: zadd, data: true},
		{name: "zincrby", arity: 4, run: zincrby, data: true},
		{name: "zrem", arity: -3, run: zrem, data: true},
		{name: "zscore", arity: 3, run: zscore},
		{name: "zrange", arity: -4, run: zrange},
		{name: "zrangebyscore", arity: -4, run: zrangebyscore},
		{name: "zremrangebyscore", arity: 4, run: zremrangebyscore, data: true},
		{name: "zcard", arity: 2, run: zcard},
		{name: "zcount", arity: 4, run: zcount},
		{name: "zrank", arity: 3, run: zrank},

		{name: "time", arity: 1, run: serverTime},
		{name: "ping", arity: -1, run: ping},
		{name: "echo", arity: 2, run: echo},
		{name: "select", arity: 2, run: selectDatabase},
		{name: "info", arity: -1, run: info},
		{name: "publish", arity: 3, run: publish},
		{name: "script", arity: -2, run: scriptCommand, noScript: true},
		{name: "eval", arity: -3, run: eval, noScript: true},
		{name: "evalsha", arity: -3, run: evalsha, noScript: true},
	}
	for i, c := range commandList {
		c.index = i
		commandIndex[c.name] = c
		commandIndex[strings.ToUpper(c.name)] = c
	}
}

// lookupCommand is nil for a command that is not simulated.
func lookupCommand(name string) *command {
	if c := commandIndex[name]; c != nil {
		return c
	}
	return commandIndex[strings.ToLower(name)]
}
