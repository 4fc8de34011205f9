package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/strategies"
)

// do runs a command that must not fail.
func do(t testing.TB, k *Keyspace, now time.Duration, words ...string) strategies.Reply {
	t.Helper()
	r, err := k.Do(now, words...)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return r
}

func refusal(t testing.TB, k *Keyspace, words ...string) *strategies.ServerError {
	t.Helper()
	r, err := k.Do(0, words...)
	var refused *strategies.ServerError
	if !errors.As(err, &refused) {
		t.Fatalf("%q = %+v, %v; want a refusal", words, r, err)
	}
	return refused
}

func TestALockLivesUntilItsTTLHasPassed(t *testing.T) {
	k := NewKeyspace()
	do(t, k, time.Second, "SET", "lock", "me", "NX", "PX", "100")
	if r := do(t, k, time.Second+100*time.Millisecond, "SET", "lock", "you", "NX", "PX", "100"); r.Kind != strategies.Nil {
		t.Errorf("SET NX at the last instant of the TTL = %+v, want nil", r)
	}
	if r := do(t, k, time.Second+101*time.Millisecond, "SET", "lock", "you", "NX", "PX", "100"); r.Text != "OK" {
		t.Errorf("SET NX after the TTL = %+v, want OK", r)
	}
}

func TestEndedKeysAreInvisibleEverywhere(t *testing.T) {
	k := NewKeyspace()
	for i := range 10 {
		do(t, k, 0, "SET", fmt.Sprint("key", i), "v", "PX", "10")
	}
	do(t, k, 0, "SET", "stays", "v")
	if r := do(t, k, time.Second, "DBSIZE"); r.Int != 1 {
		t.Errorf("DBSIZE = %d, want 1", r.Int)
	}
	if r := do(t, k, time.Second, "INFO"); !strings.Contains(r.Text, "db0:keys=1,expires=0") {
		t.Errorf("INFO = %q, want one key without a TTL", r.Text)
	}
}

func TestKeysThatNobodyAsksForAreThrownOut(t *testing.T) {
	k := NewKeyspace()
	for i := range 100_000 {
		do(t, k, time.Duration(i)*time.Millisecond, "SET", fmt.Sprint("key", i), "v", "PX", "10")
	}
	if len(k.entries) > 3000 {
		t.Errorf("%d entries are remembered, of which some 10 live", len(k.entries))
	}
}

func TestTimeIsTheServersOwn(t *testing.T) {
	k := NewKeyspace()
	at := func(now time.Duration) int64 { return micros(do(t, k, now, "TIME")) - Epoch }
	if got := at(1500 * time.Millisecond); got != 1_500_000 {
		t.Errorf("TIME after 1.5 s = %d us after the epoch", got)
	}
	k.StepClock(2*time.Second, -time.Second)
	if got := at(3 * time.Second); got != 2_000_000 {
		t.Errorf("TIME after 3 s and a step of -1 s = %d us", got)
	}
	k.SetClockRate(3*time.Second, 1.5)
	if got := at(5 * time.Second); got != 5_000_000 {
		t.Errorf("TIME 2 s later at rate 1.5 = %d us, want 5 s", got)
	}
	k.SetClockRate(5*time.Second, 1)
	if got := at(6 * time.Second); got != 6_000_000 {
		t.Errorf("TIME 1 s later at rate 1 = %d us, want 6 s", got)
	}
}

func TestAStepOfTheClockEndsKeys(t *testing.T) {
	k := NewKeyspace()
	do(t, k, 0, "SET", "lock", "me", "PX", "10000")
	k.StepClock(time.Second, 20*time.Second)
	if r := do(t, k, time.Second, "EXISTS", "lock"); r.Int != 0 {
		t.Error("the key outlived the server's clock")
	}
}

