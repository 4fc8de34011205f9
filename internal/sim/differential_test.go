package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/strategies"
)

// sequences of each kind and seed.
const sequences = 700

// seeds of the random sequences, one a line.
func seeds(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/differential_seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// withSeed runs a property often, from a seed that makes a failure appear again.
func withSeed(t *testing.T, seed string, property func(*rapid.T)) {
	t.Helper()
	for name, value := range map[string]string{"rapid.seed": seed, "rapid.checks": strconv.Itoa(sequences)} {
		f := flag.Lookup(name)
		old := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(old)
	}
	rapid.Check(t, property)
}

// sameAsRedis runs the commands on an empty simulated server and on an emptied real one, both at the same wall clock.
func sameAsRedis(t rapid.TB, real *redisServer, k *Keyspace, commands [][]string) {
	t.Helper()
	commands = append([][]string{{"FLUSHALL"}}, commands...)
	want, err := real.do(commands...)
	if err != nil {
		t.Fatal(err)
	}
	wall := time.Now().UnixMicro()
	for i, words := range commands {
		got := k.run(wall, words)
		if !alike(words, got, want[i]) {
			script := isScript(words)
			t.Fatalf("after\n%s%q\nthe simulated server answers %s\nand Redis              %s",
				lines(commands[1:max(i, 1)]), words, shown(got, script), shown(want[i], script))
		}
	}
}

func lines(commands [][]string) string {
	var b strings.Builder
	for _, words := range commands {
		fmt.Fprintf(&b, "%q\n", words)
	}
	return b.String()
}

func isScript(words []string) bool {
	name := strings.ToLower(words[0])
	return strings.HasPrefix(name, "eval") || name == "script"
}

// alike: times to live were read some milliseconds apart.
func alike(words []string, got, want reply) bool {
	near := map[string]int64{"ttl": 5, "expiretime": 5, "pttl": 5000, "pexpiretime": 5000}[strings.ToLower(words[0])]
	if near > 0 && got.Kind == strategies.Int && want.Kind == strategies.Int && got.Int > 0 && want.Int > 0 {
		return max(got.Int, want.Int)-min(got.Int, want.Int) <= near
	}
	return shown(got, isScript(words)) == shown(want, isScript(words))
}

// A pattern is a command with letters for what is drawn: k key, v value, m member, i integer, f float, b bound of a
// score, s seconds, S seconds since 1970, p milliseconds, P milliseconds since 1970; "?" may be missing; "a|b" is one of
// them, which may be of several words joined by "_"; "*" repeats the word before it up to three times.
var patterns = []string{
	"SET k v", "SET k v ?NX|XX ?GET ?EX_s|PX_p|EXAT_S|PXAT_P|KEEPTTL", "SET k v ?EX_s|PX_p|nx ?px_p|ex|foo ?xx", "GET k",
	"SETNX k v", "SETEX k s v", "PSETEX k p v", "GETSET k v", "GETDEL k", "GETEX k ?EX_s|PX_p|EXAT_S|PXAT_P|PERSIST ?NX|px_p",
	"APPEND k v", "STRLEN k", "INCR k", "DECR k", "INCRBY k i", "DECRBY k i",
	"MSET k v ?k_v ?k", "MSETNX k v ?k_v ?v", "MGET k k*",
	"DEL k k*", "UNLINK k", "EXISTS k k*", "TYPE k", "PERSIST k",
	"EXPIRE k s ?NX|XX|GT|LT ?GT|XX|foo", "PEXPIRE k p ?NX|XX|GT|LT", "EXPIREAT k S ?NX|XX|GT|LT", "PEXPIREAT k P ?NX|XX|GT|LT",
	"PEXPIREAT k i",
	"TTL k", "PTTL k", "EXPIRETIME k", "PEXPIRETIME k",
	"HSET k m v ?m_v ?m", "HMSET k m v ?m_v", "HSETNX k m v", "HSET k m i", "HGET k m", "HMGET k m m*", "HDEL k m m*", "HEXISTS k m", "HINCRBY k m i",
	"HGETALL k", "HLEN k", "HKEYS k", "HVALS k",
	"LPUSH k v v*", "RPUSH k v v*", "LPOP k ?i ?i", "RPOP k ?i", "LLEN k", "LRANGE k i i", "LREM k i v", "LINDEX k i",
	"ZADD k f m ?f_m ?f", "ZADD k ?NX|XX|GT|LT ?GT|LT|NX ?CH ?INCR f m ?f_m", "ZINCRBY k f m", "ZREM k m m*", "ZSCORE k m",
	"ZRANGE k i i ?REV ?WITHSCORES", "ZRANGE k b b BYSCORE ?REV ?WITHSCORES ?LIMIT_i_i|REV|foo", "ZRANGE k i i LIMIT i i ?BYSCORE",
	"ZRANGEBYSCORE k b b ?WITHSCORES ?LIMIT_i_i|REV", "ZREMRANGEBYSCORE k b b", "ZCARD k", "ZCOUNT k b b", "ZRANK k m",
	"PING ?v ?v", "ECHO v", "SELECT 0", "PUBLISH k v", "FLUSHALL ?SYNC|foo",
	"SCRIPT EXISTS d d*", "SCRIPT LOAD t ?v", "SCRIPT FLUSH ?ASYNC|foo", "EVALSHA d 1 k v", "EVALSHA d i k v", "EVAL t 1 k v", "EVAL t i k ?v",
}

// drawings are what the letters of a pattern stand for. Numbers that end TTLs are far away or past.
var drawings = map[string][]string{
	"k": {"s1", "s2", "h1", "h2", "l1", "l2", "z1", "z2"},
	"v": {"x", "y", "", "10", "-7", "9223372036854775807", "1.5", "two words", "007", "\x00\xff\r\n"},
	"t": sampleScripts,
	"d": append(digests(sampleScripts), strings.ToUpper(Digest(sampleScripts[0])), "x", strings.Repeat("f", 40)),
	"m": {"m1", "m2", "m3", ""},
	"i": {"0", "1", "-1", "2", "-2", "3", "5", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "x", "", "+1", "01", "-0", " 1", "1.0"},
	"f": {"0", "1", "2", "-1.5", "0.1", "1e3", "inf", "-inf", "nan", "x", "", "+3", "0x10", "1e400", "3.0000000000000004", "1e-7", "123456789012345680000"},
	"b": {"0", "1", "(1", "-inf", "+inf", "(2", "2", "1e3", "x", "", "(", "(x", "nan"},
	"s": {"far", "far", "far", "far", "0", "-1", "x", "", "9223372036854775807", "9223372036854775"},
	"p": {"far", "far", "far", "far", "0", "-1", "x", "9223372036854775807"},
	"S": {"far", "far", "far", "1", "1000", "0", "-1", "x", "9223372036854775807"},
	"P": {"far", "far", "far", "1", "1000", "0", "-1", "x"},
}

var sampleScripts = []string{
	"return 1", "return redis.call('get', KEYS[1])", "return redis.call('set', KEYS[1], ARGV[1], 'NX')", "return {KEYS, ARGV}",
	"x", "return redis.call('del', KEYS[1])",
}

func digests(scripts []string) []string {
	var all []string
	for _, s := range scripts {
		all = append(all, Digest(s))
	}
	return all
}

// far are units that end long after the test.
var far = map[string]int{"s": 100_000, "p": 10_000_000_000, "S": 4_000_000_000, "P": 4_500_000_000_000}

// placed writes the far ends into a sequence, each at another time: GT and LT compare.
func placed(commands [][]string) [][]string {
	place := 0
	for _, words := range commands {
		for i, w := range words {
			if letter, is := strings.CutPrefix(w, "far "); is {
				place++
				words[i] = strconv.Itoa(far[letter] + 1000*place)
			}
		}
	}
	return commands
}

// homes are the keys that commands with this first letter mostly get, so that not all find the wrong type.
var homes = map[byte][]string{'H': {"h1", "h2"}, 'L': {"l1", "l2"}, 'R': {"l1", "l2"}, 'Z': {"z1", "z2"}}

func draw[V any](t *rapid.T, from []V) V { return rapid.SampledFrom(from).Draw(t, "choice") }
func maybe(t *rapid.T) bool              { return rapid.Bool().Draw(t, "there") }

// drawCommand is one command.
func drawCommand(t *rapid.T) []string {
	var words []string
	for word := range strings.FieldsSeq(draw(t, patterns)) {
		word, optional := strings.CutPrefix(word, "?")
		if optional && !maybe(t) {
			continue
		}
		repeated := 1
		if strings.HasSuffix(word, "*") {
			word, repeated = strings.TrimSuffix(word, "*"), rapid.IntRange(0, 3).Draw(t, "repeated")
		}
		for range repeated {
			for part := range strings.SplitSeq(draw(t, strings.Split(word, "|")), "_") {
				words = append(words, drawWord(t, words, part))
			}
		}
	}
	if rapid.IntRange(0, 30).Draw(t, "cut") == 30 { // too few words
		words = words[:rapid.IntRange(1, len(words)).Draw(t, "words")]
	}
	return words
}

// drawWord is what a letter stands for after the words before it.
func drawWord(t *rapid.T, before []string, letter string) string {
	if drawings[letter] == nil {
		return letter
	}
	choices := drawings[letter]
	if letter == "k" && homes[before[0][0]] != nil && rapid.IntRange(0, 9).Draw(t, "away") < 9 {
		choices = homes[before[0][0]]
	}
	word := draw(t, choices)
	if word == "far" {
		return "far " + letter
	}
	return word
}

// drawSequence is some 40 commands on average: slices of slices, as rapid prefers short ones.
func drawSequence(t *rapid.T, one *rapid.Generator[[]string]) [][]string {
	parts := rapid.SliceOfN(rapid.SliceOfN(one, 1, 40), 1, 40).Draw(t, "commands")
	return slices.Concat(parts...)
}

func TestCommandsAnswerAsRedisDoes(t *testing.T) {
	real, k := startRedis(t), NewKeyspace()
	for _, seed := range seeds(t) {
		t.Run(seed, func(t *testing.T) {
			withSeed(t, seed, func(t *rapid.T) {
				commands := drawSequence(t, rapid.Custom(drawCommand))
				sameAsRedis(t, real, k, append(placed(commands), audit()...))
			})
		})
	}
}

// audit reads all that a sequence may have left.
func audit() [][]string {
	var all [][]string
	for _, key := range drawings["k"] {
		for _, c := range []string{"TYPE k", "PEXPIRETIME k", "GET k", "HGETALL k", "LRANGE k 0 -1", "ZRANGE k 0 -1 WITHSCORES"} {
			words := strings.Fields(c)
			words[1] = key
			all = append(all, words)
		}
	}
	return append(all, []string{"DBSIZE"}) // now that all ended keys were met
}

// drawScript is a script of several calls whose arguments come as text, as numbers, from KEYS or from ARGV, and whose
// replies come back in one of several ways.
func drawScript(t *rapid.T) []string {
	var b strings.Builder
	var args []string
	n := rapid.IntRange(1, 4).Draw(t, "calls")
	for i := range n {
		words := drawCommand(t)
		fmt.Fprintf(&b, "local r%d = redis.%s(", i+1, draw(t, []string{"call", "pcall", "pcall"}))
		for j, w := range words {
			if j > 0 {
				b.WriteString(", ")
			}
			b.WriteString(drawArgument(t, w, &args))
		}
		b.WriteString(")\n")
	}
	b.WriteString(draw(t, returns))
	return append([]string{"EVAL", b.String(), "0"}, args...)
}

func drawArgument(t *rapid.T, word string, args *[]string) string {
	_, isNumber := parseInteger(word)
	if isNumber && len(word) < 16 && maybe(t) {
		return word
	}
	*args = append(*args, word)
	return fmt.Sprintf("ARGV[%d]", len(*args))
}

var returns = []string{
	"return r1", "return {r1, r1}", "return type(r1)", "return tonumber(r1)", "return r1 == false", "return not r1",
	"if type(r1) == 'table' then return {r1.ok or 'no', r1.err or 'no', #r1} end return r1",
	"if type(r1) == 'string' then return r1 .. '|' .. #r1 end return tostring(r1 == nil)",
	"if type(r1) == 'number' then return {r1 + 1, r1 / 3, r1 .. ''} end return {type(r1)}",
	"return redis.error_reply('MINE no')", "return redis.status_reply('yes')", "return {err = 'X y'}", "return",
	"error('mine')", "error({err = 'MINE it is'})", "return r1 + 1", "return r1 .. 'x'", "local x = r1.ok return x",
}

func TestScriptsAnswerAsInRedis(t *testing.T) {
	real, k := startRedis(t), NewKeyspace()
	for _, seed := range seeds(t) {
		t.Run(seed, func(t *testing.T) {
			withSeed(t, seed, func(t *rapid.T) {
				step := rapid.OneOf(rapid.Custom(drawCommand), rapid.Custom(drawScript).Filter(comparable))
				commands := drawSequence(t, step)
				sameAsRedis(t, real, k, append(placed(commands), audit()...))
			})
		})
	}
}

// comparable: what a script makes of a time to live cannot be compared; and of SCRIPT, which it may not call, Redis
// counts the words first.
func comparable(script []string) bool {
	all := strings.Join(script, " ")
	return !strings.Contains(all, "TTL") && !strings.Contains(all, "TIME") && !strings.Contains(all, "SCRIPT")
}

// strategyScripts are those that the locks run, by file.
func strategyScripts(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../strategies/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("no script of a strategy found (%v)", err)
	}
	all := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = string(text)
	}
	return all
}

