package main

// lateInSimulation are weakenings that the late and the busy worlds of the simulation are for.
var lateInSimulation = []simulated{{
	name: "a late yes counts as long as one in time", file: "internal/core/renewal/renew.go",
	old: "at = at.Add(-r.excess[i])", new: "at = at.Add(0 * r.excess[i])",
}, {
	name: "the node that counts longest decides the deadline", file: "internal/core/fanout/site.go",
	old: "return until[len(until)-need]", new: "return until[len(until)-min(need, 1)]",
}, {
	name: "a node refuses a late renewal", file: "internal/check/nodemodel/lease.go",
	old: "old := stamp < now-w", new: "old := stamp < now-w && w < 0",
}, {
	name: "a renewal waits for the node timeout only", file: "internal/core/renewal/renew.go",
	old: "m.Until = e.deadline // a caller", new: "_ = e.deadline // a caller",
}, {
	name: "a better yes after a majority does not count", file: "internal/core/quorum/renewal.go",
	old: "out == Won && r.told == Won && r.Excess() < r.counted", new: "false",
}, {
	name: "Err of a lease's context waits for the timer", file: "internal/core/ending/checked.go",
	old: "return c.Ender.Err()", new: "return nil",
}, {
	name: "a stamp is drawn for a lease that has ended", file: "internal/core/renewal/renew.go",
	old: "if r.lease.end != nil {", new: "if false {",
}}