func TestARefusalNamesItsCode(t *testing.T) {
	k := NewKeyspace()
	do(t, k, 0, "LPUSH", "queue", "x")
	for _, c := range []struct {
		words      []string
		code, text string
	}{
		{[]string{"GET", "queue"}, "WRONGTYPE", "wrong kind of value"},
		{[]string{"INCR"}, "ERR", "wrong number of arguments for 'incr' command"},
		{[]string{"EVALSHA", strings.Repeat("f", 40), "0"}, "NOSCRIPT", "Please use EVAL"},
		{[]string{"GEOADD", "k"}, "ERR", "simulated server: command GEOADD is not simulated"},
		{[]string{"BLPOP", "k", "0"}, "ERR", "simulated server: command BLPOP is not simulated"},
		{[]string{"SELECT", "3"}, "ERR", "a database other than 0 is not simulated"},
		{[]string{"ZRANGE", "z", "-", "+", "BYLEX"}, "ERR", "ZRANGE BYLEX is not simulated"},
		{[]string{"SCRIPT", "KILL"}, "ERR", "command SCRIPT KILL is not simulated"},
		{[]string{"EVAL", "return cjson.encode({})", "0"}, "ERR", "library cjson is not simulated"},
		{[]string{"EVAL", "return redis.call('geoadd')", "0"}, "ERR", "command geoadd is not simulated"},
		{[]string{"EVAL", "#!lua\nreturn 1", "0"}, "ERR", "#! is not simulated"},
		{[]string{"EVAL", "redis.setresp(3)", "0"}, "ERR", "RESP3 is not simulated"},
		{[]string{"EVAL", "redis.set_repl(redis.REPL_NONE)", "0"}, "ERR", "REPL_ALL are not simulated"},
		{nil, "ERR", "without a name"},
	} {
		if r := refusal(t, k, c.words...); r.Code != c.code || !strings.Contains(r.Message, c.text) {
			t.Errorf("%q: %s: %s; want %s and %q", c.words, r.Code, r.Message, c.code, c.text)
		}
	}
}

func TestAnErrorOfAScriptNamesTheScriptAndTheLine(t *testing.T) {
	k := NewKeyspace()
	for text, want := range map[string]string{
		"\nreturn redis.call('get')": "ERR Wrong number of args calling Redis command from script script: SHA, on @user_script:2.",
		"error('plain')":             "ERR user_script:1: plain script: SHA, on @user_script:1.",
		"\n\nx = 1":                  "ERR user_script:3: Attempt to modify a readonly table script: SHA, on @user_script:3.",
	} {
		s, _ := k.load(text)
		if r := refusal(t, k, "EVAL", text, "0"); r.Message != strings.Replace(want, "SHA", s.sha, 1) {
			t.Errorf("%q: %s", text, r.Message)
		}
	}
}

func TestAScriptKeepsWhatItDidBeforeItFailed(t *testing.T) {
	k := NewKeyspace()
	refusal(t, k, "EVAL", "redis.call('set', 'a', 1) redis.call('nosuch')", "0")
	if r := do(t, k, 0, "GET", "a"); r.Text != "1" {
		t.Errorf("GET = %+v, want 1", r)
	}
}

func TestTimeStandsStillInsideAScript(t *testing.T) {
	k := NewKeyspace()
	r := do(t, k, time.Second, "EVAL", "local a = redis.call('time') for i = 1, 1000 do end local b = redis.call('time') return {a[1] == b[1], a[2] == b[2], a[2]}", "0")
	if r.List[0].Int != 1 || r.List[1].Int != 1 {
		t.Errorf("two readings of TIME in a script differ: %+v", r)
	}
}

func TestInnerCommandsAreCountedByRun(t *testing.T) {
	k := NewKeyspace()
	do(t, k, 0, "EVAL", "redis.call('set', 'a', 1) redis.pcall('get', 'a') redis.pcall('get') return 1", "0")
	if k.Inner() != 2 {
		t.Errorf("%d inner commands, want 2: the one with too few words was not run", k.Inner())
	}
	do(t, k, 0, "GET", "a")
	if k.Inner() != 0 {
		t.Errorf("%d inner commands of a GET", k.Inner())
	}
	if r := do(t, k, 0, "INFO"); !strings.Contains(r.Text, "cmdstat_get:calls=2\r\n") || !strings.Contains(r.Text, "cmdstat_eval:calls=1\r\n") {
		t.Errorf("commandstats = %q, want 2 get, 1 eval", r.Text)
	}
}

