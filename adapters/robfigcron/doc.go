// Package robfigcron runs the jobs of a fleet of schedulers of github.com/robfig/cron once per tick.
//
//	c := cron.New()
//	_, err := robfigcron.Add(c, client, "30 2 * * *", job.Spec{Name: "report"}, func(ctx context.Context, tick job.Tick) error {
//		return report(ctx, tick.Time) // it stops when ctx ends: then the lock is lost
//	})
//	...
//	c.Run()
//
// Every process of the fleet runs this program. The scheduler starts the job in each process, by the clock of its
// machine. The first process takes the tick, and the others do not run the job.
//
// [Wrapper] does the same as a cron.JobWrapper, for jobs with a chain of wrappers.
//
// # Why ticks
//
// A lock that is held during the run excludes two runs at the same time. It does not exclude the second run of a short
// job: the clock of one machine is 200 ms behind, the first machine is done by then, and the lock is free again. So the
// last tick is stored under the lock: see package job. It is compared by the clocks of the Redis nodes, so the clocks
// of the machines do not decide.
//
// A run belongs to the tick that [job.TickNear] finds: the last one, or the next one if it comes soon. No tick runs
// twice.
//
// # What is guaranteed
//
// A job runs at most once for each tick of its schedule. A tick is missed if the run was refused on all machines: the
// nodes did not answer, a run for an earlier tick took longer than 2 s into this one, or all schedulers were late by
// half an interval. Missed ticks are not repeated. ([job.Run] can do that, without robfig/cron.)
//
// With [job.CrashRetry] the other processes wait for the end of a run. If its process dies, if its lock is lost, or if
// it is interrupted, one of them runs the tick again. If none waits, the next run of the job repeats the tick first.
//
// The context of the run ends before another process can begin a run, if the lock is lost. A job that takes no context
// goes on without the lock: use a [Func].
//
// # The end of a process
//
// robfig/cron cannot end a run. [job.Func.Until] ends its context with a context of yours: a run that then returns an
// error was interrupted. Call Stop of the scheduler, wait for the context that it returns, and then close the client. A
// client that is closed before gives the locks back under the runs: their contexts end, and their results are not
// stored.
//
// # Who runs
//
// If a run is refused, the log of the Spec gets a record that names the process that runs the job. Its level is Debug
// if the tick was taken, otherwise Warn. holdfast jobs shows the last tick of each job, with its result.
package robfigcron
