package main

// valued is the promise of a value under a lock.
const valued = "a stored value is found, and a value that was seen is never unseen"

// ofValues are weakenings of the value under a lock.
var ofValues = []mutant{{
	name: "a load takes any value", promise: valued, file: quorumPkg + "/register.go",
	old: "if l.same = false; l.rank(v).Compare(l.rank(l.chosen)) > 0 {", new: "if l.same = false; false {",
	pkg: valuesPkg, check: "TestAValueUnderALockIsKept", args: fewValues, says: "a load found",
}, {
	name: "a load does not write what it found", promise: valued, file: quorumPkg + "/register.go",
	old: "return l.loaded == l.n && l.same && l.chosen.Version.Token <= l.token", new: "return true",
	pkg: valuesPkg, check: "TestAValueUnderALockIsKept", args: fewValues, says: "a load found",
}, {
	name: "a memory that is young counts as complete", promise: valued, file: quorumPkg + "/register.go",
	old: "if v.Whole {", new: "if true {",
	pkg: valuesPkg, check: "TestAValueUnderALockIsKept", args: fewValues, says: "a load found",
}, {
	name: "a renewal undoes a store that had no result", promise: valued, file: "internal/core/register/register.go",
	old: "r.known, r.own, r.lacking = nil, false, r.everyone()", new: "r.lacking = r.everyone()",
	pkg: valuesPkg, check: "TestAValueUnderALockIsKept", args: fewValues, says: "a load found",
}, {
	name: "a holder whose token is another one stores", promise: valued, file: lua + "holder.lua",
	old: "or sub(record, 17, 32) ~= ARGV[2] or", new: "or",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfValues", args: valueSeed, says: `differs after \d+ operations`,
}, {
	name: "a lease that is over stores", promise: valued, file: lua + "holder.lua",
	old: "or now >= sub(record, 33, 48) then", new: "then",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfValues", args: valueSeed, says: `differs after \d+ operations`,
}, {
	name: "a store from before a loss of memory runs after it", promise: valued, file: lua + "holder.lua",
	old: "if ahead > @WINDOW@ or ahead < -@WINDOW@ then", new: "if false then",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfValues", args: valueSeed, says: `differs after \d+ operations`,
}, {
	name: "an earlier store of a lease replaces a later one", promise: valued, file: lua + "store.lua",
	old: "and sub(old, 33, 40) > ARGV[4] then", new: "and false then",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfValues", args: valueSeed, says: `differs after \d+ operations`,
}, {
	name: "old data that came back count as complete", promise: valued, file: lua + "load.lua",
	old: "whole = whole or sub(old, 1, 16) == since", new: "whole = true",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfValues", args: valueSeed, says: `differs after \d+ operations`,
}, {
	name: "a loss of memory does not begin a new memory", promise: valued, file: lua + "quarantine.lua",
	old: "'id', id(challenge), 'since', now,", new: "'id', id(challenge),",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfValues", args: valueSeed, says: `differs after \d+ operations`,
}}

const (
	valuesPkg = "verify/values"
	fewValues = "-values.n 20000"
	// valueSeed makes the comparison repeat its operations.
	valueSeed = "-seed 1"
)

