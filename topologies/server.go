package topologies

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/clock"
)

// batch bounds the keys of one command, so that no command of ours holds up a shared server.
const batch = 256

// Ping is the round trip of one PING on the control connection.
func (s Server) Ping(ctx context.Context) (time.Duration, error) {
	now := s.Now
	if now == nil {
		now = clock.Wall().Now
	}
	began := now()
	if _, err := s.Control.Do(ctx, "PING"); err != nil {
		return 0, fmt.Errorf("ping %s: %w", s.Address, err)
	}
	return now() - began, nil
}

// Sample reads the server's counters with one INFO. What the server does not tell stays nil or empty: the embedded
// server knows no CPU and no commandstats.
func (s Server) Sample(ctx context.Context) (Sample, error) {
	info, err := s.info(ctx)
	if err != nil {
		return Sample{}, fmt.Errorf("info %s: %w", s.Address, err)
	}
	sample := ParseInfo(info)
	if !strings.Contains(info, "# Keyspace") {
		r, err := s.Control.Do(ctx, "DBSIZE")
		if err != nil {
			return Sample{}, fmt.Errorf("dbsize %s: %w", s.Address, err)
		}
		sample.Keys = r.Int
	}
	return sample, nil
}

// info asks for every section at once, and for the default ones where the server refuses the word.
func (s Server) info(ctx context.Context) (string, error) {
	r, err := s.Control.Do(ctx, "INFO", "everything")
	var refused *strategies.ServerError
	if errors.As(err, &refused) && strings.Contains(refused.Message, "section") {
		r, err = s.Control.Do(ctx, "INFO")
	}
	return r.Text, err
}

// ParseInfo reads the reply of INFO as Redis and Valkey write it.
func ParseInfo(info string) Sample {
	f := infoFields(info)
	s := Sample{Version: version(f), Role: f["role"], Policy: f["maxmemory_policy"], CPU: mainThread(f)}
	for name, value := range f {
		if command, ok := strings.CutPrefix(name, "cmdstat_"); ok {
			if s.Calls == nil {
				s.Calls = map[string]int64{}
			}
			s.Calls[strings.ToLower(command)] = sub(value, "calls")
		}
		if isDatabase(name) {
			s.Keys += sub(value, "keys")
		}
	}
	return s
}

// infoFields is every "name:value" line of INFO.
func infoFields(info string) map[string]string {
	f := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.HasPrefix(name, "#") {
			f[name] = value
		}
	}
	return f
}

// version names the product and its version. Valkey keeps redis_version for old clients and tells its own beside it.
func version(f map[string]string) string {
	if v := f["valkey_version"]; v != "" {
		return "valkey " + v
	}
	v, name := f["redis_version"], f["server_name"]
	if v == "" {
		return ""
	}
	if name == "" {
		name = "redis"
	}
	return name + " " + v
}

// mainThread is user + system CPU of the thread that runs commands; of the whole process where the server does not
// tell them apart (Redis before 6.2). The sum is exact to a microsecond, the split into user and system is not.
func mainThread(f map[string]string) *time.Duration {
	for _, suffix := range []string{"_main_thread", ""} {
		user, errUser := strconv.ParseFloat(f["used_cpu_user"+suffix], 64)
		sys, errSys := strconv.ParseFloat(f["used_cpu_sys"+suffix], 64)
		if errUser == nil && errSys == nil {
			d := time.Duration((user + sys) * float64(time.Second)).Round(time.Microsecond)
			return &d
		}
	}
	return nil
}

// isDatabase tells the lines db0, db1, ... of the keyspace section.
func isDatabase(name string) bool {
	n, ok := strings.CutPrefix(name, "db")
	_, err := strconv.ParseUint(n, 10, 16)
	return ok && err == nil
}

// sub is one number of a value like "calls=7,usec=12"; 0 where it is missing.
func sub(value, name string) int64 {
	for part := range strings.SplitSeq(value, ",") {
		if v, ok := strings.CutPrefix(part, name+"="); ok {
			n, _ := strconv.ParseInt(v, 10, 64)
			return n
		}
	}
	return 0
}

// Audit tells which of keys exist and what is left of their TTLs; missing ones are left out. It asks EXISTS for whole
// batches first: after a clean drain nearly all keys are gone, and a round trip for each would take longer than the
// trial.
func (s Server) Audit(ctx context.Context, keys []string) ([]Key, error) {
	var found []Key
	for _, some := range batches(keys) {
		more, err := s.audit(ctx, some)
		if err != nil {
			return nil, fmt.Errorf("audit %s: %w", s.Address, err)
		}
		found = append(found, more...)
	}
	return found, nil
}

// audit halves a batch that holds few live keys until PTTL of each is cheap.
func (s Server) audit(ctx context.Context, keys []string) ([]Key, error) {
	if len(keys) > 4 {
		r, err := s.Control.Do(ctx, command("EXISTS", keys)...)
		if err != nil || r.Int == 0 {
			return nil, err
		}
		if int(r.Int) < len(keys)/2 {
			left, err := s.audit(ctx, keys[:len(keys)/2])
			if err != nil {
				return nil, err
			}
			right, err := s.audit(ctx, keys[len(keys)/2:])
			return append(left, right...), err
		}
	}
	return s.ttls(ctx, keys)
}

// ttls asks PTTL of each key: -2 missing, -1 without a TTL, else milliseconds.
func (s Server) ttls(ctx context.Context, keys []string) ([]Key, error) {
	var found []Key
	for _, k := range keys {
		r, err := s.Control.Do(ctx, "PTTL", k)
		switch {
		case err != nil:
			return nil, err
		case r.Int == -1:
			found = append(found, Key{Name: k, TTL: -1})
		case r.Int >= 0:
			found = append(found, Key{Name: k, TTL: time.Duration(r.Int) * time.Millisecond})
		}
	}
	return found, nil
}

// Remove unlinks keys in batches. Missing ones are no error.
func (s Server) Remove(ctx context.Context, keys []string) error {
	for _, some := range batches(keys) {
		if _, err := s.Control.Do(ctx, command("UNLINK", some)...); err != nil {
			return fmt.Errorf("remove keys from %s: %w", s.Address, err)
		}
	}
	return nil
}

func batches(keys []string) [][]string {
	var all [][]string
	for len(keys) > batch {
		all, keys = append(all, keys[:batch]), keys[batch:]
	}
	if len(keys) > 0 {
		all = append(all, keys)
	}
	return all
}

func command(name string, keys []string) []any {
	args := make([]any, 1, len(keys)+1)
	args[0] = name
	for _, k := range keys {
		args = append(args, k)
	}
	return args
}
