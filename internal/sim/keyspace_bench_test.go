package sim

import (
	"strings"
	"testing"
	"time"
)

func BenchmarkSetAndDelete(b *testing.B) {
	k := NewKeyspace()
	set := []string{"SET", "lock:7", "0123456789abcdef0123456789abcdef", "NX", "PX", "30000"}
	del := []string{"DEL", "lock:7"}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k.Do(time.Duration(i), set...)
		k.Do(time.Duration(i), del...)
	}
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "commands/s")
}

// BenchmarkReleaseScript is the release of set-px-lua by its digest, with the SET before it.
func BenchmarkReleaseScript(b *testing.B) {
	k := NewKeyspace()
	owner := "0123456789abcdef0123456789abcdef"
	sha := do(b, k, 0, "SCRIPT", "LOAD", strategyScripts(b)["set_px_lua_release.lua"]).Text
	set := []string{"SET", "lock:7", owner, "NX", "PX", "30000"}
	release := []string{"EVALSHA", sha, "1", "lock:7", owner}
	b.ReportAllocs()
	for b.Loop() {
		k.Do(0, set...)
		if r, err := k.Do(0, release...); err != nil || r.Int != 1 {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scripts/s")
}

// BenchmarkScriptOfThreeCalls has a status, a number and a text come back.
func BenchmarkScriptOfThreeCalls(b *testing.B) {
	k := NewKeyspace()
	text := strings.Join([]string{
		"if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) end",
		"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end",
		"return 0",
	}, "\n")
	sha := do(b, k, 0, "SCRIPT", "LOAD", text).Text
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Do(0, "EVALSHA", sha, "2", "lock", "fence", "owner", "30000"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scripts/s")
}

func BenchmarkNewEngine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		do(b, NewKeyspace(), 0, "EVAL", "return 1", "0")
	}
}
