package strategies

// newLocalMutex is what a service does that guards a shared thing with a mutex of its own process: it excludes until
// the service runs twice. One New is one process; a second one has mutexes of its own.
//
// State: the table of held keys and their waiters, one for each New.
func newLocalMutex(e Env, _ Options) (Locker, error) { return newMutexes(e), nil }
