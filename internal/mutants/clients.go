package main

// inClients are weakenings of what a client makes of the answers.
var inClients = []mutant{{
	name: "a quorum of N/2", promise: exclusion, file: "internal/quorum/rules.go",
	old: "return n/2 + 1", new: "return max(n/2, 1)",
	pkg: rootPkg, check: "TestAcquiredExactlyWhenAMajorityIsFree/taken_by_a_foreign_key.*", says: `acquired with 2 free nodes`,
}, {
	name: "expiry without a margin: validity without 4 W", promise: told, file: "internal/quorum/rules.go",
	old: "return ttl - 4*window - ttl/100 - 2*time.Millisecond", new: "return ttl - ttl/100 - 2*time.Millisecond",
	pkg: rootPkg, check: "TestALossIsAnnouncedBeforeAnotherCanAcquire", args: "-holdfast.loss 1600", says: "acquired by another while the holder believed",
}, {
	name: "validity counted from the answers", promise: told, file: "internal/waiting/grant.go",
	old: "deadline := quorum.Deadline(b.sent,", new: "deadline := quorum.Deadline(b.fan.Now(),",
	pkg: rootPkg, check: "TestBeliefCountsFromTheInstantOfSending", says: `with answers \S+ late`,
}, {
	name: "a minority moves the deadline", promise: told, file: "internal/quorum/renewal.go",
	old: "case r.yes >= need:", new: "case r.yes >= need-1:",
	pkg: rootPkg, check: "TestLossIsAnnouncedWhileRenewalHangs", says: "although two of five nodes answer", hangs: true,
}, {
	name: "a logger is called by who holds a lock", promise: told, file: "client.go",
	old: "c.Logger = slog.New(aside.Handler(c.Logger.Handler(), log))", new: "_ = slog.New(aside.Handler(c.Logger.Handler(), log))",
	pkg: rootPkg, check: "TestALoggerThatBlocksDoesNotKeepALeaseFromItsRenewals", says: "two more TTLs of the lease",
}, {
	name: "a lease that a majority forgot is kept", promise: told, file: "internal/quorum/renewal.go",
	old: "case r.forgot >= need:", new: "case r.forgot > r.n:",
	pkg: rootPkg, check: "TestAStolenLockIsLostWithinOneRenewalAndTheThiefIsLeftAlone", says: "not told within",
}, {
	name: "grants of different stamps counted together", promise: tokens, file: "internal/quorum/attempt.go",
	old: "if round != a.round {", new: "if round > a.round {",
	pkg: quorumPkg, check: "TestGrantsOfAnEarlierStampDoNotCount", says: "was counted",
}, {
	name: "one owner for all attempts of a client", promise: exclusion, file: "client.go",
	old: "return nodescript.NewOwner(c.Label, id, ticket, random(here.Random, b[:]))", new: "return nodescript.NewOwner(c.Label, id, 0, b[:])",
	pkg: rootPkg, check: "TestAClientExcludesItself", says: "the lock that this very client has",
}, {
	name: "a jump of the majority's clocks is adopted at once", promise: exclusion, file: "internal/quorum/timebase.go",
	old: "case !t.known, t.idle(now):", new: "case !t.known, t.idle(now), now != 0:",
	pkg: quorumPkg, check: "TestAMoveBeyondTheWindowIsAdoptedAfterMaxTTL", says: "right after the move",
}, {
	name: "a token that a node has seen is not followed", promise: order, file: "internal/waiting/bid.go",
	old: "b.fan.Raise(ans.Seen)", new: "_ = ans.Seen",
	pkg: rootPkg, check: "TestATokenAheadOfTheClockIsFollowed", says: "ahead, inside the window",
}, {
	name: "late grants are not released", promise: nothing, file: "internal/waiting/grant.go",
	old: "\tb.release(where)", new: "\t_ = where",
	pkg: rootPkg, check: "TestAnAttemptThatIsGivenUpLeavesNothing/rueidis", says: "nothing of ours left",
}, {
	name: "a release to those that granted only", promise: nothing, file: "internal/quorum/attempt.go",
	old: "return a.Kept(node) || a.Pending(node)", new: "return a.Kept(node)",
	pkg: rootPkg, check: "TestAnAttemptThatIsGivenUpLeavesNothing/rueidis", says: "nothing of ours left",
}, {
	name: "a release that did not get through is not repeated", promise: nothing, file: "internal/fanout/seat.go",
	old: "if m.Persist != 0 && undelivered(a) && s.fan.Now() < m.Persist {", new: "if false {",
	pkg: rootPkg, check: "TestAReleaseThatWasCutOffIsRepeated", says: "nothing of ours left",
}, {
	name: "a renewal counts for a TTL that the nodes were not asked for", promise: told, file: "internal/renewal/renew.go",
	old: "quorum.Deadline(r.sent, r.ttl,", new: "quorum.Deadline(r.sent, e.ttl,",
	pkg: "internal/renewal", check: "TestARenewalCountsForTheTTLThatItAskedFor", says: "the nodes were asked for",
}, {
	name: "a question whose answer was lost keeps its place over an outage", promise: order, file: "internal/waiting/bid.go",
	old: "if joined || b.ticket != 0 && ans.MayHaveRun() {", new: "if joined {",
	pkg: waitPkg, check: "TestAnOutageLeavesNoPlaceInAQueue", says: "who waits no more stands in the queue",
}, {
	name: "only the first of several calls finds that keys were evicted", promise: memory, file: lua + "acquire.lua",
	old: "if evicted then return 'N' end", new: "if evicted then evicted = false return 'N' end",
	pkg: modelPkg, check: "TestNoneOfSeveralCallsIsGrantedAfterAnEviction", says: "the server and the model differ",
}, {
	name: "a bid that is over keeps its places over an outage", promise: order, file: "internal/waiting/grant.go",
	old: "send(max(until, b.fan.Now().Add(nodescript.QueueKept)), in(true))", new: "send(until, in(true))",
	pkg: waitPkg, check: "TestAnOutageLeavesNoPlaceInAQueue", says: "who waits no more stands in the queue",
}, {
	name: "what Leave does not find when it is repeated stays", promise: nothing, file: "internal/fanout/parked.go",
	old: "To: m.Again, Again: m.Again, Tag: m.Tag", new: "Tag: m.Tag",
	pkg: "internal/renewal", check: "TestWhatLeaveDoesNotFindIsReleased", says: "a second later it keeps it",
}, {
	name: "a minority is given back to a lease that is about to end", promise: order, file: "internal/waiting/part.go",
	old: "!ends && b.before", new: "(!ends || ends) && b.before",
	pkg: waitPkg, check: "TestALeaseThatEndsNodeByNodeCostsNoPlaceInLine", says: "served in the order",
}, {
	name: "who has a minority asks every second", promise: noHang, file: "internal/waiting/turn.go",
	old: "pause = min(b.partPause(), pause)", new: "_ = b",
	pkg: waitPkg, check: "TestAMinorityIsGivenBackSoonToAnOlderOneWhoCameLater", says: "what an older one waits for",
}, {
	name: "who has a part asks again before that has answered", promise: noHang, file: "internal/waiting/bid.go",
	old: "if b.state != open && !owed || !b.whole {", new: "if _ = owed; b.state != open || !b.whole {",
	pkg: waitPkg, check: "TestAPartWhoseGrantsComeLateIsGivenBack", says: "nobody had it for",
}, {
	name: "a subscription has as long as its driver gives it", promise: noHang, file: "internal/fanout/inbox.go",
	old: "late := time.AfterFunc(patience, cancel)", new: "late := time.AfterFunc(time.Hour, cancel)",
	pkg: "internal/fanout", check: "TestASubscriptionThatDoesNotStandIsMadeAgain", says: "tries it does not stand",
}, {
	name: "a grant that was followed by another is given back", promise: noHang, file: "internal/waiting/part.go",
	old: "b.part & b.which(b.votes.Granted)", new: "b.part",
	pkg: waitPkg, check: "TestWhatWasGivenBackIsNoPart", says: "stands as a part",
}, {
	name: "two with the same ticket are both the older", promise: noHang, file: "internal/waiting/part.go",
	old: "if ok && ticket == b.ticket {", new: "if ok && false {",
	pkg: waitPkg, check: "TestTwoWithTheSameTicketDoNotBothKeepAPart", says: "1m0s later",
}, {
	name: "the clocks are not read again while a move settles", promise: noHang, file: "internal/fanout/clocks.go",
	old: "f.readSoon() // they may be right again", new: "",
	pkg: "internal/fanout", check: "TestClocksThatAreRightAgainAreNoticedWhileAMoveSettles", says: "the clock is right again",
}, {
	name: "an answer that took long says as much of a clock as a quick one", promise: noHang, file: "internal/quorum/timebase.go",
	old: "if s.known && within < n.within", new: "if s.known && false && within < n.within",
	pkg: "internal/quorum", check: "TestAnAnswerThatTookLongMovesNoClockThatIsKnownBetter", says: "misread by all that it may be",
}, {
	name: "an idle client does not read the clocks", promise: noHang, file: "internal/fanout/clocks.go",
	old: "f.reader = time.AfterFunc(min(lookEvery, f.time.Unread(f.Now())), f.keepTime)", new: "",
	pkg: "internal/fanout", check: "TestAnIdleClientGoesWithTheClocks", says: "in which nothing was locked",
}, {
	name: "what comes after Close gave up waiting is kept", promise: told, file: "internal/renewal/keeper.go",
	old: "if k.closed {", new: "if false {",
	pkg: rootPkg, check: "TestALockThatComesAfterCloseGaveUpWaitingIsNobodys", says: "whose context has not ended",
}, {
	name: "what was given up is freed in the first half of its TTL only", promise: nothing, file: "internal/waiting/grant.go",
	old: "until := b.sent.Add(b.ttl + b.fan.Set().Window)", new: "until := b.sent.Add(b.ttl / 2)",
	pkg: waitPkg, check: "TestWhatWasGivenUpIsFreedAlsoLateInItsTTL", says: "before the TTL is over",
}, {
	name: "a late answer leaves who has the lock in line for it", promise: order, file: "internal/waiting/bid.go",
	old: "\t\t\tb.quit(node)", new: "\t\t\t_ = node",
	pkg: waitPkg, check: "TestALateAnswerLeavesNobodyInLineForWhatItHas", says: "in line for its own lock",
}, {
	name: "who won leaves a queue only if the node takes it at once", promise: order, file: "internal/waiting/grant.go",
	old: "Persist: b.fan.Now().Add(nodescript.QueueKept)", new: "SendBy: b.fan.Now().Add(b.fan.Timeout())",
	pkg: waitPkg, check: "TestWhoWonLeavesAlsoTheQueueOfANodeThatIsAway", says: "is still in line",
}, {
	name: "a question that was never sent may have run", promise: outlives, file: "internal/quorum/standing.go",
	old: "a.Err = node.NotSent(a.Err)", new: "_ = node.NotSent(a.Err)",
	pkg: waitPkg, check: "TestWhoWonOwesNothingToANodeThatWasNotAsked", says: "locks were got",
}, {
	name: "who won leaves no queue that took its last question", promise: order, file: "internal/waiting/bid.go",
	old: "case b.taken && b.stands.has(node) && ans.Verdict != nodescript.Granted:", new: "case b.taken && (joined || ans.MayHaveRun()):",
	pkg: waitPkg, check: "TestNobodyStaysInLineWhateverNodesDo", says: "in line",
}, {
	name: "a node that answered nothing in time is not met anew", promise: exclusion, file: "internal/fanout/seat.go",
	old: "return err != nil", new: "return err != nil && !node.Timeout(err)",
	pkg: "internal/fanout", check: "TestANodeThatFailedIsGreetedBeforeItIsAskedAgain", says: "want it greeted",
}, {
	name: "the next question ends the one before", promise: noHang, file: "internal/waiting/bid.go",
	old: "if b.state != open && !owed || !b.whole {", new: "if true || owed {",
	pkg: waitPkg, check: "TestTheNextQuestionWaitsForTheOneBefore", says: "it was not got",
}, {
	name: "who won leaves no queue whose answer was lost", promise: order, file: "internal/waiting/bid.go",
	old: "case b.taken && b.stands.has(node) && ans.Verdict != nodescript.Granted:", new: "case joined:",
	pkg: waitPkg, check: "TestWhoWonLeavesAlsoTheQueueOfANodeThatIsAway", says: "is still in line",
}, {
	name: "a bid that came after its turn is passed nothing", promise: order, file: "internal/waiting/line.go",
	old: "\t\tl.byName[name].first = b", new: "\t\t_ = b",
	pkg: waitPkg, check: "TestWhoEntersTheLineWithoutABidIsPassedTheLockWhenItHasOne", says: "was not passed",
}, {
	name: "who was at work within half of MaxTTL + W only waits", promise: exclusion, file: "internal/quorum/timebase.go",
	old: "now.Sub(t.lastDrawn) >= t.settle", new: "now.Sub(t.lastDrawn) >= t.settle/2",
	pkg: quorumPkg, check: "TestAClientThatWasAtWorkDoesNotFollowAtOnce", says: "follows a leap at once",
}, {
	name: "a waiter does not ask again", promise: order, file: "internal/waiting/turn.go",
	old: "\t\t\tb.askAgain()", new: "\t\t\t_ = b",
	pkg: rootPkg, check: "TestADeadHoldersLockGoesToTheFirstInLine", says: "it did not ask", hangs: true,
}, {
	name: "a waiter does not hear of a hand-off", promise: order, file: "internal/waiting/inbox.go",
	old: "\t\tt.handed(node)", new: "\t\t_ = node",
	pkg: rootPkg, check: "TestAReleaseWakesTheFirstInLineAtOnce", says: "nobody was woken",
}, {
	name: "who is not expected yet stands in queues, and declines its turn", promise: order, file: "internal/waiting/inbox.go",
	old: "return b.up[node] && b.bids[owner] != nil", new: "return b.up[node]",
	pkg: waitPkg, check: "TestWhoIsNotExpectedStandsInNoQueue", says: "would decline",
}, {
	name: "a hand-off to a bid that is over is not declined", promise: order, file: "internal/waiting/decline.go",
	old: "b.fan.SendTo(k.node, &fanout.Message{Call: nodescript.DeclineCall(k.of.Lock, k.of.Owner), SendBy: b.fan.Now().Add(nodescript.Claim)})", new: "_ = fanout.Message{}",
	pkg: rootPkg, check: "TestHandOffsToBidsThatAreOverCostNoClaim", says: "each cost a claim",
}, {
	name: "what is handed over between two bids is never answered", promise: order, file: "internal/waiting/inbox.go",
	old: "all := b.past.keptOf(t.ticket)", new: "var all []kept",
	pkg: waitPkg, check: "TestWhatIsHandedBetweenTwoBidsIsDeclinedByTheNext", says: "the node was told",
}, {
	name: "a renewal counts after the old deadline", promise: told, file: "internal/renewal/renew.go",
	old: "e.checkLocked() // a majority counts only inside the old deadline", new: "",
	pkg: "internal/renewal", check: "TestAMajorityAfterTheDeadlineRevivesNoLease", says: "came back to life",
}, {
	name: "who only renews is idle, and follows a jump at once", promise: exclusion, file: "internal/quorum/timebase.go",
	old: "t.everDrawn, t.lastDrawn = true, now // who renews is not idle", new: "",
	pkg: quorumPkg, check: "TestAClientThatOnlyRenewsWaitsBeforeItFollows", says: "follows a leap at once",
}, {
	name: "the loss is announced by the next renewal: no timer", promise: told, file: "internal/renewal/lease.go",
	old: "e.timer = time.AfterFunc(e.deadline.Sub(e.keeper.fan.Now()), e.check)", new: "e.timer = time.AfterFunc(time.Hour, e.check)",
	pkg: "internal/renewal", check: "TestALossBetweenTwoRenewalsIsAnnouncedAtTheDeadline", says: "the lease ended after",
}, {
	name: "a suspended host's leases are looked at when they are due", promise: told, file: "internal/renewal/keeper.go",
	old: "pause = max(min(k.heap[0].due.Sub(now), watchEvery), 0)", new: "pause = max(k.heap[0].due.Sub(now), 0)",
	pkg: "internal/renewal", check: "TestALeaseThatRanOutWhileTheHostWasSuspendedEndsWhenItWakes", says: "the loss was noticed",
}, {
	name: "a clock that stops while the host is suspended", promise: told, file: "internal/clock/steady_linux.go",
	old: "return m + Instant(s.suspended.Load())", new: "return m",
	pkg: "internal/clock", check: "TestSteadyNoticesASuspension", says: "after an hour of suspension",
}}
