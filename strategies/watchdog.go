package strategies

// newWatchdog is a base whose lease is renewed while the work runs. The renewing is Hold's, around the work; as a
// Locker it is its base, and the catalogue's Renews tells the session to use Hold every RenewEvery.
func newWatchdog(e Env, o Options) (Locker, error) {
	return New(option(o, "base", "set-px-lua"), e, nil)
}
