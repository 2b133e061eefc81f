package main

// stampsAreRight says why the simulation does not find a lease that counts for too long after a late renewal.
const stampsAreRight = "stamps are wrong by 1.5 W at most in the simulation; models/clock finds it, with stamps 3 W wrong"

// lateInSimulation are weakenings that the late and the busy worlds of the simulation are for.
var lateInSimulation = []simulated{{
	name: "a late yes counts as long as one in time", file: "internal/core/renewal/renew.go",
	old: "at = at.Add(-r.excess[i])", new: "at = at.Add(0 * r.excess[i])",
	unseen: stampsAreRight,
}, {
	name: "the node that counts longest decides the deadline", file: "internal/core/fanout/site.go",
	old: "return until[len(until)-need]", new: "return until[len(until)-min(need, 1)]",
	unseen: stampsAreRight,
}, {
	name: "a node refuses a late renewal", file: "internal/nodemodel/lease.go",
	old: "old := stamp < now-w", new: "old := stamp < now-w && w < 0",
}, {
	name: "a renewal waits for the node timeout only", file: "internal/core/renewal/renew.go",
	old: "m.Until = r.full()", new: "_ = r.full()",
}, {
	name: "late answers make the client refuse later renewals", file: "internal/core/fanout/limit.go",
	old: "s.voter.overdue(l.sent)", new: "s.voter.broke(context.DeadlineExceeded)",
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
