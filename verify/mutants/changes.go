package main

// ofChanges are weakenings of the rules for jobs whose schedule changes, which were in no file for a while, or whose last run
// nobody can repeat.
var ofChanges = []mutant{{
	name: "ticks from before a change of the schedule run", promise: onceATick, file: "job/floor.go",
	old: "from = t.first(last.Schedule, since)", new: "_ = since",
	pkg: "job", check: "TestTicksBeforeAChangeOfTheScheduleDoNotRun", says: "the ticks are|count as missed",
}, {
	name: "a new version drops a tick of the older one", promise: onceATick, file: "job/floor.go",
	old: "case t.differs(last):", new: "case t.differs(last) && from.IsZero():",
	pkg: "job", check: "TestANewVersionDropsNoTickOfTheOlderOne", says: "of 7 ticks ran",
}, {
	name: "a process does not store its new schedule", promise: onceATick, file: "job/floor.go",
	old: "return !r.adopted || last.Next.IsZero() ||", new: "return last.Next.IsZero() ||",
	pkg: "job", check: "TestAChangedScheduleIsNotOverdue", says: "it is overdue by",
}, {
	name: "the next tick of a version that is gone stays", promise: onceATick, file: "job/floor.go",
	old: "now.Sub(last.Next) > changedLate", new: "now.Sub(last.Next) > 1000*changedLate",
	pkg: "job", check: "TestAScheduleThatIsGoneIsReplaced", says: "overdue by",
}, {
	name: "a change of the schedule drops a common tick", promise: onceATick, file: "job/floor.go",
	old: "return tick.Add(-time.Microsecond)", new: "return since",
	pkg: "job", check: "TestACommonTickOfTwoSchedulesRuns", says: "the ticks are",
}, {
	name: "a job that comes back runs the ticks of its absence", promise: onceATick, file: "job/floor.go",
	old: "if last.left(since) && since.After(from) {", new: "if false && since.After(from) {",
	pkg: "job", check: "TestAJobThatComesBackRunsNoTickOfItsAbsence", says: "the ticks are|count as missed",
}, {
	name: "a job that was removed runs the ticks of its absence", promise: onceATick, file: "job/floor.go",
	old: "return since.After(o.Started)", new: "return false",
	pkg: "job", check: "TestAJobThatComesBackRunsNoTickOfItsAbsence", says: "the ticks are|count as missed",
}, {
	name: "a job that comes back runs the retry that waited", promise: onceATick, file: "job/missed.go",
	old: "!last.Retry.After(now) && !last.left(since) {", new: "!last.Retry.After(now) {",
	pkg: "job", check: "TestARetryOfARetiredJob", says: "canary false",
}, {
	name: "a job that comes back keeps the retry that waited", promise: onceATick, file: "job/unretire.go",
	old: "if last.left(h.since) {", new: "if false {",
	pkg: "job", check: "TestARetryOfARetiredJob", says: "canary false",
}, {
	name: "a machine that is not ready leaves a crash to others", promise: onceATick, file: "job/watch.go",
	old: "return (late || r.uncertain(last)) && r.dead(ctx, last)", new: "return late && r.dead(ctx, last)",
	pkg: "job", check: "TestARunThatNobodyCanRepeatIsAlertedOnce", says: "the alerts are",
}, {
	name: "a crash that nobody repeats is alerted again and again", promise: onceATick, file: "job/untold.go",
	old: "last.Book.Told = last.Started", new: "_ = last.Started",
	pkg: "job", check: "TestARunThatNobodyCanRepeatIsAlertedOnce", says: "the alerts are",
}, {
	name: "a repetition that nobody begins is not overdue", promise: onceATick, file: "job/book.go",
	old: "return (o.State == Failed || o.State == Interrupted) &&", new: "return o.State == Failed &&",
	pkg: "job", check: "TestARunThatNobodyCanRepeatIsAlertedOnce", says: "the alerts are",
}, {
	name: "a repetition is overdue by the time of a pause", promise: onceATick, file: "job/book.go",
	old: "for _, from := range []time.Time{o.Book.Resumed, o.Book.From} {", new: "for _, from := range []time.Time{} {",
	pkg: "job", check: "TestARepetitionIsNotOverdueAfterAPause", says: "overdue by|the alerts are",
}, {
	name: "a new version leaves a run waiting that it does not repeat", promise: onceATick, file: "job/watch.go",
	old: "return t.OnCrash == CrashSkip && last.State == Interrupted &&", new: "return t.OnCrash == CrashRetry && last.State == Interrupted &&",
	pkg: "job", check: "TestARepetitionThatANewVersionDoesNotMakeIsNotOverdue", says: "overdue by|the alerts are",
}, {
	name: "a new job that nobody can run is not alerted", promise: onceATick, file: "job/alert.go",
	old: "return t.late(t.schedule.Next(since), now)", new: "return time.Time{}",
	pkg: "job", check: "TestANewJobThatNobodyCanRunIsAlertedOnce", says: "the alerts are",
}, {
	name: "a new job that nobody can run is alerted again and again", promise: onceATick, file: "job/alert.go",
	old: "if last != nil && !last.Book.Overdue.IsZero() {", new: "if false {",
	pkg: "job", check: "TestANewJobThatNobodyCanRunIsAlertedOnce", says: "the alerts are",
}, {
	name: "a failure that a reset replaces is not alerted", promise: onceATick, file: "job/action.go",
	old: "n.Book.Untold = o != nil &&", new: "n.Book.Untold = false &&",
	pkg: "job", check: "TestARunThatAnOperatorReplacedIsAlertedOnce", says: "the alerts are",
}, {
	name: "a crash before a pause is not alerted", promise: onceATick, file: "job/watch.go",
	old: "return err == nil && !s.Held", new: "return err == nil && !s.Held && last.Book.Paused == nil",
	pkg: "job", check: "TestACrashBeforeAPauseIsAlertedOnce", says: "the alerts are",
}, {
	name: "a machine that retires a job leaves its failure untold", promise: onceATick, file: "job/retire.go",
	old: "if s.OnAlert != nil {", new: "if false {",
	pkg: "job", check: "TestARetiredJobLeavesNoFailureUntold", says: "the alerts are",
}, {
	name: "SetTick does not look at the next tick", promise: onceATick, file: "job/action.go",
	old: "if o.Next = s.Next(from); storable(o.Next) != nil {", new: "if o.Next = s.Next(from); false {",
	pkg: "job", check: "TestSetTickKeepsTheBookNearTheEndOfTime", says: "the next tick is in the year 10000",
}, {
	name: "an outcome that cannot be stored is an empty value", promise: onceATick, file: "job/encode.go",
	old: "if len(value) == 0 {", new: "if false {",
	pkg: "job", check: "TestAnOutcomeThatCannotBeStoredIsAnError", says: "the value is",
}, {
	name: "a tick during a long run is overdue after it", promise: onceATick, file: "job/held.go",
	old: "!o.Next.Before(o.Started) && at.After(o.Next) {", new: "false && at.After(o.Next) {",
	pkg: "job", check: "TestATickDuringALongRunIsNotOverdueAfterIt", says: "after the run it is overdue",
}, {
	name: "jobmetrics: a new schedule is overdue at once", promise: onceATick, file: "job/jobmetrics/view.go",
	old: "old != nil && old.same(schedule) {", new: "old != nil {",
	pkg: "job/jobmetrics", check: "TestANewScheduleIsDueSinceItWasSet", says: "overdue by",
}, {
	name: "jobmetrics: a removed job that nobody runs is not overdue", promise: onceATick, file: "job/jobmetrics/view.go",
	old: "if has && o.State == job.Removed && !neverRan(*o) {", new: "if false {",
	pkg: "job/jobmetrics", check: "TestARemovedJobThatAProcessHasIsDue", says: "the next tick to be over",
}}
