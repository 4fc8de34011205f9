package embedded

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	wire "github.com/alicebob/miniredis/v2/server"
)

// server is a miniredis whose TTLs run. The emulation keeps for each key what is left of its TTL, and forgets the key
// only when its clock is moved.
type server struct {
	redis *miniredis.Miniredis
	began time.Time
	moved atomic.Int64 // nanoseconds since began at which the emulation's clock was moved last
	quit  chan struct{}
	done  chan struct{}
}

func startServer() (*server, error) {
	s, err := newServer()
	if err == nil {
		go s.runTTLs()
	}
	return s, err
}

// newServer answers, but its clock stands.
func newServer() (*server, error) {
	s := &server{redis: miniredis.NewMiniRedis(), began: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	if err := s.redis.Start(); err != nil {
		return nil, fmt.Errorf("start the embedded server: %w", err)
	}
	s.redis.Server().SetPreHook(s.beforeCommand)
	return s, nil
}

const (
	// tick is how late an expiry may be while there are few keys.
	tick = time.Millisecond
	// rest is how many times longer than the last step of the clock the next wait is. A step visits every key (55 ms
	// at 100,000) and stops all commands meanwhile, so it may take only a fifth of the time.
	rest = 4
)

// runTTLs moves the emulation's clock with the real one.
func (s *server) runTTLs() {
	defer close(s.done)
	wait := time.NewTimer(tick)
	defer wait.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-wait.C:
		}
		s.redis.Lock() // a long script may run: waiting for its end is no part of the step's cost
		now := time.Since(s.began)
		s.redis.Unlock()
		s.redis.FastForward(now - time.Duration(s.moved.Load()))
		s.moved.Store(int64(now)) // after the step: a key that is set in between lives a little longer, never shorter
		wait.Reset(max(tick, rest*(time.Since(s.began)-now)))
	}
}

// beforeCommand sees every command before it runs, those inside scripts too. A key that is set between two steps would
// be aged by the whole step and die too early, which would look like a lock that does not exclude; so its TTL is
// lengthened by what has passed since the last step. It then ends at most one wait too late. Commands that count in
// seconds are sent on as their siblings that count in milliseconds. true: the command has been answered.
func (s *server) beforeCommand(p *wire.Peer, command string, args ...string) bool {
	switch {
	case command == "SET":
		s.lengthenSet(args)
	case command == "PEXPIRE" && len(args) >= 2 || command == "PSETEX" && len(args) == 3:
		args[1] = s.lengthen(args[1], 1)
	case command == "EXPIRE" && len(args) >= 2 && isSeconds(args[1]):
		s.redis.Server().Dispatch(p, append([]string{"PEXPIRE", args[0], args[1] + "000"}, args[2:]...))
		return true
	case command == "SETEX" && len(args) == 3 && isSeconds(args[1]):
		s.redis.Server().Dispatch(p, []string{"PSETEX", args[0], args[1] + "000", args[2]})
		return true
	}
	return false
}

// lengthenSet finds the TTL among the options of SET key value; args is the command's own slice.
func (s *server) lengthenSet(args []string) {
	for i := 2; i+1 < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "PX":
			args[i+1] = s.lengthen(args[i+1], 1)
			return
		case "EX":
			if isSeconds(args[i+1]) {
				args[i], args[i+1] = "PX", s.lengthen(args[i+1], 1000)
			}
			return
		}
	}
}

// lengthen adds the time since the last step to n units of unit milliseconds. What is no valid TTL stays as it is, for
// the server to refuse.
func (s *server) lengthen(n string, unit int64) string {
	v, err := strconv.ParseInt(n, 10, 64)
	if err != nil || v <= 0 || v > math.MaxInt32*1000 {
		return n
	}
	passed := time.Since(s.began) - time.Duration(s.moved.Load())
	return strconv.FormatInt(v*unit+int64((passed+time.Millisecond-1)/time.Millisecond), 10)
}

// isSeconds tells a TTL that still fits when it is written in milliseconds.
func isSeconds(n string) bool {
	v, err := strconv.ParseInt(n, 10, 64)
	return err == nil && v > 0 && v <= math.MaxInt32
}

func (s *server) close() {
	close(s.quit)
	<-s.done
	s.redis.Close()
}
