package bench

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/strategies/clock"
)

func TestSessionsThatTheTrialCancelsDoNotFailTheTarget(t *testing.T) {
	var a tally
	for range 2 * failuresInARow {
		a.watch(&results.Op{Outcome: results.Failed, Cause: cancelled})
	}
	if a.failing != 0 {
		t.Errorf("%d cancelled sessions count as failures of the target", a.failing)
	}
}

func TestWindowEndsWithTheSchedule(t *testing.T) {
	r := &running{
		Trial: &Trial{Clock: clock.Wall(), Topology: inProcess().topology},
		work:  &workload{start: clock.Wall().Now()}, tally: &tally{to: time.Hour},
	}
	schedule, stop := context.WithCancel(context.Background())
	r.phase(schedule, 0)
	reached := r.ended
	stop()
	r.phase(schedule, 0)
	if reached == 0 || r.ended != reached {
		t.Errorf("the window grew from %v to %v while sessions only drained", reached, r.ended)
	}
}

func TestAnInterruptIsNotLostBehindWhatItCaused(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	target := &TargetError{errors.New("connection refused")}
	if err := interrupted(ctx, target); errors.Is(err, context.Canceled) {
		t.Errorf("%v without an interrupt", err)
	}
	stop()
	err := interrupted(ctx, target)
	if failed := (*TargetError)(nil); !errors.Is(err, context.Canceled) || !errors.As(err, &failed) {
		t.Errorf("%v, want the interrupt and the failure", err)
	}
}

func TestAFileWithoutItsEndIsNotKept(t *testing.T) {
	folder, err := results.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f := &trialFiles{}
	if _, err := f.add(folder, "trials/001-x-t1.hlog"); err != nil {
		t.Fatal(err)
	}
	full := bufio.NewWriter(fullDisk{})
	io.WriteString(full, "the end")
	f.buffers[0] = full
	if err := f.commit(); !errors.Is(err, errFull) || folder.Has("trials/001-x-t1.hlog") {
		t.Errorf("%v, the file is there: %v", err, folder.Has("trials/001-x-t1.hlog"))
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
