package main

// inMembers are weakenings of the client's knowledge about the servers behind its list.
var inMembers = []mutant{{
	name: "a report counts although a node objected to it meanwhile", promise: exclusion, file: "internal/core/fanout/reporting.go",
	old: "m.opposed(r.sent) < 0", new: "m.opposed(f.Now()) < 0",
	pkg: "internal/core/fanout", check: "TestAnObjectionThatEndsDuringItsReportCounts", says: "counts, and node 0 has the members",
}, {
	name: "a stranger's vote counts", promise: exclusion, file: "internal/core/fanout/members.go",
	old: "func(o objection) bool { return now < o.until })", new: "func(o objection) bool { return now < 0 })",
	pkg: e2ePkg, check: "TestListsThatShareAMajorityHaveOneHolder", says: "two holders",
}, {
	name: "a place is free before what its server granted is over", promise: exclusion, file: "internal/core/nodescript/peers.go",
	old: "return c.Trusted() + c.MaxTTL + 4*c.Window", new: "return c.Trusted() + 2*c.Window",
	pkg: e2ePkg, check: "TestAServerThatStandsByWaitsForTheLeasesOfTheDeadOne", says: "two holders",
}, {
	name: "a look takes another server without a greeting", promise: exclusion, file: "internal/core/fanout/voter.go",
	old: "v.standing.Doubt() // a whole greeting", new: "v.standing.Greeted(v.fan.Now(), h, nil, twin) // a whole greeting",
	pkg: e2ePkg, check: "TestALookChecksThatANodeIsDurable", says: "less durable than declared",
}, {
	name: "a node that a report reached late counts as silent", promise: exclusion, file: "internal/core/nodescript/peers.go",
	old: "r.Value[0] != 'P' && r.Value[0] != 'O':", new: "r.Value[0] != 'P':",
	pkg: virtualPkg, check: "TestALateReportBringsTheObjectionsOfASharedNode", says: "two holders",
}, {
	name: "an id that is lost and regained loses its objections", promise: exclusion, file: "internal/core/fanout/reporting.go",
	old: "r.changes[i] == m.changes && ", new: "",
	pkg: virtualPkg, check: "TestAnObjectionOutlastsAnIDThatIsLostAndRegained", says: "two holders",
}, {
	name: "a node that cannot be greeted stops the votes of others", promise: outlives, file: "internal/core/fanout/members.go",
	old: "!met && !v.unmet.Load()", new: "!met",
	pkg: e2ePkg, check: "TestANodeThatCannotBeGreetedStopsNobody", says: "no lock for 10 s",
}, {
	name: "looks at a hung node pile up", promise: outlives, file: "internal/core/fanout/voter.go",
	old: "	if next != nil {", new: "	if false {",
	pkg: virtualPkg, check: "TestLooksAtAHungNodeDoNotPileUp", says: "more goroutines",
}, {
	name: "a vote that counts waits for reports of others", promise: outlives, file: "internal/core/fanout/members.go",
	old: "if f.untrusted(node, f.Now()) { // otherwise", new: "if true { // otherwise",
	pkg: virtualPkg, check: "TestATrustedVoteDoesNotWaitForReportsOfOthers", says: "leases lost",
}, {
	name: "who looks at a node that votes keeps calls from it", promise: outlives, file: "internal/core/fanout/voter.go",
	old: "if step, _ := v.next(); step == quorum.Send {", new: "if v.forgot(); false {",
	pkg: fanPkg, check: "TestALookAtANodeThatVotesKeepsNothingFromIt", says: "a renewal is answered",
}, {
	name: "a newcomer's vote does not wait for the objection of a far node", promise: exclusion, file: "internal/core/fanout/reporting.go",
	old: "\tif r.begins {", new: "\tif false {",
	pkg: e2ePkg, check: "TestANewcomersVoteWaitsForTheObjectionOfAFarNode", says: "two holders",
}, {
	name: "a node that keeps nothing of a report counts as told", promise: exclusion, file: "internal/core/fanout/reporting.go",
	old: "\t\tif again && f.untrusted(i, f.Now()) {", new: "\t\tif false {",
	pkg: "verify/sim", check: "TestAReportThatANodeDidNotKeepIsRepeated", says: "two holders",
}, {
	name: "a holder that rests reports nothing", promise: exclusion, file: "internal/core/fanout/members.go",
	old: "max(time.Minute, f.config.Set.MaxTTL)", new: "time.Minute",
	pkg: virtualPkg, check: "TestAHolderThatRestsTellsANodeThatComesBack", says: "two holders",
}, {
	name: "a node that comes back is not met by a client that rests", promise: exclusion, file: "internal/core/fanout/members.go",
	old: "} else if me.id == \"\" { // it was away", new: "} else if false { // it was away",
	pkg: virtualPkg, check: "TestAHolderThatRestsTellsANodeThatComesBack", says: "two holders",
}, {
	name: "a client that rested does not wait for objections", promise: exclusion, file: "internal/core/fanout/reporting.go",
	old: "late || r.expected == 0 && !r.begins", new: "late || r.expected == 0",
	pkg: "verify/sim", check: "TestAClientThatRestedWaitsForObjections", says: "two holders",
}}