func TestARestartForgetsKeysAndScriptsButNotTheClock(t *testing.T) {
	k := NewKeyspace()
	do(t, k, 0, "SET", "a", "1")
	sha := do(t, k, 0, "SCRIPT", "LOAD", "return 1").Text
	k.StepClock(0, time.Second)
	k.Restart()
	if r := refusal(t, k, "EVALSHA", sha, "0"); r.Code != "NOSCRIPT" {
		t.Errorf("EVALSHA after a restart: %s", r.Message)
	}
	if do(t, k, 0, "DBSIZE").Int != 0 || k.Now(0) != Epoch+1_000_000 {
		t.Error("keys were kept, or the clock was not")
	}
}

func TestServersOfOneEngineKnowOnlyTheirOwnScriptsAndKeys(t *testing.T) {
	e := NewEngine()
	a, b := e.NewKeyspace(), e.NewKeyspace()
	script := "return redis.call('incr', KEYS[1])"
	sha := do(t, a, 0, "SCRIPT", "LOAD", script).Text
	if r := refusal(t, b, "EVALSHA", sha, "1", "n"); r.Code != "NOSCRIPT" {
		t.Errorf("EVALSHA on the other server: %s", r.Message)
	}
	do(t, a, 0, "EVALSHA", sha, "1", "n")
	if r := do(t, b, 0, "EVAL", script, "1", "n"); r.Int != 1 {
		t.Errorf("the other server counts %d, want 1", r.Int)
	}
}

func TestAScriptLeavesNothingToTheNext(t *testing.T) {
	k := NewKeyspace()
	for _, text := range []string{"KEYS[1] = 'changed'", "KEYS.x = 1", "ARGV[9] = 1", "local t = redis t.call = nil", "getmetatable('').__index = nil", "getmetatable(_G).__index = nil", "math.random = nil"} {
		k.Do(0, "EVAL", text, "1", "key")
	}
	r := do(t, k, 0, "EVAL", "return {KEYS[1], #ARGV, tostring(KEYS.x), redis.call('ping'), ('x'):rep(2), type(math.random)}", "1", "key")
	if got := shown(r, false); got != `["key" 0 "nil" "PONG" "xx" "function"]` {
		t.Errorf("the next script sees %s", got)
	}
}

func TestARunawayRecursionIsAnErrorAndNoCrash(t *testing.T) {
	k := NewKeyspace()
	for _, text := range []string{"local function f() return 1 + f() end return f()", "local t = {} t[1] = t return t"} {
		if _, err := k.Do(0, "EVAL", text, "0"); err == nil && text[6] == 'f' {
			t.Errorf("%s: no error", text)
		}
	}
	if r := do(t, k, 0, "EVAL", "return 1", "0"); r.Int != 1 {
		t.Error("the engine is of no use afterwards")
	}
}

func TestPublishAndPushAreHeardOf(t *testing.T) {
	k := NewKeyspace()
	var heard []string
	k.Hooks = Hooks{
		Publish: func(channel, message string) int { heard = append(heard, channel+"="+message); return 3 },
		Pushed:  func(key string) { heard = append(heard, key) },
		CPU:     func() time.Duration { return 1500 * time.Millisecond },
	}
	r := do(t, k, 0, "EVAL", "redis.call('rpush', 'queue', 'x') return redis.call('publish', 'channel', 'free')", "0")
	if got := strings.Join(heard, " "); r.Int != 3 || got != "queue channel=free" {
		t.Errorf("PUBLISH = %d, heard %q", r.Int, got)
	}
	k.Role = "slave"
	if r := do(t, k, 0, "INFO"); !strings.Contains(r.Text, "used_cpu_user_main_thread:1.500000") || !strings.Contains(r.Text, "role:slave") {
		t.Errorf("INFO = %q", r.Text)
	}
}

// replay joins a replica with a clock of its own to k.
func replay(k *Keyspace) *Keyspace {
	replica := NewKeyspace()
	replica.StepClock(0, time.Hour)
	k.Written = func(wall int64, args []string) { replica.Replay(wall, args...) }
	return replica
}

