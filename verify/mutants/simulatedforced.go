package main

// forcedInSimulation are weakenings of an operator's release that the simulation must find by itself.
var forcedInSimulation = []simulated{{
	name: "an operator's release leaves no tombstone", file: "internal/core/nodescript/call.go",
	old: `return release(l, owner, T, "0") }`, new: `return release(l, owner, 0, "0") }`,
}, {
	name: "an operator's release notes no owner", file: "internal/nodemodel/force.go",
	old: "v.hash[c.Args[0]] = max(nodescript.Micros(number(c.Args[1])), v.hash[c.Args[0]])", new: "_ = nodescript.Micros(number(c.Args[1]))",
}, {
	name: "a renewal does not look for an operator's release", file: "internal/nodemodel/lease.go",
	old: "if !here && old.there && !old.corrupt && n.endedFor(c, owner, T) {", new: "if false {",
}, {
	name: "a minority ends a lease for an operator", file: "admin/unlock.go",
	old: "if reached < quorum.Majority(len(said)) {", new: "if reached < quorum.Majority(1) {",
}, {
	name: "a reader's renewal does not look for an operator's release", file: "internal/nodemodel/shared.go",
	old: "case old.there && !here && n.endedFor(c, owner, T):", new: "case false:",
}, {
	name: "a late release after an operator's ends the next lease", file: "internal/nodemodel/release.go",
	old: "tomb == above && !n.forced(c, owner))", new: "tomb == above)",
}, {
	name: "a holder is not told that an operator took its lock away", file: "lost.go",
	old: "return a.Verdict == nodescript.Lost && a.Cause == nodescript.Forced", new: "return a.Verdict == nodescript.Lost && a.Foreign",
}, {
	name: "an operator ends the leases of all owners", file: "admin/unlock.go",
	old: "return h.Offered || len(o.Owners) > 0 && !slices.Contains(o.Owners, h.Owner)", new: "return h.Offered",
}, {
	name: "an operator's release of a slot leaves no tombstone", file: "internal/core/nodescript/slot.go",
	old: "return s.release(strconv.Itoa(slot), owner, T, true, false)", new: "return s.release(strconv.Itoa(slot), owner, 0, true, false)",
}, {
	name: "an operator's release on a minority ends a lease", file: "internal/core/quorum/renewal.go",
	old: "case nodescript.Lost:", new: "case nodescript.Lost: if ans.Cause == nodescript.Forced { r.forgot = r.n }",
}}