// inHandles are weakenings of locks under their own lease.
var inHandles = []mutant{{
	name: "Reentrant(false) is ignored", promise: noHang, file: "mutex.go",
	old: "if m.never {", new: "if false {",
	pkg: e2ePkg, check: "TestALockInsideItselfIsAnErrorAtOnce", says: "want an error that says so, at once",
}, {
	name: "an inner Unlock releases the lock", promise: exclusion, file: "handle.go",
	old: "last = h == f && f.ended && f.below == nil", new: "last = true",
	pkg: e2ePkg, check: "TestALockUnderItsOwnLeaseIsAHandleWithoutARoundTrip", says: "lock already given back|the nodes ran",
}, {
	name: "goroutines under one lease do not exclude each other", promise: exclusion, file: "handle.go",
	old: "case !l.free(shared), !l.shared && len(l.line) > 0 && l.line[0] != after:", new: "case false:",
	pkg: e2ePkg, check: "TestGoroutinesUnderOneLeaseExcludeEachOther", says: "goroutines were inside at once",
}, {
	name: "a released handle gives others", promise: exclusion, file: "handle.go",
	old: "	case l.ended: // its holder", new: "	case false: // its holder",
	pkg: e2ePkg, check: "TestTheLastHandleReleasesTheLock", says: "a lock under a released handle",
}, {
	name: "a reader takes a pass without its share", promise: exclusion, file: "internal/core/waiting/wait.go",
	old: "if w.bid != nil && w.want.Open == nil {", new: "if w.bid != nil {",
	pkg: waitPkg, check: "TestAReaderThatGetsAPassAsItsContextEndsHasAShareOrNothing", says: "a lease without a share",
}, {
	name: "Close forgets the name that a handle keeps", promise: exclusion, file: "handle.go",
	old: "l.held.KeepUntil(f.until)", new: "_ = f.until",
	pkg: e2ePkg, check: "TestCloseKeepsANameThatAHandleKeepsTaken", says: "another client gets the lock",
}, {
	name: "a handle that becomes garbage is not reported", promise: told, file: "handle.go",
	old: "lease.calm = runtime.AddCleanup(lease, leak.report, leak{events: &c.events, held: held, of: h}).Stop", new: "_ = runtime.NumCPU",
	pkg: e2ePkg, check: "TestAHandleDroppedWithoutUnlockIsReported", says: "report|garbage|dropped",
}, {
	name: "a command gets the first value of a variable", promise: told, file: "cmd/holdfast/internal/childprocess/starter.go",
	old: "return (&exec.Cmd{Env: env}).Environ()", new: "_ = exec.Cmd{}; return env",
	pkg: "cmd/holdfast/internal/childprocess", check: "TestTheLastValueOfAVariableCounts", says: "first only",
}, {
	name: "an inner run follows a lock whose group it has left", promise: exclusion, file: "cmd/holdfast/internal/childprocess/ingroup.go",
	old: "return os.Getenv(groupVariable) == strconv.Itoa(syscall.Getpgrp())", new: "_, _, _ = os.Getenv, strconv.Itoa, syscall.Getpgrp; return true",
	pkg: "cmd/holdfast/internal/cli", check: "TestScripts/nested-outside", says: "unexpected match|two holders|exit code|want 75",
}, {
	name: "a starter may leave the thread with the death signal", promise: exclusion, file: "cmd/holdfast/internal/childprocess/starter.go",
	old: "		runtime.LockOSThread()", new: "		_ = runtime.NumCPU",
	pkg: "cmd/holdfast/internal/childprocess", check: "TestDeathSignalSurvivesAStarterThatChangesItsThread", says: "is gone|left behind",
}, {
	name: "a report may take longer than the pause between two", promise: outlives, file: "internal/core/nodescript/peers.go",
	old: "return max(5*c.Window/2,", new: "return max(2*c.Window,",
	pkg: "internal/core/nodescript", check: "TestAReportEndsBeforeTheNextOne", says: "a report every",
}}
