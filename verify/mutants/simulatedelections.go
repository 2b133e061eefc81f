package main

// electionsInSimulation are weakenings of elections and of values under a lock that the simulation must find by itself.
var electionsInSimulation = []simulated{{
	name: "a load does not bring the lease to the nodes that it needs", file: "internal/core/register/register.go",
	old: "if err == nil || !curable || bring > mostBring {", new: "if _ = curable; true {",
}, {
	name: "a load that a node got too late is not repeated", file: quorumPkg + "/register.go",
	old: "case nodescript.Lost, nodescript.OffClock:", new: "case nodescript.Lost:",
}, {
	name: "a leader resigns before its callback has returned", file: "election/tenure.go",
	old: "		t.cancel(ErrResigned)", new: "		t.cancel(ErrResigned); _ = t.lease.Unlock(ctx)",
}, {
	name: "a leader whose context ends gives up before its callback", file: "election/tenure.go",
	old: "ending.Work(ctx, lease.Context())", new: "ending.Work(ctx, lease.Context()); context.AfterFunc(ctx, func() { _ = lease.Unlock(context.Background()) })",
}, {
	name: "the context of a leader outlives its lease", file: "election/tenure.go",
	old: "ending.Work(ctx, lease.Context())", new: "ending.Work(ctx, context.WithoutCancel(lease.Context()))",
}, {
	name: "a value is shown in the term of another leader", file: "election/leader.go",
	old: "ok && term == l.Term {", new: "ok && term > 0 {",
}, {
	name: "a vacancy between two looks is not shown", file: "election/watcher.go",
	old: "if before != 0 && l.Term > before && !last.Vacant() {", new: "if before < 0 && l.Term > before && !last.Vacant() {",
}, {
	name: "an observer goes back to an earlier term", file: "election/watcher.go",
	old: "case l.Term != 0 && l.Term < w.highest:", new: "case false:",
	unseen: "a majority names an earlier term only after it lost its memory, and then it has no lease; TestNewsOfAnElection",
}, {
	name: "a load takes any value", file: quorumPkg + "/register.go",
	old: "if l.same = false; l.rank(v).Compare(l.rank(l.chosen)) > 0 {", new: "if l.same = false; false {",
}, {
	name: "a load does not write what it found", file: quorumPkg + "/register.go",
	old: "return l.loaded == l.n && l.same && l.chosen.Version.Token <= l.token", new: "return true",
}, {
	name: "a memory that is young counts as complete", file: quorumPkg + "/register.go",
	old: "if v.Whole {", new: "if true {",
}, {
	name: "a renewal undoes a store that had no result", file: "internal/core/register/register.go",
	old: "r.known, r.own, r.lacking = nil, false, r.everyone()", new: "r.lacking = r.everyone()",
}}
