package main

const cliFolder = "cmd/holdfast/internal/cli"

// inCron are weakenings of holdfast cron and of the commands that act on jobs.
var inCron = []mutant{{
	name: "a look at a folder has no bound", promise: onceATick, file: "cmd/holdfast/internal/childprocess/enter.go",
	old: "stop := context.AfterFunc(ctx, func() { _ = s.verdicts.Close() })", new: "stop := context.AfterFunc(ctx, func() {})",
	pkg: "cmd/holdfast/internal/childprocess", check: "TestALookAtAFolderThatHangsStopsNothingElse", says: "the look does not end",
}, {
	name: "a start in a folder that hangs counts as begun", promise: onceATick, file: "cmd/holdfast/internal/childprocess/starter.go",
	old: "if within.Err() != nil {", new: "if false {",
	pkg: "cmd/holdfast/internal/childprocess", check: "TestAStartInAFolderThatHangsEnds", says: "the start ended with <nil>",
}, {
	name: "the passwords in the parameters of a node are stored", promise: harmless, file: cliFolder + "/cronoutput.go",
	old: `strings.HasSuffix(plain, "password")`, new: `plain == "-"`,
	pkg: cliFolder, check: "TestATailHasNoPasswordOfAParameter", says: "is stored",
}, {
	name: "ON_FAILURE loses the quotes of its first and last word", promise: onceATick, file: cliFolder + "/crontab.go",
	old: "if b == value[0] && !escaped {", new: "if false {",
	pkg: cliFolder, check: "TestAHookKeepsTheQuotesOfItsWords", says: "the command is /my alerts",
}, {
	name: "the wait for a retry has no bound", promise: harmless, file: cliFolder + "/jobsfollow.go",
	old: "r.due = o.Retry", new: "_ = o",
	pkg: cliFolder, check: "TestTheStageOfARequest", says: "it is repeated",
}, {
	name: "any number of hooks of a job waits", promise: harmless, file: cliFolder + "/cronhookqueue.go",
	old: "if q.n == mostOfJob {", new: "if false {",
	pkg: cliFolder, check: "TestHooksOfAJobRunOneAfterTheOther", says: "takes more than",
}, {
	name: "the hooks of a job run at the same time", promise: harmless, file: cliFolder + "/cronhookqueue.go",
	old: "before, q.last = q.last, own", new: "before, _ = q.last, own",
	pkg: cliFolder, check: "TestHooksOfAJobRunOneAfterTheOther", says: "have had their turn",
}, {
	name: "a value of another program stops a job for good", promise: harmless, file: cliFolder + "/jobs.go",
	old: "if fresh && errors.Is(err, job.ErrNoJob) {", new: "if false {",
	pkg: cliFolder, check: "TestScripts/jobs-foreign", says: "exit code 75, want 0",
}, {
	name: "the outcome of a newer version is discarded", promise: harmless, file: "job/discard.go",
	old: "case errors.As(err, &newer) && newer.format != form:", new: "case errors.As(err, &newer) && false:",
	pkg: "job", check: "TestAValueThatIsNoOutcomeIsDiscarded", says: "a newer version: <nil>",
}, {
	name: "an action without a wait has a millisecond for the nodes", promise: harmless, file: cliFolder + "/jobsact.go",
	old: "f.wait.value+answerTime)", new: "max(f.wait.value, time.Millisecond))",
	pkg: cliFolder, check: "TestScripts/jobs-wait", says: "exit code 69, want 0",
}, {
	name: "a paused job says that it was done", promise: onceATick, file: cliFolder + "/tick.go",
	old: "case last.Book.Paused != nil:", new: "case false:",
	pkg: cliFolder, check: "TestScripts/tick$", says: "no match",
}, {
	name: "a restart of candidates is an alarm", promise: harmless, file: "cmd/holdfast/internal/doctor/leaders.go",
	old: "case n >= manyTerms:", new: "case n > 1:",
	pkg: "cmd/holdfast/internal/doctor", check: "TestARestartOfTheCandidatesIsNoAlarm", says: "the findings are",
}, {
	name: "a program that only zsh finds is missing", promise: onceATick, file: cliFolder + "/cronhost.go",
	old: `if filepath.Base(c.shell()) == "zsh" {`, new: "if false {",
	pkg: cliFolder, check: "TestAProgramIsLookedFor", says: "by zsh",
}}
