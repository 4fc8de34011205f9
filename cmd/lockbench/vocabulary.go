package main

import (
	"slices"

	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/scenarios"
	"github.com/lockbench/lockbench/strategies"
	"github.com/lockbench/lockbench/strategies/retry"
	"github.com/lockbench/lockbench/topologies"
)

// notYet is why a name that is part of the format cannot be used in this build.
const notYet = "this version does not have it yet"

// vocabulary is everything that a scenario may name, from the catalogues of the packages that own it. What the format
// knows and this build lacks is there too, so that it is refused by name and not as a slip of the pen.
func vocabulary() scenarios.Vocabulary {
	return scenarios.Vocabulary{
		Strategies:    withPlanned(strategyNames(), plannedStrategies()),
		Retries:       withPlanned(retryNames(), []scenarios.Name{{Name: "notify", Doc: "waits for a hint of the lock, and polls as a safety net", Missing: notYet}}),
		Distributions: distributionNames(),
		Faults:        faultNames(),
		Metrics:       metricNames(),
		Shapes:        shapeNames(),
		Providers:     providerNames(),
		Sabotages:     sabotageNames(),
		CheckSetting: func(name, value string) error {
			return topologies.CheckConfig(map[string]string{name: value})
		},
		Features: []scenarios.Name{
			{Name: "processes", Doc: "more than one worker process", Missing: notYet},
			{Name: "network", Doc: "a delay of the network", Missing: notYet},
			{Name: "rueidis", Doc: "the client library rueidis", Missing: notYet},
			{Name: "multiplexed", Doc: "the client mode multiplexed", Missing: notYet},
			{Name: "postgres", Doc: "a resource in PostgreSQL", Missing: notYet},
			{Name: "until", Doc: "a number of trials that depends on the interval", Missing: notYet},
		},
	}
}

// withPlanned adds the names that are not there.
func withPlanned(names, planned []scenarios.Name) []scenarios.Name {
	for _, p := range planned {
		if !slices.ContainsFunc(names, func(n scenarios.Name) bool { return n.Name == p.Name }) {
			names = append(names, p)
		}
	}
	return names
}

func strategyNames() []scenarios.Name {
	var names []scenarios.Name
	for _, e := range strategies.Catalogue() {
		n := scenarios.Name{Name: e.Name, Doc: e.Doc, Needs: e.Needs, Excludes: e.Excludes, Expires: e.Expires, Renews: e.Renews, Native: e.Native}
		for _, o := range e.Options {
			n.Options = append(n.Options, scenarios.Option{Name: o.Name, Doc: o.Doc, Kind: string(o.Kind), Default: o.Default, Enum: o.Enum, Min: o.Min, Max: o.Max})
		}
		names = append(names, n)
	}
	return names
}

func plannedStrategies() []scenarios.Name {
	planned := []scenarios.Name{
		{Name: "reentrant", Needs: "single", Doc: "Redisson's protocol: hash, hold count, wake-up by pub/sub, watchdog"},
		{Name: "signal-list", Needs: "single", Doc: "hand-off by BLPOP"},
		{Name: "fair", Needs: "single", Doc: "FIFO by the server's order"},
		{Name: "fair-redisson", Needs: "single", Doc: "Redisson's fair lock"},
		{Name: "fenced", Needs: "single", Doc: "SET NX PX and INCR in one script; the resource checks the token"},
		{Name: "wait-replicas", Needs: "replicated", Doc: "SET NX PX, then WAIT"},
		{Name: "redsync", Needs: "independent", Doc: "the Go library redsync"},
		{Name: "redislock", Needs: "single", Doc: "the Go library redislock"},
		{Name: "rueidislock", Needs: "single", Doc: "the Go library rueidislock"},
		{Name: "etcd", Needs: "etcd", Doc: "lease and revision"},
		{Name: "zookeeper", Needs: "zookeeper", Doc: "ephemeral sequential nodes"},
		{Name: "postgres-row", Needs: "postgres", Doc: "unique row with a lease"},
		{Name: "postgres-advisory", Needs: "postgres", Doc: "advisory lock"},
	}
	for i := range planned {
		planned[i].Excludes, planned[i].Missing = "server", notYet
	}
	return planned
}