func TestScriptsOfTheStrategiesAnswerAsInRedis(t *testing.T) {
	real, k := startRedis(t), NewKeyspace()
	r := rand.New(rand.NewPCG(1, 2))
	values := []string{"a", "b", "c", "x", "y", "1000000", "2000000", "0", "1", "3", "-1"}
	any := func() string { return values[r.IntN(len(values))] }
	for name, text := range strategyScripts(t) {
		t.Run(name, func(t *testing.T) {
			for range 300 {
				var commands [][]string
				for range 12 {
					switch r.IntN(4) {
					case 0:
						commands = append(commands, []string{"SET", any(), any(), "PX", "5000000"})
					case 1:
						commands = append(commands, []string{"DEL", any()})
					default:
						script := []string{"EVAL", text, "3", any(), any(), any()}
						for range r.IntN(6) {
							script = append(script, any())
						}
						commands = append(commands, script)
					}
				}
				sameAsRedis(t, real, k, commands)
			}
		})
	}
}

// corners are scripts whose result tells how values are converted, compared or refused.
var corners = []string{
	"return 3.99", "return -3.99", "return {3.99, -3.99, 'x', true, false, 1}", "return nil", "return true", "return false",
	"return {0/0, 1/0, -1/0, 1e30, 2^63, -2^63, 2^53 + 1}", "return {1, 2, nil, 4}", "return {}", "return {{}, {{1}}, {nil}}",
	"return {a = 1}", "return {1, a = 2, 3}", "return {[1] = 'x', [3] = 'y'}", "return function() end", "return '' .. 1.5",
	"return {err = 'foo'}", "return {err = 'foo bar\\nbaz'}", "return {ok = 'foo bar\\nbaz'}", "return {1, {err = 'A b'}, {ok = 'x'}}",
	"return {err = 5}", "return {ok = 5}", "return {ok = {}}", "return {err = 'A b', ok = 'x'}", "return {double = 3.5}",
	"return redis.error_reply('foo bar')", "return redis.error_reply('foo')", "return redis.error_reply('-foo x')",
	"return redis.error_reply('-foo')", "return redis.error_reply(1)", "return redis.error_reply()", "return redis.error_reply('')",
	"return redis.status_reply('x y')", "return redis.status_reply()", "return redis.status_reply(1)",
	"return redis.sha1hex('')", "return redis.sha1hex(1.5)", "return redis.sha1hex(1e15)", "return redis.sha1hex({})", "return redis.sha1hex()",
	"return redis.log(2, 'x')", "return redis.log(2)", "return redis.log('x', 'y')", "return redis.log(9, 'y')",
	"return redis.replicate_commands()", "return redis.set_repl(redis.REPL_ALL)", "return redis.set_repl(9)", "return redis.setresp(2)",
	"return redis.setresp(4)", "return redis.REDIS_VERSION_NUM", "return {redis.LOG_DEBUG, redis.LOG_WARNING, redis.REPL_REPLICA}",
	"return redis.call()", "return redis.call({})", "return redis.call('get', true)", "return redis.call('get', nil)", "return redis.pcall('get')",
	"return redis.call('get')", "return redis.call('eval', 'return 1', 0)", "return redis.call('evalsha', 'x', 0)", "return redis.call('wait', 0, 0)",
	"return redis.call('blpop', 'x', 0)", "return redis.call('subscribe', 'x')", "return redis.call('multi')", "return redis.call('script', 'flush')",
	"return redis.call('ping')", "return redis.call('ping').ok", "return redis.call('select', '0')", "return redis.call('select', 'x')",
	"return redis.call('get', 'none') == false", "return {redis.call('set', 'k', 0.1), redis.call('get', 'k')}",
	"return {redis.call('set', 'k', 1e17), redis.call('get', 'k')}", "return {redis.call('set', 'k', 12345678901234567), redis.call('get', 'k')}",
	"return {redis.call('set', 'k', -0.0), redis.call('get', 'k')}", "return {redis.call('set', 'k', 1/0), redis.call('get', 'k')}",
	"return {redis.call('set', 'k', 0/0), redis.call('get', 'k')}", "return redis.call('mget', 'x', 'y')", "return redis.call('lpop', 'none', 2)",
	"redis.call('set', 'k', 'v') redis.call('hget', 'k', 'f')", "redis.call('set', 'k', 'v') return redis.pcall('hget', 'k', 'f').err",
	"return {pcall(redis.call, 'get')}", "return {pcall(error, {err = 'a b'})}", "return {pcall(error, 'zz', 0)}",
	"return {pcall(function() error('zz') end)}", "return {pcall(function() redis.call('get') end)}", "return {pcall(function(a, b) return b, a end, 1, 2)}",
	"local ok, e = xpcall(function() redis.call('get') end, function(e) return e end) return {tostring(ok), type(e), e.err}",
	"error('x')", "error('x', 0)", "error({err = 'MYCODE msg'})", "assert(false, 'x')", "assert(nil)", "return assert(5)",
	"x = 1", "KEYS = {}", "return x", "KEYS[1] = 'q' return KEYS", "string.foo = 1", "redis.call = 1", "rawset(_G, 'x', 1)", "setmetatable(_G, {})",
	"function f() return 1 end return f()", "local function f() return 1 end return f()", "_G.x = 5", "return type(_G)", "return _G.KEYS[1]",
	"return rawget(_G, 'ARGV')[1]", "return type(getmetatable(_G))", "getmetatable(_G).__index = nil", "return type(os)", "return type(print)", "return dofile",
	"return loadstring('return 5')()", "return loadstring('x = 5')()", "return type(loadstring('syntax error here'))", "return tostring(nil) .. tostring(true)",
	"return load(function() return nil end)", "return ...", "return #{...}", "local function f(...) return #arg end return f(1, 2)",
	"local function f(...) return select('#', ...), ... end return {f(1, nil, 3)}", "return {unpack({1, 2, 3})}", "return {unpack({1, 2, 3}, 2)}",
	"return tostring(1e15)", "return tostring(1e14)", "return 1e15 .. ''", "return 1e14 .. '|' .. 99999999999999", "return 0.1 + 0.2 .. ''", "return 123456789012345 .. ''",
	"return 2^53 .. ''", "return -0.0 .. ''", "return 1/0 .. '|' .. -1/0", "return 0/0 .. ''", "return 1700000000123456 .. ':x'", "return 'a' .. 1 .. 'b' .. 2.5",
	"return nil .. 'x'", "return {} .. 'x'", "return ('x'):rep(3) .. (2)", "local t = {1, 2} return t[1] .. t[2]", "return #('abc' .. 1)",
	"return '10' + 1", "return '0x10' + 1", "return '010' * 1", "return '1e1' + 0", "return ' 5 ' + 0", "return '1_0' + 0", "return 'x' + 1", "return '' + 1",
	"return '7' % '-3'", "return 7 % -3", "return -7 % 3", "return '2' ^ 3", "return -'2'", "return 010", "return 0x10", "return 1 < 2", "return '10' < '9'", "return 1 < '2'",
	"return {tostring(tonumber('010')), tostring(tonumber('0x10')), tostring(tonumber('1e3')), tostring(tonumber('')), tostring(tonumber(' 5 '))}",
	"return {tostring(tonumber('5x')), tostring(tonumber('ff', 16)), tostring(tonumber('inf')), tostring(tonumber('1_0')), tostring(tonumber('0b1'))}",
	"return {tostring(tonumber('8', 8)), tostring(tonumber('z', 36)), tostring(tonumber(nil)), tostring(tonumber({})), tostring(tonumber('-ff', 16))}",
	"return tonumber('10', 99)", "return tonumber()", "return math.random(1, 1000000)", "return {math.random(10), math.random(10), tostring(math.random())}",
	"math.randomseed(7) return {math.random(1, 1000000), math.random(1, 1000000), tostring(math.random())}", "math.randomseed(-3) return math.random(100000)",
	"return math.random(0)", "return math.random(5, 3)", "return {math.floor(-3.5), math.ceil(3.2), math.max(1, 5, 3), math.min(2, 1), math.abs(-4), math.fmod(7, 3)}",
	"return math.huge .. ''", "return tostring(math.pi)", "return string.format('%d %5.2f %s %s %g %x %c %i %u', 3.7, 1.005, 0.1 + 0.2, 1e15, 1e20, 255, 65, -4, 7)",
	"return string.format('%5s|%-5s|%05d|%.3s|%%|%+d|% d|%#x', 'ab', 'cd', 42, 'abcdef', 5, 5, 255)", "return string.format('%q', 'a\"b\\n\\\\c\\0d')",
	"return string.format('%d', '12')", "return string.format('%d', 'x')", "return string.format('%d')", "return string.format('%y', 1)", "return string.format('%s', {})",
	"return string.format('%e %E %G %f', 12345.678, 0.00012, 1e-10, 2.5)", "return string.format('%g %g %g', 100000, 1000000, 0.0001)", "return string.format('%g', 1/0)",
	"return string.format('%o %X', 8, 255)", "return string.format('%.14g', 3.14159265358979)", "return string.format('%10.4f|%-10d|', 3.14159, 42)",
	"return table.concat({1, 2.5, 'z', 1e15}, ',')", "return table.concat({}, ',')", "return table.concat({1, {}, 3})", "return table.concat({1, 2, 3}, '-', 2, 3)",
	"local t = {3, 1, 2} table.sort(t) return t", "local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return {t, table.remove(t), #t}",
	"local t = {} for i = 1, 3 do t[#t + 1] = i * 2 end return t", "local n = 0 for k, v in pairs({1, 2, a = 3}) do n = n + v end return n",
	"local t = {} for k, v in ipairs({1, 2, nil, 4}) do t[k] = v end return t", "local t = {} for w in string.gmatch('a b c', '%a') do t[#t + 1] = w end return t",
	"return {string.find('hello', 'l')}", "return {string.find('a.b', '.', 1, true)}", "return {string.gsub('hello', 'l', 'L')}", "return {string.match('k:12', '(%a):(%d+)')}",
	"return {string.sub('hello', 2, -2), string.byte('A'), string.char(72, 105), string.upper('x'), string.len('abc'), string.reverse('abc')}",
	"return ('k:%d'):format(3)", "return KEYS[1] .. ARGV[1]", "return {#KEYS, #ARGV, KEYS[2], ARGV[3]}", "return ARGV[1] + 1", "return tonumber(ARGV[2]) * 2",
	"local a, b = KEYS[1] return {a, tostring(b)}", "return type(next({}))", "return next({5})", "local i = 0 while true do i = i + 1 if i > 5 then break end end return i",
	"local i = 0 repeat i = i + 1 until i >= 3 return i", "for i = 3, 1, -1 do redis.call('rpush', 'l', i) end return redis.call('lrange', 'l', 0, -1)",
	"local t = setmetatable({}, {__index = function(_, k) return k end}) return t.foo", "return setmetatable({1, 2}, {__index = function() return 9 end})",
	"local co = coroutine.wrap(function() coroutine.yield(1) return redis.call('ping').ok end) return {co(), co()}", "return collectgarbage('count') >= 0",
	"return (function() return 1, 2 end)()", "return {(function() return 1, 2 end)()}", "local t = {} t.x = t return #t", "syntax error here", "return", "", "-- nothing",
	"return redis.call('zadd', 'z', 1.5, 'm')", "redis.call('zadd', 'z', 0.1, 'm') return redis.call('zscore', 'z', 'm')", "redis.call('hset', 'h', 'f', 1) return redis.call('hgetall', 'h')",
	"return redis.call('incrby', 'n', 3.5)", "return redis.call('incrby', 'n', 3.0)", "return redis.call('pexpire', 'k', 1e3)", "redis.breakpoint() return 1", "return type(redis.debug)",
	"local t = redis.call('time') return {#t, type(t[1]), #t[1], type(t[2])}", "return redis.call('publish', 'c', 'm')", "return redis.call('GeT', 'none')",
	"local a = redis.call('incr', 'n') local b = redis.call('incr', 'n') return a * 10 + b", "return tostring(redis.call('set', 'k', 'v', 'NX')['ok'])",
}