func TestAReplicaThatReplaysHoldsTheSameKeysAndEnds(t *testing.T) {
	k := NewKeyspace()
	replica := replay(k)
	do(t, k, time.Second, "SET", "lock", "me", "NX", "PX", "5000")
	do(t, k, 2*time.Second, "SET", "lock", "you", "NX", "PX", "5000")
	do(t, k, 2*time.Second, "EVAL", "redis.call('get', 'lock') redis.call('incr', 'fence') return redis.call('pexpire', 'lock', 9000)", "0")
	do(t, k, 3*time.Second, "HSET", "h", "f", "v")
	do(t, k, 3*time.Second, "DEL", "nothing")
	for _, words := range [][]string{{"GET", "lock"}, {"PEXPIRETIME", "lock"}, {"GET", "fence"}, {"HGETALL", "h"}, {"DBSIZE"}} {
		want, got := do(t, k, 3*time.Second, words...), reply{}
		got, _ = replica.Replay(k.Now(3*time.Second), words...)
		if shown(got, false) != shown(want, false) {
			t.Errorf("%q: primary %s, replica %s", words, shown(want, false), shown(got, false))
		}
	}
	if len(replica.scripts) != 0 {
		t.Error("the replica learned a script: Redis replicates what it does, not itself")
	}
}

func TestOnlyChangesAreWritten(t *testing.T) {
	k := NewKeyspace()
	var written []string
	k.Written = func(_ int64, args []string) { written = append(written, strings.Join(args, " ")) }
	for _, line := range []string{
		"SET a 1", "SET a 2 NX", "GET a", "DEL b", "EXPIRE b 10", "ZADD z 1 m", "ZADD z 1 m", "HDEL h f", "SETNX a 3", "PERSIST a", "GETEX a", "PING", "DEL a",
	} {
		do(t, k, 0, strings.Fields(line)...)
	}
	if got := strings.Join(written, ", "); got != "SET a 1, ZADD z 1 m, DEL a" {
		t.Errorf("written: %s", got)
	}
}

func TestCopiedKeysAreIndependent(t *testing.T) {
	k, other := NewKeyspace(), NewKeyspace()
	for _, line := range []string{"SET s v PX 5000", "HSET h f v g w", "RPUSH l a b c", "ZADD z 1 a 2 b"} {
		do(t, k, 0, strings.Fields(line)...)
	}
	other.CopyKeys(k)
	all := append(audit(), []string{"PTTL", "s"}, []string{"HGETALL", "h"}, []string{"LRANGE", "l", "0", "-1"}, []string{"ZRANGE", "z", "0", "-1", "WITHSCORES"})
	var want []string
	for _, words := range all {
		want = append(want, shown(k.run(Epoch, words), false))
	}
	for _, line := range []string{"DEL s", "HDEL h f", "LPOP l", "ZINCRBY z 9 a"} {
		do(t, k, 0, strings.Fields(line)...)
	}
	for i, words := range all {
		if got := shown(other.run(Epoch, words), false); got != want[i] {
			t.Errorf("%q = %s after the original changed, want %s", words, got, want[i])
		}
	}
}

func TestLongQueuesKeepTheirOrder(t *testing.T) {
	k := NewKeyspace()
	for i := range 500 {
		do(t, k, 0, "RPUSH", "back", fmt.Sprint(i))
		do(t, k, 0, "LPUSH", "front", fmt.Sprint(i))
		do(t, k, 0, "HSET", "h", fmt.Sprint(i), "v")
		if i%3 == 2 {
			do(t, k, 0, "LPOP", "back")
			do(t, k, 0, "RPOP", "front")
			do(t, k, 0, "HDEL", "h", fmt.Sprint(i/3))
		}
	}
	for i := 166; i < 500; i++ {
		want := fmt.Sprint(i)
		if a, b := do(t, k, 0, "LPOP", "back").Text, do(t, k, 0, "RPOP", "front").Text; a != want || b != want {
			t.Fatalf("popped %s and %s, want %s", a, b, want)
		}
	}
	if names := do(t, k, 0, "HKEYS", "h").List; len(names) != 334 || names[0].Text != "166" || names[333].Text != "499" {
		t.Errorf("%d fields, from %v", len(names), names[0])
	}
}
