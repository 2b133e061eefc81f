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
	pkg: e2ePkg, check: "TestALeaseDroppedInABubbleEndsNoProgram", says: "outside bubble",
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
}}
