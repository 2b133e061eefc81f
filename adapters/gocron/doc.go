// Package holdfastgocron runs the jobs of a fleet of gocron schedulers once per tick. It also has an elector for
// schedulers of which only one shall work.
//
//	locker, err := holdfastgocron.NewLocker(client, job.Spec{Name: "report", Schedule: "CRON_TZ=Europe/Berlin 30 2 * * *"})
//	...
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	...
//	_, err = locker.NewJob(scheduler, "report", func(ctx context.Context, tick job.Tick) error {
//		return report(ctx, tick.Time) // it stops when ctx ends: then the lock is lost
//	})
//
// Every process of the fleet runs this program. gocron starts the job in each process, by the clock of its machine. The
// [Locker] lets one of these runs begin.
//
// # Why ticks
//
// gocron gives a locker only the name of the job. A lock that is held during the run excludes two runs at the same
// time. It does not exclude the second run of a short job: the clock of one machine is 200 ms behind, the first machine
// is done by then, and the lock is free again. So a Locker also knows the schedules. It stores the last tick under the
// lock: see package job. It compares by the clocks of the Redis nodes, so the clocks of the machines do not decide.
//
// A run belongs to the tick that [job.TickNear] finds: the last one, or the next one if it comes soon. So a machine
// whose clock is ahead by less than half the interval, and less than 30 s, runs a job for the right tick. If the clock
// is further off, a run may get the tick before or after the right one. No tick runs twice.
//
// # What is guaranteed
//
// A job runs at most once for each tick of its schedule. A tick is missed if the run was refused on all machines: the
// nodes did not answer, a run for an earlier tick took longer than 2 s into this one, or all schedulers were late by
// half an interval. Missed ticks are not repeated. ([job.Run] can do that, without gocron.)
//
// With [job.CrashRetry] the other processes wait for the end of a run. If its process dies, if its lock is lost, or if
// gocron stops it, one of them runs the tick again. If none waits, the next run of the job repeats the tick first.
//
// # The end of a process
//
// Call Shutdown of the scheduler first: it ends the contexts of the runs, waits for them, and their results are stored.
// Then close the client. A client that is closed before gives the locks back under the runs: their contexts end, and
// their results are not stored.
//
// The context of the run ends before another process can begin a run, if the lock is lost. Only a task that
// [Locker.Task] or [Locker.NewJob] made has this context. gocron itself cannot stop a run: another task goes on without
// the lock.
//
// # Who runs
//
// gocron passes the error of Lock to the listener gocron.AfterLockError. It is a [*job.TakenError] with the process
// that took the tick, or a [*holdfast.HeldError] with the process that still runs an earlier tick. holdfast jobs shows
// the last tick of each job, with its result.
//
// # The clock of gocron
//
// [Locker.NewJob] makes gocron's definition from the schedule of the job, so the two agree. If you make the definition
// yourself, give the job a name with gocron.WithName, and the Locker a schedule that ticks as often as the job. For
// gocron.DurationJob(5*time.Minute) it is "every 5m". The two need not tick at the same instants.
//
// A run that you start with Job.RunNow also needs its tick. It is refused if the tick was taken.
//
// # Election
//
// An [Elector] makes one process the leader, and only its scheduler works. It suits many small jobs: IsLeader asks no
// node. It does not know ticks. When the leader changes, the next one may run a tick again that the one before has run,
// or miss one, because their clocks differ. gocron ignores the locker of a scheduler that has an elector.
package holdfastgocron
