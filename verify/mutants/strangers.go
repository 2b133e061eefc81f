package main

// harmless is the promise about texts and requests of strangers.
const harmless = "what others store or request does an operator no harm"

// byStrangers are weakenings of the command where it shows texts from the nodes, or where its page may be read.
var byStrangers = []mutant{{
	name: "a name controls the terminal of top", promise: harmless, file: "cmd/holdfast/internal/sample/state.go",
	old: "Name: printable.Quoted(s.Name), Slot: s.Slot", new: `Name: printable.Text("") + s.Name, Slot: s.Slot`,
	pkg: "cmd/holdfast/internal/sample", check: "TestTextsOfNodesAreMadePrintable", says: "has '",
}, {
	name: "the page is open on every address", promise: harmless, file: "cmd/holdfast/internal/ui/listen.go",
	old: "!local && !safe {", new: "!local && !safe && false {",
	pkg: "cmd/holdfast/internal/ui", check: "TestOtherAddressesNeedTLSAndAToken", says: "not safe: ",
}, {
	name: "the page needs no token", promise: harmless, file: "cmd/holdfast/internal/ui/login.go",
	old: "case s.sessions == nil || s.sessions.open(r):", new: "case s.sessions == nil || s.sessions.key != nil:",
	pkg: "cmd/holdfast/internal/ui", check: "TestOnlyReadersWithTheTokenGetReadings", says: "without a token / has status 200",
}, {
	name: "another host name leads to the page", promise: harmless, file: "cmd/holdfast/internal/ui/guard.go",
	old: "case s.Local && !localhost.Names(r.Host):", new: "case s.Local && r.Host == \"\" && localhost.Names(r.Host):",
	pkg: "cmd/holdfast/internal/ui", check: "TestOnlyLoopbackHostsAreAnswered", says: "host .*: status 200",
}, {
	name: "another site reads the page", promise: harmless, file: "cmd/holdfast/internal/ui/guard.go",
	old: `return from == "" || from == "same-origin" || from == "none"`, new: `return from == "" || len(from) > 0`,
	pkg: "cmd/holdfast/internal/ui", check: "TestAnotherSiteGetsNoReadings", says: "cross-site: status 200|deadline exceeded",
}, {
	name: "a name is a command in a fix of the doctor", promise: harmless, file: "cmd/holdfast/internal/doctor/quote.go",
	old: "return \"'\" + strings.ReplaceAll(s, \"'\", `'\\''`) + \"'\"", new: "return `\"` + s + `\"`",
	pkg: "cmd/holdfast/internal/doctor", check: "TestAFixRunsNoCommandOfAName", says: "the fix is ",
}, {
	name: "an owner writes lines into the audit", promise: harmless, file: "cmd/holdfast/internal/cli/unlock.go",
	old: `", fence %d, owner %s", h.Fence, printable.Quoted(h.Owner))`, new: `", fence %d, owner %s", h.Fence, h.Owner)`,
	pkg: "cmd/holdfast/internal/cli", check: "TestScripts/unlock$", says: "unexpected match",
}, {
	name: "a request writes lines into the audit", promise: harmless, file: "cmd/holdfast/internal/cli/uiactions.go",
	old: `did := what + " the job " + name`, new: `did := what + " the job " + lock`,
	pkg: "cmd/holdfast/internal/cli", check: "TestARequestForgesNoLineOfTheAudit", says: "three actions have",
}, {
	name: "an action ends with the time to send a request", promise: harmless, file: "cmd/holdfast/internal/ui/guard.go",
	old: "deadlines(w, time.Time{}, time.Time{})", new: "_ = deadlines",
	pkg: "cmd/holdfast/internal/ui", check: "TestWorkThatTakesItsWholeTimeIsAnswered", says: "no answer|context canceled",
}, {
	name: "a retry that begins is a success on the page", promise: onceATick, file: "cmd/holdfast/internal/sample/attempts.go",
	old: "return before.Failing && !j.Failing && j.Done > before.Done", new: "return before.Failing && !j.Failing",
	pkg: "cmd/holdfast/internal/sample", check: "TestEventsOfAJobAreThoseOfItsAttempts", says: "sets the tick: got .*done again",
}, {
	name: "the page tells one failure twice", promise: onceATick, file: "cmd/holdfast/internal/sample/attempts.go",
	old: "return j.lastBad != before.lastBad", new: "return j.Failed != before.Failed",
	pkg: "cmd/holdfast/internal/sample", check: "TestEventsOfAJobAreThoseOfItsAttempts", says: "after a crash: got .*crashed",
}, {
	name: "a crashed run runs again on the page", promise: onceATick, file: "cmd/holdfast/internal/sample/jobs.go",
	old: "before.run == runOf(o) {", new: "before.run == runOf(o) && false {",
	pkg: "cmd/holdfast/internal/sample", check: "TestACrashedRunStaysCrashed", says: "the job is running",
}, {
	name: "a list calls a closed client a lack of nodes", promise: complete, file: "admin/lister.go",
	old: "case l.client.Closed():", new: "case l.client.Closed() && false:",
	pkg: e2ePkg, check: "TestACloseEndsAList", says: "want ErrClosed",
}, {
	name: "a pattern of a list matches characters", promise: complete, file: "admin/listoptions.go",
	old: "return re.MatchString(runesOf(name))", new: "return re.MatchString(name)",
	pkg: "admin", check: "TestAPatternMatchesBytes", says: `matches ".*": (true|false)`,
}}
