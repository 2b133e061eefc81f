package main

// ofReports are weakenings of the rules for lost runs, alerts, and jobs that do not run.
var ofReports = []mutant{{
	name: "nobody looks for a run that was lost", promise: onceATick, file: "job/asked.go",
	old: "return r.dead(ctx, last)", new: "return false",
	pkg: "job", check: "TestARequestAfterALostRunIsServed", says: "a minute after request|the attempts are",
}, {
	name: "a retry runs before a request", promise: onceATick, file: "job/missed.go",
	old: "if a := last.asked(now); a != nil {", new: "if a := last.asked(now); a != nil && !last.retries() {",
	pkg: "job", check: "TestDecisions", says: "a retry and a request",
}, {
	name: "the repetition of a manual run takes the next request", promise: onceATick, file: "job/held.go",
	old: "if d.manual && !repeats ||", new: "if d.manual ||",
	pkg: "job", check: "TestARepeatedManualRunKeepsTheNextRequest", says: "the runs are",
}, {
	name: "a retry that comes after the next tick waits", promise: onceATick, file: "job/held.go",
	old: "(o.Next.IsZero() || retry.Before(o.Next))", new: "(o.Next.IsZero() || !retry.IsZero())",
	pkg: "job", check: "TestARetryAfterTheNextTickIsNone", says: "the alerts are",
}, {
	name: "a retry that nobody runs waits for ever", promise: onceATick, file: "job/jobmetrics/job.go",
	old: "now.Sub(o.Retry) <= lateRetry", new: "!o.Retry.IsZero()",
	pkg: "job", check: "TestARetryThatNobodyRunsIsAFailure", says: "failed false",
}, {
	name: "a job that a process has stays retired", promise: onceATick, file: "job/asked.go",
	old: "return last.Book.Retired != nil", new: "return false",
	pkg: "job", check: "TestARetiredJobThatAProcessHasComesBack", says: "a canary retired it",
}, {
	name: "a job that came back is overdue since it was retired", promise: onceATick, file: "job/unretire.go",
	old: "h.replace(last, from, now)", new: "h.replace(last, from.AddDate(-1, 0, 0), now)",
	pkg: "job", check: "TestARetiredJobThatAProcessHasComesBack", says: "the alerts are",
}, {
	name: "a look takes a tick before its jitter", promise: onceATick, file: "job/run.go",
	old: "!next.IsZero() && !next.After(wake) {", new: "!next.IsZero() && next.Add(r.delay(next)).Before(wake) {",
	pkg: "job", check: "TestARetiredJobKeepsItsJitter", says: "the delays are",
}, {
	name: "a job whose tick is in the future is in order", promise: onceATick, file: "job/book.go",
	old: "due = o.Book.Stuck", new: "due = time.Time{}",
	pkg: "job", check: "TestATickInTheFutureIsAlertedOnce", says: "overdue by 0s",
}, {
	name: "each process alerts a tick in the future", promise: onceATick, file: "job/future.go",
	old: "last.Book.Stuck = now.UTC()", new: "_ = now.UTC()",
	pkg: "job", check: "TestATickInTheFutureIsAlertedOnce", says: "the alerts are",
}, {
	name: "a reset forgets the schedule", promise: onceATick, file: "job/action.go",
	old: "o.Spec, o.Schedule = last.Spec, last.Schedule", new: "o.Spec = last.Spec",
	pkg: "job", check: "TestATickInTheFutureIsAlertedOnce", says: "after the reset",
}, {
	name: "a pause without a note drops the reason", promise: onceATick, file: "job/action.go",
	old: "last.Book.Paused == nil || note", new: "last.Book.Paused == nil || note == \"\" || note",
	pkg: "job", check: "TestAPauseWithoutANoteKeepsTheReason", says: "after the note",
}, {
	name: "a failure whose retry a pause dropped is not alerted", promise: onceATick, file: "job/action.go",
	old: "o.Retry, o.Book.Untold = time.Time{}, true", new: "o.Retry, o.Book.Untold = time.Time{}, false",
	pkg: "job", check: "TestAPauseThatDropsARetryIsAlerted", says: "the alerts are",
}, {
	name: "a failure whose retry a request replaced is not alerted", promise: onceATick, file: "job/alert.go",
	old: "case last.State == Failed && last.pending() &&", new: "case false && last.pending() &&",
	pkg: "job", check: "TestARequestBeforeARetryIsNotLost", says: "1 alerts",
}, {
	name: "a retry that waits is alerted as a failure", promise: onceATick, file: "job/held.go",
	old: "if o.State == Failed && !o.pending() {", new: "if o.State == Failed {",
	pkg: "job", check: "TestAFailureIsAlertedOnceItIsFinal", says: "the alerts are",
}, {
	name: "an overdue tick is alerted again and again", promise: onceATick, file: "job/alert.go",
	old: "last.Book.Overdue = due", new: "_ = due",
	pkg: "job", check: "TestAnOverdueJobIsAlertedOnce", says: "the alerts are",
}, {
	name: "a crash is dated to its start", promise: onceATick, file: "job/book.go",
	old: "b.Failed = found.UTC()", new: "b.Failed = end",
	pkg: "job", check: "TestACrashHasATimeAndAReason", says: "it crashed at",
}, {
	name: "a run that lost its lock has no reason", promise: onceATick, file: "job/held.go",
	old: "o.Fence, fmt.Sprintf(\"it lost its lock: %v\", lost)}", new: "0, fmt.Sprint(lost)}",
	pkg: "job", check: "TestACrashHasATimeAndAReason/unlocked", says: "the run is crashed",
}, {
	name: "a request for a first run takes the tick before it", promise: onceATick, file: "job/action.go",
	old: "last = last.replaced(Removed, a)", new: "last = last.replaced(Removed, a); last.Tick = a.At",
	pkg: "job", check: "TestARequestForAFirstRunTakesNoTick", says: "Once: false",
}, {
	name: "a request that does not wait is withdrawn", promise: onceATick, file: "job/action.go",
	old: "if last.asked(a.At) == nil {", new: "if false {",
	pkg: "job", check: "TestARequestCanBeWithdrawn", says: "a second Cancel",
}, {
	name: "a list leaves out jobs that it cannot read", promise: onceATick, file: "job/look.go",
	old: "jobs[names[i]] = Outcome{State: Unreadable, Error: strange.Error()}", new: "continue",
	pkg: "job/jobmetrics", check: "TestAJobThatCannotBeReadIsSeen", says: "the jobs are",
}, {
	name: "a job that is only asked for counts as removed", promise: onceATick, file: "job/jobmetrics/job.go",
	old: "case neverRan(o):", new: "case neverRan(o) && o.Book.Paused != nil:",
	pkg: "job/jobmetrics", check: "TestTheStateOfAnOutcome", says: "only asked for",
}}
