package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/topologies/container"
)

// environment is what a reader must know about this machine to judge a figure: for run.json and for doctor. It names
// no user, host or path. What the system does not tell is left out.
func environment(ctx context.Context) map[string]string {
	e := map[string]string{
		"cores":        strconv.Itoa(runtime.NumCPU()),
		"go":           runtime.Version(),
		"gomaxprocs":   strconv.Itoa(runtime.GOMAXPROCS(0)),
		"os":           runtime.GOOS + "/" + runtime.GOARCH,
		"ping_pong_us": fmt.Sprintf("%.0f", float64(pingPong())/float64(time.Microsecond)),
	}
	ctx, cancel := context.WithTimeout(ctx, engineWait)
	defer cancel()
	if engine, _, err := container.Describe(ctx); err == nil {
		e["container_runtime"] = engine
	}
	maps.Copy(e, machineFacts())
	maps.DeleteFunc(e, func(_, v string) bool { return v == "" })
	return e
}

const (
	// engineWait bounds how long a container engine that hangs may hold up a run that does not need it.
	engineWait = 3 * time.Second
	// pingPongs are enough for a steady median and take some 50 ms on a virtual machine.
	pingPongs = 1000
	// warmPingPongs come before: the first ones create the threads.
	warmPingPongs = 50
)

// pingPong is the median round trip of a message between two threads, without any server: two wake-ups. On a virtual
// machine it is most of what one client sees as latency, so figures for few clients compare only beside it.
func pingPong() time.Duration {
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // not given back: the thread ends with the goroutine
		for range there {
			back <- struct{}{}
		}
	}()
	took := make(chan []time.Duration)
	go func() {
		runtime.LockOSThread()
		defer close(there)
		var all []time.Duration
		for range warmPingPongs + pingPongs {
			began := time.Now()
			there <- struct{}{}
			<-back
			all = append(all, time.Since(began))
		}
		took <- all[warmPingPongs:]
	}()
	return quantile(<-took, 0.5)
}

// quantile of q in 0..1; it sorts d.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[int(q*float64(len(d)-1))]
}
