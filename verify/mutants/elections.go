package main

// oneLeader is the promise of an election.
const oneLeader = "at most one leader of an election, and its callback is over before the next term"

// ofElections are weakenings of elections.
var ofElections = []mutant{{
	name: "a leader resigns before its callback has returned", promise: oneLeader, file: "election/tenure.go",
	old: "		t.cancel(ErrResigned)", new: "		t.cancel(ErrResigned); _ = t.lease.Unlock(ctx)",
	pkg: e2ePkg, check: "TestACallbackIsOverBeforeTheNextTerm/5_nodes,_Resign$", says: "began before the callback of term",
}, {
	name: "a leader whose context ends gives up before its callback", promise: oneLeader, file: "election/tenure.go",
	old: "ending.Work(ctx, lease.Context())", new: "ending.Work(ctx, lease.Context()); context.AfterFunc(ctx, func() { _ = lease.Unlock(context.Background()) })",
	pkg: e2ePkg, check: "TestACallbackIsOverBeforeTheNextTerm/5_nodes,_ctx_ends", says: "began before the callback of term",
}, {
	name: "the context of a leader outlives its lease", promise: oneLeader, file: "election/tenure.go",
	old: "ending.Work(ctx, lease.Context())", new: "ending.Work(ctx, context.WithoutCancel(lease.Context()))",
	pkg: e2ePkg, check: "TestALostLeadershipEndsBeforeTheNextTerm", says: "before the context of the lost one had ended",
}, {
	name: "a candidate that resigned campaigns at once", promise: oneLeader, file: "election/election.go",
	old: "		pause = e.pause", new: "		pause = 0",
	pkg: e2ePkg, check: "TestACandidatePausesAfterItResigned", says: "want a pause of",
}, {
	name: "a value is shown in the term of another leader", promise: oneLeader, file: "election/leader.go",
	old: "ok && term == l.Term {", new: "ok && term > 0 {",
	pkg: e2ePkg, check: "TestObserversSeeTheLeader", says: "is shown with the value",
}, {
	name: "each observer asks by itself", promise: oneLeader, file: "election/watcher.go",
	old: "	w := all.byName[e.Name()]", new: "	w := all.byName[\"\"]",
	pkg: e2ePkg, check: "TestObserversSeeTheLeader", says: "50 observers and 4 calls of Leader made",
}, {
	name: "an observer goes back to an earlier term", promise: oneLeader, file: "election/watcher.go",
	old: "case l.Term != 0 && l.Term < w.highest:", new: "case false:",
	pkg: "election", check: "TestNewsOfAnElection", says: "a term goes back: the observers heard",
}, {
	name: "a vacancy between two looks is not shown", promise: oneLeader, file: "election/watcher.go",
	old: "if before != 0 && l.Term > before && !last.Vacant() {", new: "if before < 0 && l.Term > before && !last.Vacant() {",
	pkg: "election", check: "TestNewsOfAnElection", says: "a vacancy that no look has seen: the observers heard",
}}