func retryNames() []scenarios.Name {
	var names []scenarios.Name
	for _, e := range retry.Catalogue() {
		n := scenarios.Name{Name: e.Name, Doc: e.Doc, Bare: e.Bare, Native: e.Mode == retry.Block}
		for _, o := range e.Options {
			n.Options = append(n.Options, scenarios.Option{Name: o.Name, Doc: o.Doc, Kind: o.Kind, Default: o.Default, Required: o.Required, Min: o.Min, Max: o.Max})
		}
		names = append(names, n)
	}
	return names
}

func distributionNames() []scenarios.Name {
	var names []scenarios.Name
	for _, e := range load.Distributions() {
		n := scenarios.Name{Name: e.Name, Doc: e.Doc, Bare: e.Bare}
		for _, o := range e.Options {
			n.Options = append(n.Options, scenarios.Option{Name: o.Name, Doc: o.Doc, Kind: o.Kind, Required: o.Required, Min: o.Min, Max: o.Max})
		}
		names = append(names, n)
	}
	return names
}

func sabotageNames() []scenarios.Name {
	var names []scenarios.Name
	for _, s := range strategies.Sabotages() {
		names = append(names, scenarios.Name{Name: s.Name, Doc: s.Doc, Applies: s.Applies})
	}
	return names
}

func metricNames() []scenarios.Metric {
	var names []scenarios.Metric
	for _, m := range results.AllMetrics() {
		names = append(names, scenarios.Metric{Name: m.Name, Doc: m.Doc, Unit: m.Unit})
	}
	return names
}

func faultNames() []scenarios.Name {
	faults := []scenarios.Name{
		{Name: "kill-holder", Doc: "a process that holds is killed"},
		{Name: "pause-holder", Doc: "a process that holds stops for a while"},
		{Name: "cancel-acquire", Doc: "an acquisition is cancelled"},
		{Name: "kill-node", Doc: "a server is killed and stays down"},
		{Name: "restart-node", Doc: "a server is killed and comes back empty"},
		{Name: "pause-node", Doc: "a server stops for a while"},
		{Name: "slow-node", Doc: "a server answers late"},
		{Name: "cut-node", Doc: "a server cannot be reached"},
		{Name: "drop-reply", Doc: "a command is executed, its reply lost"},
		{Name: "reset-connections", Doc: "connections to a server are reset"},
		{Name: "failover", Doc: "a replica becomes the master"},
		{Name: "clock-jump", Doc: "a server's clock jumps"},
		{Name: "flush-node", Doc: "a server loses all keys"},
		{Name: "evict", Doc: "a server evicts lock keys"},
		{Name: "script-flush", Doc: "a server forgets its scripts"},
		{Name: "client-pause", Doc: "a server holds all clients back"},
		{Name: "kill-pubsub", Doc: "connections of subscribers are closed"},
		{Name: "foreign-set", Doc: "a stranger overwrites the lock key"},
	}
	for i := range faults {
		faults[i].Missing = notYet
	}
	return faults
}

func shapeNames() []scenarios.Name {
	return []scenarios.Name{
		{Name: "single", Doc: "one server"},
		{Name: "independent", Doc: "N servers that share nothing (nodes: 5)"},
		{Name: "replicated", Doc: "a master with replicas", Missing: notYet},
		{Name: "sentinel", Doc: "a master with replicas, watched by sentinels", Missing: notYet},
		{Name: "cluster", Doc: "masters that share the slots", Missing: notYet},
		{Name: "etcd", Doc: "an etcd cluster", Missing: notYet},
		{Name: "zookeeper", Doc: "a ZooKeeper ensemble", Missing: notYet},
		{Name: "postgres", Doc: "a PostgreSQL server", Missing: notYet},
	}
}

func providerNames() []scenarios.Name {
	return []scenarios.Name{
		{Name: "auto", Doc: "the first that can: the address given, a container, a server on PATH, embedded"},
		{Name: "container", Doc: "containers of topology.image, on the host network where the system has one"},
		{Name: "process", Doc: "redis-server or valkey-server on PATH, in a temporary directory"},
		{Name: "embedded", Doc: "inside lockbench, needs nothing; not a performance figure"},
		{Name: "external", Doc: "servers of yours: topology.addresses or --address"},
		{Name: "virtual", Doc: "simulated servers in virtual time: predictions, in a fraction of the time"},
	}
}
