package main

import (
	"github.com/lockbench/lockbench/topologies"
	"github.com/lockbench/lockbench/topologies/container"
	"github.com/lockbench/lockbench/topologies/embedded"
	"github.com/lockbench/lockbench/topologies/external"
	"github.com/lockbench/lockbench/topologies/process"
	"github.com/lockbench/lockbench/topologies/virtual"
)

// providers in the order in which auto tries them.
func providers() []topologies.Provider {
	return []topologies.Provider{
		external.Provider{}, container.Provider{Present: true}, process.Provider{}, container.Provider{}, embedded.Provider{},
		virtual.Provider{}, // never by auto: embedded comes first
	}
}
