package strategies

// newNoop is a FIFO mutex inside this process. It sends nothing anywhere: what a run with it measures is the harness,
// and what queues at it follows the queueing formulas.
//
// State: the table of held keys and their waiters, one for each New.
func newNoop(e Env, _ Options) (Locker, error) { return newMutexes(e), nil }
