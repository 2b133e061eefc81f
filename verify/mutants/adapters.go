package main

import "time"

// This file weakens the adapters for schedulers.

var ofAdapters = []mutant{{
	name: "adapters: the locker takes no tick", promise: onceATick, file: "adapters/gocron/locker.go",
	old: "begun, err := k.spec.BeginWithin(ctx, l.client, tick, ", new: "begun, err := k.spec.BeginWithin(ctx, l.client, tick.Add(time.Duration(time.Now().Unix()%1000)), ",
	pkg: "verify/adapters", check: "TestEachTickRunsOnce/locker", says: `runs too many, `, args: "-test.short", within: 3 * time.Minute,
}, {
	name: "adapters: a task runs without its lock", promise: onceATick, file: "adapters/gocron/task.go",
	old: "return fmt.Errorf(\"job %q: %w\", name, ErrNotLocked)", new: "return fn(ctx, job.Tick{})",
	pkg: "adapters/gocron", check: "TestATaskEndsWithItsLock", says: `a run without its lock|without a locker`,
}, {
	name: "adapters: two tasks run under one lock", promise: onceATick, file: "adapters/gocron/task.go",
	old: "if t == nil || t.taken {", new: "if t == nil {",
	pkg: "adapters/gocron", check: "TestOneTaskRunsUnderALock", says: `a second task under the lock of another`,
}, {
	name: "adapters: a task goes on after its lock", promise: onceATick, file: "adapters/gocron/task.go",
	old: "fn.Until(ctx)(t.Context(), ", new: "fn.Until(ctx)(context.WithoutCancel(t.Context()), ",
	pkg: "adapters/gocron", check: "TestATaskEndsWithItsLock", says: `no error of the task|the task returned`,
}, {
	name: "adapters: a run that gocron stopped has failed", promise: onceATick, file: "adapters/gocron/task.go",
	old: "fn.Until(ctx)(t.Context(), ", new: "fn(t.Context(), ",
	pkg: "adapters/gocron", check: "TestATaskEndsWithItsScheduler", says: `the run ended: false|the outcome of`,
}, {
	name: "adapters: a task of another kind that gocron stopped is done", promise: onceATick, file: "adapters/gocron/locker.go",
	old: "if !t.taken && ctx.Err() != nil {", new: "if false {",
	pkg: "adapters/gocron", check: "TestATaskEndsWithItsScheduler", says: `the outcome of own is .*done`,
}, {
	name: "adapters: a task hides that its lock was lost", promise: onceATick, file: "adapters/gocron/task.go",
	old: "err == nil && t.Context().Err() != nil", new: "false",
	pkg: "adapters/gocron", check: "TestATaskEndsWithItsLock", says: `no error of the task|the task returned`,
}, {
	name: "adapters: an old run takes the lock of the next one away", promise: onceATick, file: "adapters/gocron/locker.go",
	old: "if t.locker.turns[t.name] == t {", new: "if true {",
	pkg: "verify/adapters", check: "TestAnOldRunLeavesTheNextOneItsLock", says: `the next run lost its lock by the end of the old one`,
}, {
	name: "adapters: a leader's task goes on after a loss", promise: oneLeader, file: "adapters/gocron/elector.go",
	old: "work(lease.Context(), job.Tick{})", new: "work(context.WithoutCancel(lease.Context()), job.Tick{})",
	pkg: "adapters/gocron", check: "TestATaskEndsWithTheLeadership", says: `no error of the task|not within 20s|the task `,
}, {
	name: "adapters: a leader's task does not look at the clock", promise: oneLeader, file: "adapters/gocron/elector.go",
	old: "work(lease.Context(), job.Tick{})", new: "work(func() context.Context { c, _ := context.WithCancel(lease.Context()); return c }(), job.Tick{})",
	pkg: "adapters/gocron", check: "TestATaskLooksAtTheClock", says: `after the deadline Err of the task's context is <nil>`,
}, {
	name: "adapters: another task takes the turn that a task has begun", promise: onceATick, file: "adapters/gocron/locker.go",
	old: "wanted: tick, taken: taken}", new: "wanted: tick}",
	pkg: "adapters/gocron", check: "TestATurnBelongsToTheTaskThatBeganIt", says: `another task took the turn: true`,
}, {
	name: "adapters: a task runs without leadership", promise: oneLeader, file: "adapters/gocron/elector.go",
	old: "lease, err := e.leads()", new: "lease, err := e.leads(); if err != nil { e.mu.Unlock(); return fn(ctx) }",
	pkg: "adapters/gocron", check: "TestAHopelessCampaign", says: `a task without leadership`,
}, {
	name: "adapters: a leader resigns before its tasks have ended", promise: oneLeader, file: "adapters/gocron/elector.go",
	old: "e.tasks.Wait()", new: "",
	pkg: "adapters/gocron", check: "TestOneProcessLeads", says: `the next process leads while a task of the leader runs`,
}, {
	name: "adapters: a lost leader leads", promise: oneLeader, file: "adapters/gocron/elector.go",
	old: "e.set(nil, context.Cause(lease.Context()))", new: "<-ctx.Done()",
	pkg: "adapters/gocron", check: "TestATaskEndsWithTheLeadership", says: `an error that names the next leader`,
}, {
	name: "adapters: the wrapper takes no tick", promise: onceATick, file: "adapters/robfigcron/wrapper.go",
	old: "t, err = r.spec.BeginWithin(ctx, r.client, wanted, ", new: "t, err = r.spec.BeginWithin(ctx, r.client, wanted.Add(time.Duration(time.Now().Unix()%1000)), ",
	pkg: "verify/adapters", check: "TestEachTickRunsOnce/robfig", says: `runs too many, `, args: "-test.short", within: 3 * time.Minute,
}, {
	name: "adapters: a taken tick runs", promise: onceATick, file: "adapters/robfigcron/wrapper.go",
	old: "log.Debug(\"job not run here\", \"job\", r.spec.Name, \"error\", err)", new: "_ = fn(context.Background(), job.Tick{})",
	pkg: "adapters/robfigcron", check: "TestAWrappedJobRunsOncePerTick", says: `the other process runs the tick, too`,
}, {
	name: "adapters: a run goes on after its lock", promise: onceATick, file: "adapters/robfigcron/wrapper.go",
	old: "err = fn(t.Context(), t.Tick())", new: "err = fn(context.WithoutCancel(t.Context()), t.Tick())",
	pkg: "adapters/robfigcron", check: "TestARunEndsWithItsLock", says: `goes on without its lock`,
}, {
	name: "adapters: a job runs outside of its wrapper", promise: onceATick, file: "adapters/robfigcron/wrapper.go",
	old: "slog.Default().Error(", new: "_ = f(context.Background(), job.Tick{}); slog.Default().Error(",
	pkg: "adapters/robfigcron", check: "TestOtherJobs", says: `a run without a lock|outside of a wrapper`,
}, {
	name: "adapters: a run takes the place of the tick that it repeats", promise: onceATick, file: "adapters/robfigcron/wrapper.go",
	old: "if t.Tick().Time.Before(wanted) && ", new: "if wanted.IsZero() && ",
	pkg: "adapters/robfigcron", check: "TestARunRepeatsAnEarlierTickFirst", says: `the ticks are|the runs are`,
}, {
	name: "adapters: a task takes the place of the tick that it repeats", promise: onceATick, file: "adapters/gocron/task.go",
	old: "for t.Tick().Time.Before(t.wanted) && ", new: "for false && ",
	pkg: "adapters/gocron", check: "TestATaskRepeatsAnEarlierTickFirst", says: `no run|run \d is `,
}, {
	name: "adapters: each machine counts @every from its own start", promise: onceATick, file: "adapters/robfigcron/add.go",
	old: "if every, ok := s.(cron.ConstantDelaySchedule); ok {", new: "if every, ok := s.(cron.ConstantDelaySchedule); ok && false {",
	pkg: "adapters/robfigcron", check: "TestEveryIsTheSameOnAllMachines", says: `the tick is|the ticks are`,
}}