func TestConversionsAnswerAsInRedis(t *testing.T) {
	real, k := startRedis(t), NewKeyspace()
	for _, text := range corners {
		t.Run(text, func(t *testing.T) {
			sameAsRedis(t, real, k, [][]string{{"EVAL", text, "2", "key one", "key2", "10", "2.5"}})
		})
	}
}

// Redis ends a key when its clock has passed the end, not when it has reached it. The real server is asked between two
// readings of its clock: what has ended for us at the first must have ended there, what lives for us at the second
// must live there.
func TestKeysEndInTheOrderOfTheirEndsAsInRedis(t *testing.T) {
	real, k := startRedis(t), NewKeyspace()
	const keys = 250
	begin := time.Now().UnixMilli() + 50
	mget := []string{"MGET"}
	var commands [][]string
	for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(keys) {
		name := fmt.Sprint("key", i)
		mget = append(mget, name)
		commands = append(commands, []string{"SET", name, "v", "PXAT", strconv.FormatInt(begin+int64(i), 10)})
		k.Replay(time.Now().UnixMicro(), commands[len(commands)-1]...)
	}
	if _, err := real.do(commands...); err != nil {
		t.Fatal(err)
	}
	for left := keys; left > 0; time.Sleep(time.Millisecond) {
		all, err := real.do([]string{"TIME"}, mget, []string{"TIME"})
		if err != nil {
			t.Fatal(err)
		}
		before, after := k.run(micros(all[0]), mget), k.run(micros(all[2]), mget)
		left = 0
		for i, r := range all[1].List {
			if r.Kind != strategies.Nil {
				left++
			}
			if before.List[i].Kind == strategies.Nil && r.Kind != strategies.Nil || after.List[i].Kind != strategies.Nil && r.Kind == strategies.Nil {
				t.Fatalf("%s: simulated %s, then %s; Redis between them %s", mget[i+1], shown(before.List[i], false), shown(after.List[i], false), shown(r, false))
			}
		}
	}
}

// micros is a reply of TIME.
func micros(r reply) int64 {
	s, _ := strconv.ParseInt(r.List[0].Text, 10, 64)
	us, _ := strconv.ParseInt(r.List[1].Text, 10, 64)
	return s*1e6 + us
}

func TestEveryCommandIsComparedWithRedis(t *testing.T) {
	elsewhere := []string{"time", "info", "dbsize", "flushdb"} // other tests and audit have them; FLUSHDB is FLUSHALL here
	for _, c := range commandList {
		if !slices.ContainsFunc(patterns, func(p string) bool { return strings.EqualFold(strings.Fields(p)[0], c.name) }) && !slices.Contains(elsewhere, c.name) {
			t.Errorf("no random sequence holds %s", c.name)
		}
	}
}
