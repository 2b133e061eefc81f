package main

import "time"

// inSets are weakenings of several locks at once.
var inSets = []mutant{{
	name: "several locks are asked for one after the other", promise: noHang, file: "internal/core/waiting/all.go",
	old: "fan.Together(func() { beginAll(bids[at:]) })", new: "beginAll(bids[at:])",
	pkg: waitPkg, check: "TestQuestionsAboutSeveralNamesGoTogether", says: "calls of node",
}, {
	name: "a split vote for several locks is not repeated", promise: noHang, file: "internal/core/waiting/all.go",
	old: "if r == nil || r.Kind != Contended || try == splitTries || ctx.Err() != nil {", new: "if true {",
	pkg: e2ePkg, check: "TestOneOfSeveralTriesForTheSameSetGetsIt", says: "0 of 10 clients got the set",
}, {
	name: "several locks are taken in the order in which they are named", promise: noHang, file: "lockall.go",
	old: "slices.Sort(names)", new: "_ = slices.Sort[[]string]",
	pkg: e2ePkg, check: "TestRandomSetsOfLocksNeitherDeadlockNorOverlap", args: "-test.short -holdfast.circle 20s", says: "waiting ended",
	within: 2 * time.Minute,
}, {
	name: "higher locks are kept while a lower one is waited for", promise: noHang, file: "lockall.go",
	old: "s.client.giveBackAll(overdue(), more, time.Time{})", new: "_, _ = more, time.Time{}",
	pkg: e2ePkg, check: "TestSeveralLocksComeInTheirTurn", says: `"c": held by .*waiting ended`,
}, {
	name: "a lower lock is waited for under a higher one", promise: noHang, file: "lockall.go",
	old: "if !shared && l.held.Name() > m.lock.Name() && l.end() == nil {", new: "if shared && false {",
	pkg: e2ePkg, check: "TestNestedCallersInOppositeOrdersEnd", says: "deadline exceeded",
}, {
	name: "a set goes on without one of its locks", promise: told, file: "leaseset.go",
	old: "own, cancel := l.ownContext(), s.cancel //", new: "own, cancel := l.ownContext(), func(error) {} //",
	pkg: e2ePkg, check: "TestTheLossOfOneLockEndsTheSet", says: "the set goes on without b",
}, {
	name: "a failed call for several locks keeps what it has", promise: nothing, file: "lockall.go",
	old: "s.abandon(ctx)", new: "_ = s.abandon",
	pkg: e2ePkg, check: "TestOneHeldLockOfSeveralLeavesTheOthersFree", says: "nothing of ours left",
}, {
	name: "several tries for many names ask for all of them at once", promise: noHang, file: "internal/core/waiting/all.go",
	old: "l.attemptAll(ctx, locks, ttl, nodescript.MostTogether)", new: "l.attemptAll(ctx, locks, ttl, max(len(locks), nodescript.MostTogether))",
	pkg: e2ePkg, check: "TestOneOfTheTriesForManyNamesGetsThem", says: "rounds nobody got the names",
}, {
	name: "a panic in OnWait keeps the other locks of a set", promise: nothing, file: "lockall.go",
	old: "if !done {", new: "if p := recover(); p != nil { panic(p) } else if !done {",
	pkg: e2ePkg, check: "TestAPanicInOnWaitGivesBackTheOtherLocks", says: `after the panic: .*"a": held`,
}, {
	name: "a loss is not noticed while other locks are waited for", promise: told, file: "lockall.go",
	old: "defer context.AfterFunc(s.inner, func() { cancel(context.Cause(s.inner)) })()", new: "",
	pkg: e2ePkg, check: "TestALossWhileOthersAreWaitedForEndsTheCall", says: "the call goes on without a",
}}
