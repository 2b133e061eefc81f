package main

// ofRuns are weakenings of the retries, the history and the actions of jobs. Those of the ticks are in ofJobs, and those of
// reports and lost runs in ofReports.
var ofRuns = []mutant{{
	name: "a paused job takes its ticks", promise: onceATick, file: "job/missed.go",
	old: "paused := last.Book.Paused != nil", new: "paused := false",
	pkg: "job", check: "TestAPausedJobTakesNoTick", says: "a paused job ran",
}, {
	name: "a pause that comes before the lock does not count", promise: onceATick, file: "job/once.go",
	old: "if last != nil && last.Book.Paused != nil {", new: "if false {",
	pkg: "job", check: "TestAPauseBeforeTheLockPreventsTheRun", says: "a paused job ran",
}, {
	name: "the ticks of a pause run after it", promise: onceATick, file: "job/missed.go",
	old: "if r := o.Book.Resumed; r.After(o.Tick) && r.Sub(now) <= farAhead {", new: "if r := o.Book.Resumed; false {",
	pkg: "job", check: "TestAPausedJobTakesNoTick", says: "the runs are",
}, {
	name: "a pause keeps the retry", promise: onceATick, file: "job/action.go",
	old: "if o.State == Failed && o.pending() {", new: "if false {",
	pkg: "job", check: "TestAPauseDropsTheRetry", says: "the attempts are",
}, {
	name: "a failed run is repeated once too often", promise: onceATick, file: "job/held.go",
	old: "o.Failures <= h.Retries &&", new: "o.Failures <= h.Retries+1 &&",
	pkg: "job", check: "TestAFailedRunIsRepeated", says: "the attempts are",
}, {
	name: "a panic is repeated", promise: onceATick, file: "job/held.go",
	old: "!panics && o.Failures", new: "(panics || !panics) && o.Failures",
	pkg: "job", check: "TestWhatIsNotRepeated", says: "after a panic",
}, {
	name: "a retry comes before its time", promise: onceATick, file: "job/missed.go",
	old: "last.retries() && !last.Retry.After(now) &&", new: "last.retries() &&",
	pkg: "job", check: "TestDecisions", says: "a retry that is not due",
}, {
	name: "a retry runs after a later tick came due", promise: onceATick, file: "job/missed.go",
	old: "if d.tick.IsZero() && last.retries()", new: "if last.retries()",
	pkg: "job", check: "TestDecisions", says: "a tick that was missed replaces the retry",
}, {
	name: "a retry counts its failures anew", promise: onceATick, file: "job/held.go",
	old: "o.Failures = last.Failures", new: "o.Failures = 0",
	pkg: "job", check: "TestAFailedRunIsRepeated", says: "the attempts are",
}, {
	name: "a request is served again and again", promise: onceATick, file: "job/held.go",
	old: "if d.manual && !repeats || last.asked(now) == nil {", new: "if last.asked(now) == nil {",
	pkg: "job", check: "TestARequestCausesOneRun", says: "a second request|the runs are",
}, {
	name: "a process that runs tick after tick keeps the lock", promise: onceATick, file: "job/run.go",
	old: "if ran && time.Since(taken) > mostTurn {", new: "if ran && taken.IsZero() {",
	pkg: "job", check: "TestAPauseComesBetweenTicksThatAreDue", says: "processes: .*held",
}, {
	name: "nobody looks for a request", promise: onceATick, file: "job/sleep.go",
	old: "left > lookAsked && r.wanted(", new: "false && r.wanted(",
	pkg: "job", check: "TestARequestCausesOneRun", says: "request 0: the runs are",
}, {
	name: "an old request is served", promise: onceATick, file: "job/action.go",
	old: "age > AskedFor || age", new: "age",
	pkg: "job", check: "TestAnOldRequestIsDropped", says: "1 runs; want 0",
}, {
	name: "a manual run sets the ticks back", promise: onceATick, file: "job/missed.go",
	old: "if !d.tick.After(last.Tick) {", new: "if false {",
	pkg: "job", check: "TestDecisions", says: "a request before the last tick",
}, {
	name: "a removed job forgets its ticks", promise: onceATick, file: "job/action.go",
	old: "if o.Tick = a.At; last.Tick.After(a.At) {", new: "if o.Tick = a.At.AddDate(-1, 0, 0); false {",
	pkg: "job", check: "TestARemovedJobBeginsAgainAtItsNextTick", says: "the removed job is",
}, {
	name: "a machine that is not ready takes ticks", promise: onceATick, file: "job/run.go",
	old: "ready := r.isReady()", new: "ready := r.isReady() || true",
	pkg: "job", check: "TestAMachineThatIsNotReadyLeavesTheTick", says: "one machine is not ready",
}, {
	name: "a run begins with an empty book", promise: onceATick, file: "job/held.go",
	old: "Book: last.after(repeats, h.History, now),", new: "Book: (*Outcome)(nil).after(repeats, h.History, now),",
	pkg: "job", check: "TestEachRunIsInTheHistory", says: "the book has",
}, {
	name: "a history is larger than a value", promise: onceATick, file: "job/encode.go",
	old: "for ; size < 0 && len(texts) > 0;", new: "for ; false;",
	pkg: "job", check: "TestABookFitsIntoAValue", says: "bytes",
}}
