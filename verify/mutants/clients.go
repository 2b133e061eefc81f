package main

// inClients are weakenings of the client's reaction to answers.
var inClients = []mutant{{
	name: "status counts a node that may have forgotten", promise: memory, file: "verdict/judge.go",
	old: "if n.Err != nil || n.Unsure {", new: "if n.Err != nil {",
	pkg: e2ePkg, check: "TestStatusTakesNoForgetfulNodeForFreedom", says: "want ErrUnavailable",
}, {
	name: "rueidisnode loads scripts behind a refusal", promise: memory, file: rueidis + "/call.go",
	old: "if answer.Err != nil || len(load) == 0 {", new: "if len(load) == 0 {",
	pkg: e2ePkg, check: "TestScriptsOfTheIncarnationBeforeAreNotLoadedWhereANodeLoads", says: "scripts were sent behind a request that was refused",
}, {
	name: "goredisnode loads scripts behind a refusal", promise: memory, file: goRedis + "/call.go",
	old: "if answer.Err != nil {", new: "if false {",
	pkg: goRedis, check: "TestConformance/EvalLoadsNothingAfterAnError", says: "what was to be loaded behind it answers",
}, {
	name: "goredisnode loads scripts over another connection", promise: memory, file: goRedis + "/call.go",
	old: "range n.pipe(ctx, within, conn, commands[1:])", new: "range n.pipe(ctx, within, n.client, commands[1:])",
	pkg: goRedis, check: "TestConformance/EvalLoadsWhereItWasAnswered", says: "over another connection than the answer came from",
}, {
	name: "rueidis cuts a call that may take longer", promise: outlives, file: rueidis + "/wire.go",
	old: "if !w.until.IsZero() {", new: "if !w.until.IsZero() && w.until.Before(t) {",
	pkg: e2ePkg, check: "TestNodeTimeoutIsWhatWasSet/rueidis", says: "NodeTimeout is 12 s",
}, {
	name: "go-redis cuts a call that may take longer", promise: outlives, file: goRedis + "/node.go",
	old: "o.ReadTimeout, o.WriteTimeout = -1, -1", new: "o.ReadTimeout, o.WriteTimeout = ioTimeout, ioTimeout",
	pkg: e2ePkg, check: "TestNodeTimeoutIsWhatWasSet/go-redis", says: "NodeTimeout is 12 s",
}, {
	name: "what clocks may part by piles up over MaxTTL", promise: exclusion, file: "internal/core/quorum/timebase.go",
	old: "most = min(now.Sub(t.slidAt), 2*t.readEvery).Microseconds() / slewing", new: "most = now.Sub(t.anchorAt).Microseconds() / slewing",
	pkg: quorumPkg, check: "TestALeapIsAMoveHoweverLongTheClocksWereRight", says: "want that it is waited for",
}, {
	name: "a node that refuses ends the wait for the quarantine of the others", promise: noHang, file: "internal/core/waiting/wait.go",
	old: "w.recall(r).VotesIn(w.fan.Votes)", new: "r.VotesIn(w.fan.Votes)",
	pkg: waitPkg, check: "TestAQuarantineIsWaitedForBesideANodeThatRefuses", says: "want the lock, after the quarantine",
}, {
	name: "a quorum of N/2", promise: exclusion, file: "internal/core/quorum/validity.go",
	old: "return n/2 + 1", new: "return max(n/2, 1)",
	pkg: e2ePkg, check: "TestAcquiredExactlyWhenAMajorityIsFree/taken_by_a_foreign_key.*", says: `acquired with 2 free nodes`,
}, {
	name: "expiry without a margin: validity without 4 W", promise: told, file: "internal/core/quorum/validity.go",
	old: "return ttl - 4*window - ttl/100 - 2*time.Millisecond", new: "return ttl - ttl/100 - 2*time.Millisecond",
	pkg: e2ePkg, check: "TestALossIsAnnouncedBeforeAnotherCanAcquire", args: "-holdfast.loss 1600", says: "acquired by another while the holder believed",
}, {
	name: "validity counted from the answers", promise: told, file: "internal/core/bid/lease.go",
	old: "deadline := quorum.Deadline(m.sent,", new: "deadline := quorum.Deadline(now,",
	pkg: e2ePkg, check: "TestBeliefCountsFromTheInstantOfSending", says: `with answers \S+ late`,
}, {
	name: "a minority moves the deadline", promise: told, file: "internal/core/quorum/renewal.go",
	old: "case r.yes >= need:", new: "case r.yes >= need-1:",
	pkg: "internal/core/quorum", check: "TestRenewalOutcomes", says: "outcomes .*; want",
}, {
	name: "a logger is called by who holds a lock", promise: told, file: "client.go",
	old: "c.Logger = slog.New(async.Handler(c.Logger.Handler(), log))", new: "_ = slog.New(async.Handler(c.Logger.Handler(), log))",
	pkg: e2ePkg, check: "TestALossIsAnnouncedAlthoughTheLoggerBlocks", says: "Close waits for the logger for ever",
}, {
	name: "a lease that a majority forgot is kept", promise: told, file: "internal/core/quorum/renewal.go",
	old: "return r.forgot >= Majority(r.n)", new: "return r.forgot > r.n",
	pkg: e2ePkg, check: "TestAStolenLockIsLostWithinOneRenewalAndTheThiefIsLeftAlone", says: "not told within",
}, {
	name: "grants of different stamps counted together", promise: tokens, file: "internal/core/quorum/attempt.go",
	old: "if round != a.round {", new: "if round > a.round {",
	pkg: quorumPkg, check: "TestGrantsOfAnEarlierStampDoNotCount", says: "was counted",
}, {
	name: "one owner for all attempts of a client", promise: exclusion, file: "sets.go",
	old: "return nodescript.NewOwner(c.config.Label, client, ticket, random(of.here.Random, b[:]))", new: "return nodescript.NewOwner(c.config.Label, client, 0, b[:])",
	pkg: e2ePkg, check: "TestAClientExcludesItself", says: "the lock that this very client has",
}, {
	name: "a jump of the majority's clocks is adopted at once", promise: exclusion, file: "internal/core/quorum/timebase.go",
	old: "case !t.known, t.idle(now):", new: "case !t.known, t.idle(now), now != 0:",
	pkg: quorumPkg, check: "TestAMoveBeyondTheWindowIsAdoptedAfterMaxTTL", says: "right after the move",
}, {
	name: "a claim that ends before its acquire can come", promise: order, file: "internal/core/nodescript/config.go",
	old: "return max(Claim, (2*c.Window + c.Window/2).Round(time.Millisecond))", new: "return Claim",
	pkg: waitPkg, check: "TestAClaimLastsForARoundTrip", says: "to serve",
}, {
	name: "an answer under way is a vote for another", promise: order, file: "internal/core/bid/refusal.go",
	old: "r.Kind, r.Doubt = Held, most+unknown-unanswered < need", new: "r.Kind = Held",
	pkg: waitPkg, check: "TestAnAnswerUnderWayIsNoVoteForAnother", says: "nobody got it",
}, {
	name: "a waiter keeps a part that a holder wants", promise: told, file: "internal/core/waiting/inbox.go",
	old: "t.wanted(node, h.Seen)", new: "_ = t.wanted",
	pkg: waitPkg, check: "TestAPartIsGivenBackToAHolderThatWantsItsNode", says: "the lease was not repaired",
}, {
	name: "a late answer to a waiter releases the lease that was passed to it", promise: exclusion, file: "internal/core/bid/answer.go",
	old: "m.emit(Action{Do: Abort, To: One(node), Owner: m.Owner, Slot: m.slotNow(), At: now.Add(nodescript.QueueKept)})", new: "m.release(One(node), now)",
	pkg: e2ePkg, check: "TestALateAnswerToAWaiterDoesNotFreeANameThatUnlockAtKeeps", says: "never in danger|before its instant",
}, {
	name: "a hand-off to a lease is declined", promise: told, file: "internal/core/waiting/inbox.go",
	old: "if t == nil && b.Repair != nil && b.Repair(h.Owner) {", new: "if false {",
	pkg: "verify/sim", check: "TestALeaseBehindWhichManyWaitIsRepaired", says: "lost name0 at its deadline",
}, {
	name: "a token that a node has seen is not followed", promise: order, file: "internal/core/bid/answer.go",
	old: "m.emit(Action{Do: Raise, Stamp: ans.Seen})", new: "_ = ans.Seen",
	pkg: e2ePkg, check: "TestATokenAheadOfTheClockIsFollowed", says: "ahead, inside the window",
}, {
	name: "late grants are not released", promise: nothing, file: "internal/core/bid/lease.go",
	old: "\tm.release(to, now)", new: "\t_ = to",
	pkg: e2ePkg, check: "TestAnAttemptThatIsGivenUpLeavesNothing/rueidis", says: "nothing of ours left",
}, {
	name: "a release to those that granted only", promise: nothing, file: "internal/core/quorum/attempt.go",
	old: "return a.Kept(node) || a.Pending(node)", new: "return a.Kept(node)",
	pkg: e2ePkg, check: "TestAnAttemptThatIsGivenUpLeavesNothing/rueidis", says: "nothing of ours left",
}, {
	name: "a release that did not get through is not repeated", promise: nothing, file: "internal/core/fanout/worker.go",
	old: "if m.Persist != 0 && undelivered(a) && s.fan.Now() < m.Persist {", new: "if false {",
	pkg: e2ePkg, check: "TestAReleaseThatWasCutOffIsRepeated", says: "nothing of ours left",
}, {
	name: "a release that its caller cut off is not repeated", promise: nothing, file: "internal/core/fanout/carry.go",
	old: "\tif m.Persist != 0 {", new: "\tif false {",
	pkg: fanPkg, check: "TestTheEndOfItsContextEndsACallersWaitDuringItsCall", says: "the release was not repeated",
}, {
	name: "a caller carries the messages of others", promise: noHang, file: "internal/core/fanout/carry.go",
	old: "func(m *Message) bool { return m.To != to })", new: "func(m *Message) bool { return false })",
	pkg: fanPkg, check: "TestACallerCarriesOnlyItsOwnMessages", says: "answers:",
}, {
	name: "a lone caller waits for its call although it has the lock", promise: noHang, file: "internal/core/waiting/bidder.go",
	old: "b.fan.Interrupt(b)", new: "_ = b.fan",
	pkg: e2ePkg, check: "TestALockThatComesDuringACarriedQuestionIsTakenAtOnce", says: "no quorum|want",
}, {
	name: "a callback that resigns waits for the one around it", promise: noHang, file: "election/tenure.go",
	old: "if caller.within(t) {", new: "if caller == t {",
	pkg: e2ePkg, check: "TestACallbackResignsFromAnElectionAroundIt", says: "the leader has resigned|waits for its own caller",
}, {
	name: "a later question has the ticket as its stamp", promise: order, file: "internal/core/waiting/bidder.go",
	old: "b.machine.Stamp() == 0 && ", new: "",
	pkg: "internal/core/waiting", check: "TestLaterStampsAreHigherThanTheTicket", says: "a_question_in",
}, {
	name: "an old ticket is a stamp", promise: order, file: "internal/core/waiting/bidder.go",
	old: "now.Sub(drawn) <= fresh", new: "now.Sub(drawn) <= 100*fresh",
	pkg: "internal/core/waiting", check: "TestLaterStampsAreHigherThanTheTicket", says: "a_pause",
}, {
	name: "a waiter asks with a ticket below its process's lease", promise: order, file: "internal/core/waiting/wait.go",
	old: "w.drawn = 0 // this process", new: "// this process",
	pkg: "internal/core/waiting", check: "TestAWaiterAsksAboveTheLeasesOfItsProcess", says: "want one call to each node",
}, {
	name: "a caller that gives up has a healthy node greeted anew", promise: outlives, file: "internal/core/fanout/carry.go",
	old: "s.fan.wait.Go(func() { s.voter.askVote() })", new: "s.voter.doubt()",
	pkg: virtualPkg, check: "TestAnImpatientCallerCostsNobodysLease", says: "lost",
}, {
	name: "a client that closes waits for the calls of its callers", promise: noHang, file: "internal/core/fanout/carry.go",
	old: "return f.waits", new: "return f.ctx",
	pkg: fanPkg, check: "TestTheEndOfWaitsCutsOffQuestionsOnly", says: "gives back: false",
}, {
	name: "a renewal counts for a TTL that the nodes were not asked for", promise: told, file: "internal/core/renewal/renew.go",
	old: "quorum.Deadline(r.sent, r.ttl,", new: "quorum.Deadline(r.sent, r.lease.ttl,",
	pkg: "internal/core/renewal", check: "TestARenewalCountsForTheTTLThatItAskedFor", says: "the nodes were asked for",
}, {
	name: "a question whose answer was lost keeps its place over an outage", promise: order, file: "internal/core/bid/answer.go",
	old: "if joined || m.Ticket != 0 && ans.MayHaveRun() {", new: "if joined {",
	pkg: waitPkg, check: "TestAnOutageLeavesNoPlaceInAQueue", says: "who waits no more stands in the queue",
}, {
	name: "only the first of several calls finds that keys were evicted", promise: memory, file: lua + "acquire.lua",
	old: "if evicted then return 'N' end", new: "if evicted then evicted = false return 'N' end",
	pkg: modelPkg, check: "TestNoneOfSeveralCallsIsGrantedAfterAnEviction", says: "the server and the model differ",
}, {
	name: "a bid that is over keeps its places over an outage", promise: order, file: "internal/core/bid/lease.go",
	old: "At: max(until, now.Add(nodescript.QueueKept))", new: "At: until",
	pkg: waitPkg, check: "TestAnOutageLeavesNoPlaceInAQueue", says: "who waits no more stands in the queue",
}, {
	name: "what Leave does not find when it is repeated stays", promise: nothing, file: "internal/core/fanout/message.go",
	old: "To: m.Again, Again: m.Again, Tag: m.Tag", new: "Tag: m.Tag",
	pkg: "internal/core/renewal", check: "TestWhatLeaveDoesNotFindIsReleased", says: "a second later it keeps it",
}, {
	name: "a minority is given back to a lease that is about to end", promise: order, file: "internal/core/bid/part.go",
	old: "!ends && m.before", new: "(!ends || ends) && m.before",
	pkg: waitPkg, check: "TestALeaseThatEndsNodeByNodeCostsNoPlaceInLine", says: "served in the order",
}, {
	name: "who has a minority asks every second", promise: noHang, file: "internal/core/bid/pause.go",
	old: "d = min(Jitter(p.Part, draw), AskEvery, d)", new: "_ = d",
	pkg: waitPkg, check: "TestAMinorityIsGivenBackSoonToAnOlderOneWhoCameLater", says: "what an older one waits for",
}, {
	name: "who has a part asks again before that has answered", promise: noHang, file: "internal/core/bid/round.go",
	old: "if m.state != open && !owed || !m.whole {", new: "if _ = owed; m.state != open || !m.whole {",
	pkg: waitPkg, check: "TestAPartWhoseGrantsComeLateIsGivenBack", says: "nobody had it for",
}, {
	name: "a subscription has as long as its driver gives it", promise: noHang, file: "internal/core/fanout/subscriptions.go",
	old: "late := time.AfterFunc(patience, cancel)", new: "late := time.AfterFunc(time.Hour, cancel)",
	pkg: fanPkg, check: "TestASubscriptionThatDoesNotStandIsMadeAgain", says: "tries it does not stand",
}, {
	name: "a grant that was followed by another is given back", promise: noHang, file: "internal/core/bid/part.go",
	old: "m.part & m.which(m.votes.Granted)", new: "m.part",
	pkg: waitPkg, check: "TestWhatWasGivenBackIsNoPart", says: "stands as a part",
}, {
	name: "two with the same ticket are both the older", promise: noHang, file: "internal/core/bid/machine.go",
	old: "if ok && ticket == m.Ticket {", new: "if ok && false {",
	pkg: waitPkg, check: "TestTwoWithTheSameTicketDoNotBothKeepAPart", says: "1m0s later",
}, {
	name: "the clocks are not read again while a move settles", promise: noHang, file: "internal/core/fanout/clocks.go",
	old: "f.readAgain(now) // the clocks may be right again by now", new: "",
	pkg: fanPkg, check: "TestClocksThatAreRightAgainAreNoticedWhileAMoveSettles", says: "the clock is right again",
}, {
	name: "a refused stamp causes no reading of the other clocks", promise: noHang, file: "internal/core/fanout/clocks.go",
	old: "f.time.Outdated(node, now)", new: "false",
	pkg: fanPkg, check: "TestANodeWhoseClockSeemsOffBecauseTheOthersWereReadLongAgoVotesSoon", says: "still seems to be",
}, {
	name: "an answer that took long says as much of a clock as a quick one", promise: noHang, file: "internal/core/quorum/timebase.go",
	old: "if s.known && within < n.within", new: "if s.known && false && within < n.within",
	pkg: "internal/core/quorum", check: "TestAnAnswerThatTookLongMovesNoClockThatIsKnownBetter", says: "misread by all that it may be",
}, {
	name: "a lost subscription waits although the node answers again", promise: outlives, file: "internal/core/fanout/greet.go",
	old: "if back && v.back != nil {", new: "if back && false {",
	pkg: fanPkg, check: "TestASubscriptionIsMadeWhenTheNodeAnswersAgain", says: "it does not stand",
}, {
	name: "an idle client does not read the clocks", promise: noHang, file: "internal/core/fanout/clocks.go",
	old: "f.reader = f.AfterFunc(min(checkEvery, f.time.Unread(f.Now())), f.keepTime)", new: "",
	pkg: fanPkg, check: "TestAnIdleClientGoesWithTheClocks", says: "in which nothing was locked",
}, {
	name: "what comes after Close gave up waiting is kept", promise: told, file: "internal/core/renewal/keeper.go",
	old: "if k.closed {", new: "if false {",
	pkg: e2ePkg, check: "TestALockThatComesAfterCloseGaveUpWaitingIsNobodys", says: "whose context has not ended",
}, {
	name: "what was given up is freed in the first half of its TTL only", promise: nothing, file: "internal/core/bid/lease.go",
	old: "until := m.sent.Add(m.TTL + m.Window)", new: "until := m.sent.Add(m.TTL / 2)",
	pkg: waitPkg, check: "TestWhatWasGivenUpIsFreedAlsoLateInItsTTL", says: "before the TTL is over",
}, {
	name: "a late answer leaves who has the lock in line for it", promise: order, file: "internal/core/bid/answer.go",
	old: "\t\tm.quit(node, now)", new: "\t\t_ = node",
	pkg: waitPkg, check: "TestALateAnswerLeavesNobodyInLineForWhatItHas", says: "in line for its own lock",
}, {
	name: "who won leaves a queue only if the node takes it at once", promise: order, file: "internal/core/bid/lease.go",
	old: "At: now.Add(nodescript.QueueKept)", new: "At: 0",
	pkg: waitPkg, check: "TestWhoWonLeavesAlsoTheQueueOfANodeThatIsAway", says: "is still in line",
}, {
	name: "a question that was never sent may have run", promise: outlives, file: "internal/core/quorum/refused.go",
	old: "a.Err = node.NotSent(a.Err)", new: "_ = node.NotSent(a.Err)",
	pkg: waitPkg, check: "TestWhoWonOwesNothingToANodeThatWasNotAsked", says: "locks were got",
}, {
	name: "who won leaves no queue that took its last question", promise: order, file: "internal/core/bid/answer.go",
	old: "case m.taken && m.inQueues.Has(node) && ans.Verdict != nodescript.Granted:", new: "case m.taken && (joined || ans.MayHaveRun()):",
	pkg: waitPkg, check: "TestNobodyStaysInLineWhateverNodesDo", says: "in line",
}, {
	name: "a node that answered nothing in time is not met anew", promise: exclusion, file: "internal/core/fanout/worker.go",
	old: "return err != nil", new: "return err != nil && !node.Timeout(err)",
	pkg: fanPkg, check: "TestANodeThatFailedIsGreetedBeforeItIsAskedAgain", says: "want it greeted",
}, {
	name: "the next question ends the one before", promise: noHang, file: "internal/core/bid/round.go",
	old: "if m.state != open && !owed || !m.whole {", new: "if true || owed {",
	pkg: waitPkg, check: "TestTheNextQuestionWaitsForTheOneBefore", says: "it was not got",
}, {
	name: "who won leaves no queue whose answer was lost", promise: order, file: "internal/core/bid/answer.go",
	old: "case m.taken && m.inQueues.Has(node) && ans.Verdict != nodescript.Granted:", new: "case joined:",
	pkg: waitPkg, check: "TestWhoWonLeavesAlsoTheQueueOfANodeThatIsAway", says: "is still in line",
}, {
	name: "an outage ends waits one after the other", promise: noHang, file: "internal/core/waiting/outage.go",
	old: "over = ends(ln.first)", new: "if over = ends(ln.first); over { o.lasts = false; return over, next }",
	pkg: waitPkg, check: "TestAnOutageEndsAllWaitsForANameTogether", says: "want that nothing is known, after",
}, {
	name: "a minority that says held is taken for a quorum", promise: noHang, file: "internal/core/bid/answer.go",
	old: "case current && m.alone():", new: "case false && m.alone():",
	pkg: waitPkg, check: "TestAMinorityThatSaysHeldIsNoQuorum", says: "want that nothing is known",
}, {
	name: "a subscription that flaps is made again at once", promise: order, file: "internal/core/fanout/subscriptions.go",
	old: "if f.Now().Sub(since) >= relistenMost {", new: "if true || f.Now().Sub(since) >= relistenMost {",
	pkg: "internal/core/fanout", check: "TestASubscriptionThatFlapsIsMadeAgainLessAndLessOften", says: "it was made \\d+ times",
}, {
	name: "a waiter asks whenever a subscription is back", promise: order, file: "internal/core/bid/round.go",
	old: "if !m.again.nodes.Has(node) {", new: "if true || !m.again.nodes.Has(node) {",
	pkg: waitPkg, check: "TestAWaiterAsksOnceASecondBecauseANodeIsHeardAgain", says: "times within a second",
}, {
	name: "who is not the first is told nothing of what the first knows", promise: order, file: "internal/core/waiting/line.go",
	old: "last := ln.last()", new: "last := (*Refusal)(nil)",
	pkg: waitPkg, check: "TestAWaiterBehindOthersIsToldWhatTheFirstKnows", says: "was told 0, holder",
}, {
	name: "a gap in which the plain key is taken", promise: mixed, file: "internal/core/nodescript/exclusive.go",
	old: "bare := Lock{Name: e.lock.Name, Private: true}", new: "bare := e.lock",
	pkg: virtualPkg, check: "TestAPollingClientGetsItsTurnInEachGap", says: "with gaps the poller got",
}, {
	name: "a pass where a gap is due", promise: mixed, file: "internal/core/waiting/locker.go",
	old: "g.Others, l.Fair || due ||", new: "g.Others, l.Fair ||",
	pkg: virtualPkg, check: "TestAPollingClientGetsItsTurnInEachGap", says: "with gaps the poller got",
}, {
	name: "a lease does not carry the count of its passes", promise: order, file: "internal/core/bid/lease.go",
	old: "Passes: m.passes}", new: "Passes: 0}",
	pkg: waitPkg, check: "TestAnotherProcessIsOvertakenByABoundedNumberOfPasses", says: "was overtaken",
}, {
	name: "a bid that came after its turn is passed nothing", promise: order, file: "internal/core/waiting/line.go",
	old: "\tp.bid = b", new: "\t_ = b",
	pkg: waitPkg, check: "TestWhoEntersTheLineWithoutABidIsPassedTheLockWhenItHasOne", says: "was not passed",
}, {
	name: "who was at work within half of MaxTTL + W only waits", promise: exclusion, file: "internal/core/quorum/timebase.go",
	old: "now.Sub(t.lastDrawn) >= t.settle", new: "now.Sub(t.lastDrawn) >= t.settle/2",
	pkg: quorumPkg, check: "TestAClientThatWasAtWorkDoesNotFollowAtOnce", says: "follows a leap at once",
}, {
	name: "a node that answers with an error gets no release", promise: nothing, file: "internal/core/quorum/standing.go",
	old: "!(s.step == Refuse && s.unreached)", new: "!(s.step == Refuse && s.refusal.Verdict == nodescript.Failed)",
	pkg: fanPkg, check: "TestAReleasePassesTheDoorOfEveryNodeThatAnswers", says: "and the release is answered",
}, {
	name: "nobody wakes an idle worker when the linger is over", promise: outlives, file: "internal/core/fanout/sender.go",
	old: "wake := len(s.queue) > 0 && s.held == 0 && s.wakes()", new: "wake := false && s.wakes()",
	pkg: fanPkg, check: "TestACallThatComesRightAfterAnotherWaitsForNoneOfItsAnswers", says: "was answered after",
}, {
	name: "a node that was doubted while it was asked is not met anew", promise: exclusion, file: "internal/core/quorum/standing.go",
	old: "if s.step == Greet {", new: "if false {",
	pkg: fanPkg, check: "TestADoubtOutlivesTheAnswerThatItMeets/for_a_call", says: "after it was doubted",
}, {
	name: "a waiter does not ask again", promise: order, file: "internal/core/waiting/queue.go",
	old: "\t\t\tb.askAgain(every)", new: "\t\t\t_ = b",
	pkg: e2ePkg, check: "TestADeadHoldersLockGoesToTheFirstInLine", says: "it did not ask", hangs: true,
}, {
	name: "a waiter does not hear of a hand-off", promise: order, file: "internal/core/waiting/inbox.go",
	old: "\t\tt.handed(node)", new: "\t\t_ = node",
	pkg: e2ePkg, check: "TestAReleaseWakesTheFirstInLineAtOnce", says: "nobody was woken",
}, {
	name: "who is not expected yet stands in queues, and declines its turn", promise: order, file: "internal/core/waiting/inbox.go",
	old: "return b.up[node] && b.bids[owner] != nil", new: "return b.up[node]",
	pkg: waitPkg, check: "TestWhoIsNotExpectedStandsInNoQueue", says: "would decline",
}, {
	name: "a hand-off to a bid that is over is not declined", promise: order, file: "internal/core/waiting/decline.go",
	old: "b.fan.SendTo(k.Node, &fanout.Message{Call: nodescript.Decline(k.Of), SendBy: b.fan.Now().Add(b.fan.Set().Claim())})", new: "_, _ = nodescript.Decline(k.Of), fanout.Message{}",
	pkg: e2ePkg, check: "TestHandOffsToBidsThatAreOverCostNoClaim", says: "each cost a claim",
}, {
	name: "what is handed over between two bids is never answered", promise: order, file: "internal/core/waiting/inbox.go",
	old: "all := b.past.Take(t.ticket())", new: "var all []bid.Kept",
	pkg: waitPkg, check: "TestWhatIsHandedBetweenTwoBidsIsDeclinedByTheNext", says: "the node was told",
}, {
	name: "who only renews is idle, and follows a jump at once", promise: exclusion, file: "internal/core/quorum/stamp.go",
	old: "t.everDrawn, t.lastDrawn = true, now // a client that renews is not idle", new: "",
	pkg: quorumPkg, check: "TestAClientThatOnlyRenewsWaitsBeforeItFollows", says: "follows a leap at once",
}, {
	name: "the loss is announced by the next renewal: no timer", promise: told, file: "internal/core/renewal/lease.go",
	old: "e.timer = e.keeper.fan.AfterFunc(e.nextCheckLocked(), e.check)", new: "e.timer = e.keeper.fan.AfterFunc(time.Hour, e.check)",
	pkg: "internal/core/renewal", check: "TestALossBetweenTwoRenewalsIsAnnouncedAtTheDeadline", says: "the lease ended after",
}, {
	name: "a suspended host's leases are looked at when they are due", promise: told, file: "internal/core/renewal/keeper.go",
	old: "pause = max(min(due.Sub(now), watchEvery), 0)", new: "pause = max(due.Sub(now), 0)",
	pkg: "internal/core/renewal", check: "TestALeaseThatRanOutWhileTheHostWasSuspendedEndsWhenItWakes", says: "the loss was noticed",
}, {
	name: "Extend does not wait for answers that may still decide", promise: told, file: "internal/core/quorum/renewal.go",
	old: "return r.forgot > 0 && r.forgot < need && r.forgot+r.n-r.answered >= need", new: "return need < 0",
	pkg: "internal/core/renewal", check: "TestExtendWaitsForAnswersThatMayStillDecide", says: "Extend returned <nil>",
}, {
	name: "a known result under a dead context is drawn by lot", promise: nothing, file: "internal/core/renewal/giveback.go",
	old: "case <-o.done: // if both channels are ready, select chooses one at random", new: "case <-chan struct{}(nil):",
	pkg: "internal/core/renewal", check: "TestWhatIsKnownIsSaidAlsoUnderADeadContext", says: "before the outcome was known",
}, {
	name: "a lock that is won as its context ends is given back", promise: nothing, file: "internal/core/waiting/queue.go",
	old: "return b.outcome(true) // it may have been won at the same moment", new: "return Grant{}, l.nothing(b.lock)",
	pkg: waitPkg, check: "TestALockThatIsWonAsItsContextEndsIsWon", says: "which the waiter was refused",
}, {
	name: "UnlockAt beyond MaxTTL leaves the lease held", promise: nothing, file: "lease.go",
	old: "err := release(time.Now().Add(most))", new: "err := error(nil)",
	pkg: e2ePkg, check: "TestUnlockAtKeepsTheNameTaken", says: "the lease goes on after UnlockAt",
}, {
	name: "a loss does not name who has the lock", promise: told, file: "lost.go",
	old: "e.Owner, e.Foreign = taker(why.Answers)", new: "_, _ = taker(why.Answers)",
	pkg: e2ePkg, check: "TestALossNamesTheThief", says: "lost: a majority of the nodes did not have it",
}, {
	name: "tries paced by the TTL that Extend asked for", promise: told, file: "internal/core/renewal/renew.go",
	old: "return min(e.keeper.pace(e.ttl)/2, max(e.deadline.Sub(sent)/4, e.keeper.fan.Set().Window))", new: "return e.keeper.pace(e.ttl) / 2",
	pkg: "internal/core/renewal", check: "TestAFailedExtendIsTriedAgainWhileThereIsTime", says: "the node was asked",
}, {
	name: "a shorter renewal that wins is followed as late as a longer one", promise: told, file: "internal/core/renewal/renew.go",
	old: "min(e.keeper.soonPace(e.ttl), e.deadline.Sub(r.sent)/3)", new: "e.keeper.soonPace(e.ttl)",
	pkg: "internal/core/renewal", check: "TestAShorterRenewalThatWinsAfterExtendIsFollowedInTime", says: "the node was asked",
}, {
	name: "a scheduler that takes the time of a suspension for time that its timer ran", promise: told, file: "internal/core/renewal/keeper.go",
	old: "timers: clock.Monotonic(), wake", new: "timers: f.Now, wake",
	pkg: "internal/core/renewal", check: "TestALeaseThatComesAfterASuspensionIsRenewedAndEndsAtItsDeadline", says: "its loss was announced after",
}, {
	name: "a clock that stops while the host is suspended", promise: told, file: "internal/core/clock/steady_linux.go",
	old: "return m + Instant(s.suspended.Load())", new: "return m",
	pkg: "internal/core/clock", check: "TestSteadyNoticesASuspension", says: "after an hour of suspension",
}, {
	name: "a far client has a node admitted as a near one", promise: memory, file: "internal/core/quorum/stamp.go",
	old: "within = min(window, 2*window-off); within <= 0", new: "within = window; within <= 0",
	pkg: virtualPkg, check: "TestAQuarantineIsNotShortenedByClientsToWhomNodesAreFar", says: "two holders",
}, {
	name: "no more than two pipelines to a node that is far away", promise: noHang, file: "internal/core/fanout/spare.go",
	old: "s.spares < mostSpares", new: "s.spares < 0",
	pkg: virtualPkg, check: "TestABusyClientToWhomNodesAreFarKeepsItsLeases", says: "names that nobody else wants failed|lock \"held[0-9]+\": no quorum",
}, {
	name: "a name that a minority keeps counts as kept", promise: outlives, file: "internal/core/renewal/giveback.go",
	old: "case b.lost == nil && b.done > 0 &&", new: "case b.done > 0 &&",
	pkg: e2ePkg, check: "TestUnlockAtSaysThatAMinorityKeepsTheName", says: "want ErrUnavailable",
}, {
	name: "trust takes a later loss for the one that it was asked about", promise: memory, file: "cmd/holdfast/internal/cli/trust.go",
	old: " || n.Loss != then[i].Loss", new: "",
	pkg: "cmd/holdfast/internal/cli", check: "TestTrustAsksAgainAfterAnotherLoss", says: "asked 1 times",
}, {
	name: "explored: validity counted from the answer, if that is later", promise: told, file: "internal/core/bid/lease.go",
	old: "deadline := quorum.Deadline(m.sent,", new: "deadline := quorum.Deadline(max(m.sent, now),",
	pkg: bidsPkg, check: "TestBidsKeepTheirPromises", says: "two holders",
}, {
	name: "explored: no release is repeated for as long as a queue lives", promise: order, file: "internal/core/bid/lease.go",
	old: "queued = to & m.inQueues", new: "queued = 0",
	pkg: bidsPkg, check: "TestBidsKeepTheirPromises", says: "left behind",
}, {
	name: "explored: who won leaves no queue of a node that did not grant", promise: order, file: "internal/core/bid/lease.go",
	old: "if m.inQueues.Has(i) {", new: "if false {",
	pkg: bidsPkg, check: "TestBidsKeepTheirPromises", says: "left behind",
}, {
	name: "explored: who gives up waiting leaves only the queues that it heard of", promise: order, file: "internal/core/bid/lease.go",
	old: "to = Every // the bid may be in every queue", new: "_ = to",
	pkg: bidsPkg, check: "TestBidsKeepTheirPromises", says: "left behind",
}}
