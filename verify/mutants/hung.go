package main

// byHung are weakenings of the client where a node hangs, or answers on new connections only.
var byHung = []mutant{{
	name: "a node that hangs gets every report", promise: noHang, file: "internal/core/fanout/direct.go",
	old: "if len(v.reports) == mostReports-1 {", new: "if false {",
	pkg: "internal/core/fanout", check: "TestDirectCallsToANodeThatHangsAreLimited", says: "reports and 12 questions were under way",
}, {
	name: "reports that hang keep the next one from the node", promise: exclusion, file: "internal/core/fanout/direct.go",
	old: "v.reports[0].stop()", new: "stop(); return ctx, stop",
	pkg: "internal/core/fanout", check: "TestANodeObjectsAlthoughOldReportsToItHang", says: "node 0 keeps other members and answers",
}, {
	name: "questions that wait use up their node timeout", promise: noHang, file: "internal/core/fanout/direct.go",
	old: "if left <= 0 {", new: "if true {",
	pkg: "internal/core/fanout", check: "TestManyQuestionsToAFarNodeAreAnswered", says: "of 408 callers got no answer",
}, {
	name: "a question about many slots waits for each at a node that hangs", promise: noHang, file: "internal/core/fanout/survey.go",
	old: "if unanswered(r) {", new: "if false {",
	pkg: "internal/core/fanout", check: "TestQuestionsToANodeThatHangsEnd", says: "the question ended after",
}, {
	name: "the first waiter asks nobody while no subscription works", promise: noHang, file: "internal/core/waiting/inbox.go",
	old: "min(b.fan.Timeout(), askEvery)", new: "b.fan.Timeout()",
	pkg: waitPkg, check: "TestTheFirstWaiterWithoutSubscriptionsAsksOnceASecond", says: "the waiter got",
}, {
	name: "the garbage collector ends a dropped lease", promise: told, file: "lease.go",
	old: "k.held.Held()", new: "k.held.End() == nil",
	pkg: virtualPkg, check: "TestALeaseDroppedInABubbleEndsNoProgram", says: "outside bubble",
}, {
	name: "messages stay in the queue of a node that hangs", promise: noHang, file: "internal/core/fanout/sweep.go",
	old: "len(s.queue) < max(sweepFrom, 2*s.swept)", new: "len(s.queue) >= 0",
	pkg: "internal/core/fanout", check: "TestMessagesToANodeThatHangsLeaveItsQueue", says: "messages waited for the node",
}, {
	name: "a node that hangs gets every question of callers", promise: noHang, file: "internal/core/fanout/direct.go",
	old: "make(chan struct{}, mostQuestions)", new: "make(chan struct{}, 100)",
	pkg: "internal/core/fanout", check: "TestDirectCallsToANodeThatHangsAreLimited", says: "reports and 100 questions were under way",
}, {
	name: "a driver with fewer connections than a client has calls", promise: told, file: rueidis + "/pool.go",
	old: "maxLinks = node.MaxCalls", new: "maxLinks = node.MaxCalls / 2",
	pkg: rueidis, check: "TestConformance/MaxCallsAreSentAtOnce", says: "calls are sent",
}, {
	name: "each late answer makes the client greet the node", promise: told, file: "internal/core/quorum/standing.go",
	old: "s.step == Send && s.admitted <= sent", new: "s.step == Send",
	pkg: "internal/core/fanout", check: "TestSeveralLateAnswersCostOneGreeting", says: "the node was greeted 2 times",
}, {
	name: "late answers make the client refuse later renewals", promise: told, file: "internal/core/fanout/limit.go",
	old: "s.voter.overdue(l.sent)", new: "s.voter.broke(context.DeadlineExceeded)",
	pkg: "internal/core/fanout", check: "TestSeveralLateAnswersCostOneGreeting", says: "the node was greeted 2 times|a renewal was answered",
}, {
	name: "all spares leave at once", promise: told, file: "internal/core/fanout/spare.go",
	old: "pause = max(pause, silent/4)", new: "pause = max(pause, 0*silent)",
	pkg: "internal/core/fanout", check: "TestMessagesDoNotWaitForLateAnswers", says: "a message waited for",
}, {
	name: "no spare leaves before the first late answer", promise: told, file: "internal/core/fanout/spare.go",
	old: "return len(s.queue) > 0 &&", new: "return s.trip > s.fan.config.Set.Window/shares && len(s.queue) > 0 &&",
	pkg: "internal/core/fanout", check: "TestMessagesDoNotWaitForLateAnswers", says: "a message waited for",
}, {
	name: "a renewal waits until the deadline of its beginning only", promise: told, file: "internal/core/renewal/renew.go",
	old: "m.Until = r.full()", new: "m.Until = m.SendBy",
	pkg: "internal/core/renewal", check: "TestARenewalWaitsForNodesThatAreSlow", says: "lock lost",
}, {
	name: "renewals that hang occupy all spares", promise: noHang, file: "internal/core/fanout/limit.go",
	old: "s.spares--", new: "",
	pkg: "internal/core/fanout", check: "TestRenewalsThatHangOccupyNoSpare", says: "pipelines that hang occupy",
}, {
	name: "workers wait for dead connections", promise: noHang, file: "internal/core/fanout/limit.go",
	old: "!l.replaced && sent.Sub(l.sent) > s.fan.config.Timeout", new: "false",
	pkg: "internal/core/fanout", check: "TestRenewalsThatHangOccupyNoSpare", says: "workers wait for answers that never come",
}, {
	name: "renewals that hang keep the scheduler from others", promise: told, file: "internal/core/fanout/limit.go",
	old: "to.Overdue()", new: "_ = to",
	pkg: "internal/core/renewal", check: "TestRenewalsThatHangKeepNoOthersWaiting", says: "leases were lost",
}, {
	name: "a vote counts with the proof of the next server", promise: exclusion, file: "internal/core/fanout/site.go",
	old: "proven = min(proven, s.former.Load())", new: "",
	pkg: "internal/core/fanout", check: "TestAVoteCountsAsLongAsTheProofOfItsServer", says: "a vote of the former server: a vote counts",
}, {
	name: "the last of several former servers decides", promise: exclusion, file: "internal/core/fanout/site.go",
	old: "> v.fan.config.Set.MaxTTL || s.former.Load() == 0", new: "> 0",
	pkg: "internal/core/fanout", check: "TestAVoteCountsAsLongAsTheProofOfItsServer", says: "before both changes",
}, {
	name: "a call goes to a server that the address has left", promise: exclusion, file: "internal/core/fanout/voter.go",
	old: "elsewhere: v.site.node != nil && ", new: "elsewhere: false && ",
	pkg: "internal/core/fanout", check: "TestAVoteCountsAsLongAsTheProofOfItsServer", says: "calls are sent as votes",
}, {
	name: "a round waits for nodes that were not asked", promise: noHang, file: "internal/core/bid/answer.go",
	old: "undecided := out == quorum.Open && m.whole && !m.votes.Waits()", new: "undecided := false",
	pkg: "internal/core/bid", check: "TestAnOpenRoundWaitsForAnAnswer", says: "a round is open, and no node has to answer",
}, {
	name: "a waiter spares a majority", promise: noHang, file: "internal/core/bid/spare.go",
	old: "< quorum.Majority(n) {", new: "< 0*quorum.Majority(n) {",
	pkg: "internal/core/bid", check: "TestAWaiterNeverSparesAMajority", says: "want all nodes",
}, {
	name: "a node that votes and has not answered counts as gone", promise: noHang, file: "internal/core/waiting/wait.go",
	old: "VotesIn(w.fan.Votes)", new: "VotesIn(func(int) bool { return false })",
	pkg: "internal/core/waiting", check: "TestAQuarantineIsWaitedForBesideANodeThatIsDown", says: "want the lock, after the quarantine",
}, {
	name: "a message that is not sent gets an answer without a verdict", promise: noHang, file: "internal/core/fanout/voter.go",
	old: "refusal:   v.standing.Refusal(now),", new: "refusal:   nodescript.Answer{},",
	pkg: "internal/core/fanout", check: "TestEveryViewHasAnAnswerForMessagesThatAreNotSent", says: "a message that is not sent would get",
}, {
	name: "an answer without a verdict reaches a round", promise: noHang, file: "internal/core/fanout/message.go",
	old: "if a.Verdict == nodescript.Unanswered {", new: "if false {",
	pkg: "internal/core/fanout", check: "TestAMessageAlwaysGetsAVerdict", says: "want that the node is not admitted",
}, {
	name: "a server votes twice for one renewal, under two addresses", promise: exclusion, file: "internal/core/fanout/worker.go",
	old: "(m.Draw == nil || m.made >= since || m.moving != 0)", new: "(m.Draw == nil || m.made >= 0*since)",
	pkg: "internal/core/fanout", check: "TestANodeWithANewServerGetsNoOlderRenewal", says: "a renewal is sent that is older",
}}
