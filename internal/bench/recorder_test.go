package bench

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/strategies/clock"
)

func TestNoOpArrivesFromBeforeTheFrontier(t *testing.T) {
	r := newRecorder(clock.Wall().Now)
	var writers sync.WaitGroup
	var live atomic.Int64
	for w := range 8 {
		live.Add(1)
		writers.Go(func() {
			defer live.Add(-1)
			for i := range 5000 {
				ticket, at := r.begin(int64(i*8 + w))
				ticket.attempted(attempt{session: at})
				r.end(ticket, &results.Op{N: int64(i*8 + w), Started: at})
			}
		})
	}
	var b batch
	var frontier time.Duration
	ops, attempts := 0, 0
	for last := false; !last; {
		last = live.Load() == 0
		r.take(&b)
		for i := range b.parts {
			for _, op := range b.parts[i].ops {
				if op.Started < frontier {
					t.Fatalf("session started at %v arrived after the frontier %v", op.Started, frontier)
				}
			}
			ops, attempts = ops+len(b.parts[i].ops), attempts+len(b.parts[i].attempts)
		}
		if b.frontier < frontier {
			t.Fatalf("frontier went back from %v to %v", frontier, b.frontier)
		}
		frontier = b.frontier
	}
	writers.Wait()
	if ops != 40000 || attempts != 40000 || b.open != 0 {
		t.Fatalf("%d ops, %d attempts, %d open; want 40000, 40000, 0", ops, attempts, b.open)
	}
}

func TestSessionsOfOneClientComeInTheirOrder(t *testing.T) {
	const clients = 3 // no multiple of the shards
	r := newRecorder(clock.Wall().Now)
	for k := range int64(100) {
		a := load.Arrival{N: k*clients + 1, Client: 1}
		ticket, _ := r.begin(line(a))
		r.end(ticket, &results.Op{N: a.N})
	}
	var b batch
	r.take(&b)
	last, n := int64(-1), 0
	for i := range b.parts {
		for _, op := range b.parts[i].ops {
			if op.N < last {
				t.Fatalf("session %d came after session %d", op.N, last)
			}
			last = op.N
			n++
		}
	}
	if n != 100 {
		t.Fatalf("%d sessions, want 100", n)
	}
}

// BenchmarkRecord is the cost of one Op on the session's side with 8 writers, the collector's copying included.
func BenchmarkRecord(b *testing.B) {
	r := newRecorder(clock.Wall().Now)
	stop := make(chan struct{})
	go func() {
		var batch batch
		for {
			select {
			case <-stop:
				return
			case <-time.After(collectEvery):
				r.take(&batch)
			}
		}
	}()
	b.ReportAllocs()
	b.SetParallelism(4) // x 2 processors: 8 writers
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		op := results.Op{N: n.Add(1)}
		for pb.Next() {
			ticket, at := r.begin(op.N)
			op.Started = at
			r.end(ticket, &op)
		}
	})
	close(stop)
}