// ofJobs are weakenings of jobs.
var ofJobs = []mutant{{
	name: "a load does not bring the lease to the nodes that it needs", promise: outlives, file: "internal/core/register/register.go",
	old: "if err == nil || !curable || bring > mostBring {", new: "if _ = curable; true {",
	pkg: e2ePkg, check: "TestALoadBringsTheLeaseToTheNodesThatItNeeds", says: "the first load found",
}, {
	name: "a load that a node got too late is not repeated", promise: outlives, file: quorumPkg + "/register.go",
	old: "case nodescript.Lost, nodescript.OffClock:", new: "case nodescript.Lost:",
	pkg: e2ePkg, check: "TestALoadAsksAgainAfterAPauseOfANode", says: "the first load found",
}, {
	name: "the work of a lock goes on for a moment after a loss", promise: told, file: "internal/core/ending/work.go",
	old: "err := w.lease.Err()", new: "err := w.Context.Err()",
	pkg: "internal/core/ending", check: "TestWorkEndsWithItsLease", says: "after the loss the work ended with",
}, {
	name: "a run begins although its tick could not be stored", promise: onceATick, file: "job/held.go",
	old: "if h.OnCrash == CrashRetry && h.lease.Context().Err() == nil && ctx.Err() == nil {", new: "if true {",
	pkg: "job", check: "TestARunThatIsNotStoredDoesNotBegin", says: "the run began",
}, {
	name: "a job looks for the tick after its release", promise: onceATick, file: "job/run.go",
	old: "from := r.looked", new: "from := time.Time{}",
	pkg: "job", check: "TestATickThatComesDuringAReleaseIsRun", says: "the tick began 0 times",
}, {
	name: "an interval with a time zone is counted from the call", promise: exclusion, file: "job/schedule.go",
	old: "	if rest != text && (", new: "	if false && (",
	pkg: "job", check: "FuzzParseSchedule", says: "later, the next tick is",
}, {
	name: "a crashed run is not repeated", promise: onceATick, file: "job/missed.go",
	old: "case !paused:", new: "case false:",
	pkg: "job", check: "TestKilledRunners", says: "was never done",
}, {
	name: "the outcome is stored only after the run", promise: onceATick, file: "job/run.go",
	old: "err = h.claim(r.hard, o)", new: "err = nil",
	pkg: "job", check: "TestKilledRunners/skip_all", says: "began 2 times",
}, {
	name: "a tick in a repeated hour comes twice", promise: onceATick, file: "job/schedule.go",
	old: "case s.daily:", new: "case false:",
	pkg: "job", check: "TestTicksWhenClocksChange", says: "30 2 .* ticks at",
}, {
	name: "the tick that was taken runs again", promise: onceATick, file: "job/missed.go",
	old: "first := t.schedule.Next(t.floor(last, since, now))", new: "first := t.schedule.Next(last.floor(now).Add(-1))",
	pkg: "job", check: "TestDecisions", says: "a tick that was taken",
}, {
	name: "a turn goes on after its lock", promise: onceATick, file: "job/begin.go",
	old: "t.ctx, t.tick = ctx, tick", new: "t.ctx, t.tick = context.WithoutCancel(ctx), tick",
	pkg: "job", check: "TestATurnEndsWithItsLock", says: "two turns at a time",
}, {
	name: "a run that is early belongs to the tick before", promise: onceATick, file: "job/once.go",
	old: "ahead < mostLead && (last.IsZero() || ahead < now.Sub(last))", new: "ahead < 0",
	pkg: "job", check: "TestTheTickNearARun", says: "want 12:00:02",
}, {
	name: "a drain interrupts the run", promise: onceATick, file: "job/run.go",
	old: "if last = o; !h.work(r.hard, o) {", new: "if last = o; !h.work(ctx, o) {",
	pkg: "job", check: "TestADrainLetsTheRunEnd", says: "the outcome of the run is interrupted",
}, {
	name: "a drained job takes the next tick", promise: onceATick, file: "job/run.go",
	old: "if err == nil && ctx.Err() != nil {", new: "if false {",
	pkg: "job", check: "TestADrainLetsTheRunEnd", says: "runs after the drain",
}, {
	name: "the tick of a process that died before it took it is missed", promise: onceATick, file: "job/dead.go",
	old: "if found := t.due(last, since, from); found.run {", new: "if found := t.due(last, since, from); false {",
	pkg: "job", check: "TestATickWhoseProcessDiesBeforeItIsTakenRuns", says: "began 0 times",
}, {
	name: "the holder of a lock that was released counts as dead", promise: onceATick, file: "job/dead.go",
	old: `s.host == "" || age < -ttl/8 ||`, new: `s.host == "" ||`,
	pkg: "job", check: "TestADeadHolderIsTold", says: "a holder that released the lock early",
}, {
	name: "Grace does not count after a run that crashed", promise: onceATick, file: "job/dead.go",
	old: "if !last.final() && last.Host == d.host {", new: "if false {",
	pkg: "job", check: "TestGraceCountsUnlessADeadProcessHadTheLock/crash", says: "begins .* late",
}, {
	name: "a run that was interrupted has failed", promise: onceATick, file: "job/held.go",
	old: "errors.Is(err, ErrInterrupted) {", new: "took < 0 {",
	pkg: "job", check: "TestAnInterruptedRunIsRepeated", says: "the outcomes are",
}, {
	name: "a turn drops an earlier tick that must be repeated", promise: onceATick, file: "job/once.go",
	old: "locked != nil && last.Tick.Before(tick)", new: "false",
	pkg: "job", check: "TestATurnRepeatsAnEarlierTickFirst", says: "the turns are",
}, {
	name: "a look takes the claim of its own turn for another one", promise: onceATick, file: "job/begin.go",
	old: "(last.final() || s.OnCrash != CrashRetry) && !locked.Load() {", new: "(last.final() || s.OnCrash != CrashRetry) {",
	pkg: "job", check: "TestALookFindsItsOwnClaim", says: "Begin returns",
}, {
	name: "a schedule without a tick in the past has one in the year 1", promise: onceATick, file: "job/once.go",
	old: "return come(last, schedule, now)", new: "return last, nil",
	pkg: "job", check: "TestThereIsNoTickBeforeTheFirstOne", says: "want an error",
}, {
	name: "a run begins another run of its job", promise: onceATick, file: "job/held.go",
	old: "if ctx.Value(runKey{client, name}) == nil {", new: "if true {",
	pkg: e2ePkg, check: "TestARunDoesNotBeginAnotherRunOfItsJob", says: "the tick ran 2 times",
}, {
	name: "the options of a line in a cron file are the name of its job", promise: onceATick, file: "cmd/holdfast/internal/cli/crontab.go",
	old: `case strings.HasPrefix(name, "["):`, new: "case false:",
	pkg: "cmd/holdfast/internal/cli", check: "TestOptionsAreNoName", says: "want .the name of the job is missing",
}}

// onceATick is the promise of a job.
const onceATick = "a job runs once per tick, as its settings say"
