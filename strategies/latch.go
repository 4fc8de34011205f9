package strategies

import (
	"runtime"
	"sync/atomic"
)

// latch guards a handful of instructions that neither wait nor call anything that could. It exists because this
// package must run in virtual time, where a goroutine that blocks on a sync.Mutex would stop the clock.
type latch struct{ taken atomic.Bool }

func (l *latch) lock() {
	for !l.taken.CompareAndSwap(false, true) {
		runtime.Gosched() // the owner may have been preempted: let it finish
	}
}

func (l *latch) unlock() { l.taken.Store(false) }
