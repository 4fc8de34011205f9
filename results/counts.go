package results

// Count is one of Counts by its name in JSON.
type Count struct {
	Name  string
	Doc   string
	Value int64
}

// Named lists the counts in the order of the tables.
func (c Counts) Named() []Count {
	return []Count{
		{"scheduled", "sessions the schedule wanted", c.Scheduled},
		{"acquired", "sessions that got the lock", c.Acquired},
		{"rejected", "sessions with one try that met a held lock", c.Rejected},
		{"gave_up", "sessions whose retry policy ended", c.GaveUp},
		{"timeout", "sessions that reached lock.acquire_timeout", c.Timeout},
		{"error", "sessions that ended with an error", c.Error},
		{"dropped", "arrivals that found the in-flight bound reached", c.Dropped},
		{"lost", "holders that learned that their lease was lost", c.Lost},
		{"stale_holds", "holders that worked on after the end of their lease", c.StaleHolds},
		{"overruns", "stale holds of which an overlap came", c.Overruns},
		{"violations", "overlaps of two holders, both inside their validity", c.Violations},
		{"mis_deletes", "releases that deleted somebody else's lock", c.MisDeletes},
		{"stale_writes", "writes of a stale holder that the resource accepted", c.StaleWrites},
		{"lost_updates", "writes that overwrote another holder's", c.LostUpdates},
		{"released", "releases of a lock that was still held", c.Released},
		{"expired", "releases that found the lock gone", c.Expired},
		{"stolen", "releases that found somebody else holding", c.Stolen},
		{"release_unknown", "releases without a reply", c.ReleaseUnknown},
		{"renewals", "renewals acknowledged", c.Renewals},
		{"renewals_failed", "renewals that failed", c.RenewalsFailed},
		{"orphan_keys", "lock keys nobody held after the drain", c.OrphanKeys},
		{"immortal_keys", "orphan keys without a TTL: dead locks", c.ImmortalKeys},
	}
}

// Plus is the sum.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		Scheduled: c.Scheduled + o.Scheduled, Acquired: c.Acquired + o.Acquired, Rejected: c.Rejected + o.Rejected,
		GaveUp: c.GaveUp + o.GaveUp, Timeout: c.Timeout + o.Timeout, Error: c.Error + o.Error,
		Dropped: c.Dropped + o.Dropped, Lost: c.Lost + o.Lost, StaleHolds: c.StaleHolds + o.StaleHolds,
		Overruns: c.Overruns + o.Overruns, Violations: c.Violations + o.Violations,
		MisDeletes: c.MisDeletes + o.MisDeletes, StaleWrites: c.StaleWrites + o.StaleWrites,
		LostUpdates: c.LostUpdates + o.LostUpdates, Released: c.Released + o.Released, Expired: c.Expired + o.Expired,
		Stolen: c.Stolen + o.Stolen, ReleaseUnknown: c.ReleaseUnknown + o.ReleaseUnknown,
		Renewals: c.Renewals + o.Renewals, RenewalsFailed: c.RenewalsFailed + o.RenewalsFailed,
		OrphanKeys: c.OrphanKeys + o.OrphanKeys, ImmortalKeys: c.ImmortalKeys + o.ImmortalKeys,
	}
}

// Of is the number of sessions with an outcome.
func (c Counts) Of(o Outcome) int64 {
	return [...]int64{c.Acquired, c.Rejected, c.GaveUp, c.Timeout, c.Error, c.Dropped}[o]
}
