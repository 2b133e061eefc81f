package main

// inSharing are weakenings of a client's readers, which share a lease, and of the downgrade.
var inSharing = []mutant{{
	name: "a reader joins past a call that waits", promise: order, file: "internal/core/waiting/share.go",
	old: "reader && l.byName[name] == nil && now < o.until", new: "reader && now < o.until",
	pkg: e2ePkg, check: "TestAReaderJoinsWhileNobodyWaits", says: "overtook a writer of its client",
}, {
	name: "readers join a lease as long as it lasts", promise: order, file: "internal/core/waiting/share.go",
	old: "l.byName[name] == nil && now < o.until", new: "l.byName[name] == nil",
	pkg: e2ePkg, check: "TestNobodyStarves", says: "starves among readers",
}, {
	name: "readers that wait do not join", promise: order, file: "internal/core/waiting/line.go",
	old: "	if o.share != nil {", new: "	if false {",
	pkg: e2ePkg, check: "TestReadersOfOneClientShareALease", says: "are two leases",
}, {
	name: "a reader becomes a writer", promise: exclusion, file: "handle.go",
	old: "	case l.shared && !shared:", new: "	case false:",
	pkg: e2ePkg, check: "TestAReaderCannotBecomeAWriter", says: "under a shared lease",
}, {
	name: "a writer beside readers under one lease", promise: exclusion, file: "handle.go",
	old: "return l.below == nil && l.readers == 0", new: "return l.below == nil",
	pkg: e2ePkg, check: "TestAReaderCannotBecomeAWriter", says: "a writer beside readers under one lease",
}, {
	name: "the first reader to unlock releases the lease", promise: exclusion, file: "handle.go",
	old: "last = h == f && f.ended && f.below == nil && f.readers == 0", new: "last = h == f && f.ended && f.below == nil",
	pkg: e2ePkg, check: "TestReadersOfOneClientShareALease", says: "already given back",
}, {
	name: "a reader's TTL does not count beside others", promise: outlives, file: "handle.go",
	old: "		ttl = max(ttl, t)", new: "		_ = t",
	pkg: e2ePkg, check: "TestSettingsOfJoinedReaders", says: "a reader has a TTL of 24 s|extend: lock .x.: no quorum",
}, {
	name: "a downgraded lease stays exclusive for its own client", promise: exclusion, file: "reader.go",
	old: "	l.shared = true", new: "",
	pkg: e2ePkg, check: "TestDowngrade", says: "under a downgraded lease",
}, {
	name: "a downgrade under another exclusive handle", promise: exclusion, file: "reader.go",
	old: "if h != l.handle && !h.ended && !h.shared {", new: "if false {",
	pkg: e2ePkg, check: "TestDowngradeUnderAnotherHandle", says: "under two exclusive handles",
}, {
	name: "a release during a downgrade leaves the exclusive lease", promise: nothing, file: "internal/core/renewal/giveback.go",
	old: "	case e.former != nil:", new: "	case false:",
	pkg: e2ePkg, check: "TestDowngradeWithoutAQuorum", says: "all nodes to be free",
}, {
	name: "a loss during a downgrade leaves the exclusive lease", promise: nothing, file: "internal/core/renewal/lease.go",
	old: "		e.sendOnly(e.former.releaseCall(), nil)", new: "",
	pkg: e2ePkg, check: "TestDowngradeWithoutAQuorum", says: "all nodes to be free",
}, {
	name: "a downgrade leaves the writer's lease on a node that missed it", promise: nothing, file: "internal/core/renewal/downgrade.go",
	old: "	e.sendOnly(f.releaseCall(), func(i int) bool { return yes>>i&1 == 0 })", new: "	_ = yes",
	pkg: e2ePkg, check: "TestANodeThatMissedADowngradeIsFreed", says: "all nodes to be free",
}, {
	name: "the answers to a renewal before a downgrade end the lease", promise: outlives, file: "internal/core/renewal/downgrade.go",
	old: "		return out == quorum.Won", new: "		return true",
	pkg: "internal/core/renewal", check: "TestOnlyTheLastRequestOfADowngradeWins", says: "an earlier renewal ended the lease",
}, {
	name: "an earlier request of a downgrade wins", promise: exclusion, file: "internal/core/renewal/downgrade.go",
	old: "	case f == nil || r.stamp != e.highest:", new: "	case f == nil:",
	pkg: "internal/core/renewal", check: "TestOnlyTheLastRequestOfADowngradeWins", says: "ended with an earlier request",
}, {
	name: "a late renewal brings back a reader that UnlockAt ended", promise: nothing, file: "internal/core/renewal/giveback.go",
	old: "		last = e.highest // other", new: "			last = e.Token() // other",
	pkg: "internal/core/renewal", check: "TestALateRenewalBringsBackNoReaderThatLeft", says: "a renewal that came after Leave",
}, {
	name: "a second downgrade does not wait for the first", promise: exclusion, file: "reader.go",
	old: "		err = l.held.AwaitDowngrade(ctx)", new: "		err = nil",
	pkg: e2ePkg, check: "TestASecondDowngradeWaitsForTheFirst", says: "downgrade 1 without a quorum: <nil>",
}, {
	name: "a second downgrade returns before the first one has begun", promise: exclusion, file: "reader.go",
	old: "	return l.held.Downgrade(nodescript.NewShared", new: "	return nil; return l.held.Downgrade(nodescript.NewShared",
	pkg: e2ePkg, check: "TestTwoDowngradesAtOnce", says: "the token is still that of the writer",
}, {
	name: "callers of Extend replace the requests of a downgrade", promise: outlives, file: "internal/core/renewal/downgrade.go",
	old: "if r.settled || e.keeper.fan.Now() >= r.sent.Add(e.againLocked(r.sent)) {", new: "if true {",
	pkg: virtualPkg, check: "TestExtendsDuringADowngradeOnFarNodes", says: "no quorum",
}, {
	name: "a downgrade makes answers void that are under way", promise: outlives, file: "internal/core/renewal/renew.go",
	old: "	if e.former != nil {", new: "	if false {",
	pkg: virtualPkg, check: "TestADowngradeOfAShortLeaseOnFarNodes", says: "its deadline passed",
}, {
	name: "a run whose watchdog ended the command may miss the loss", promise: told, file: "cmd/holdfast/internal/cli/run.go",
	old: "if over.Err() == nil && !time.Now().Before(deadline) {", new: "if false {",
	pkg: "cmd/holdfast/internal/cli", check: "TestACommandThatEndsAfterTheDeadlineHasLostItsLock", says: "not lost at its deadline",
}, {
	name: "a signal gives the lock of hold back although the program relies on it", promise: exclusion, file: "cmd/holdfast/internal/cli/hold.go",
	old: "case p.terminal: ", new: "case p != nil: ",
	pkg: "cmd/holdfast/internal/cli", check: "TestScripts/hold", says: "no match|context deadline exceeded|FAIL: testdata",
}, {
	name: "hold outlives its program as long as a forked process lives", promise: harmless, file: "cmd/holdfast/internal/cli/hold.go",
	old: "if p.orphaned() && over == nil {", new: "if false {",
	pkg: "cmd/holdfast/internal/cli", check: "TestScripts/hold", says: "exit code 75, want 0",
}, {
	name: "trust leaves out the locks of nodes with other settings", promise: exclusion, file: "cmd/holdfast/internal/cli/trustlocks.go",
	old: "admin.ListOptions{AsStored: true}", new: "admin.ListOptions{}",
	pkg: "cmd/holdfast/internal/cli", check: "TestScripts/trust-locks", says: "no match",
}, {
	name: "a run without --shared runs under a run with it", promise: exclusion, file: "cmd/holdfast/internal/cli/reenter.go",
	old: "h.Shared && !shared}, true", new: "false}, true",
	pkg: "cmd/holdfast/internal/cli", check: "TestScripts/shared", says: "want 75|exit code|no match",
}}
