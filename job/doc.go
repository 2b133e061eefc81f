// Package job runs jobs once per tick on a fleet of processes. Every process calls [Run] with the same [Spec]. Each
// tick of the schedule then runs in one of these processes.
//
//	err := job.Run(ctx, client, job.Spec{
//		Name:     "nightly-report",
//		Schedule: "CRON_TZ=Europe/Berlin 30 2 * * *",
//	}, func(ctx context.Context, tick job.Tick) error {
//		return report(ctx, tick.Time) // it stops when ctx ends: then the lock is lost
//	})
//
// # Why a lock is not enough
//
// A lock prevents two runs at the same time, but it does not prevent a second run of a short job. Suppose that the
// clock of machine B is a second behind. When B reaches the tick, machine A has already finished the job, and the
// lock is free again. So this package stores the last tick under the lock, as its value: see [holdfast.Lease.Store].
// A process that gets the lock reads the last tick, and runs only later ones.
//
// # Whose clock
//
// Ticks are instants in UTC. They are computed from the clocks of a majority of the Redis nodes: see
// [holdfast.Client.Now]. The clocks of the machines that run the jobs do not matter, even if they are wrong by hours.
//
// # What is guaranteed
//
// With [CrashSkip], the default, a job runs at most once for each tick. The process first stores that the tick is
// taken, and then begins the run. If the process dies during the run, no other process repeats the tick. If the nodes
// cannot tell whether the tick was taken, it counts as taken.
//
// With [CrashRetry] a job runs at least once for each tick that is not missed. If the process dies during the run,
// another process runs the tick again, after the TTL of the lock. If the run is interrupted, because its process ends
// ([ErrInterrupted]), another process runs the tick again at once. The job must tolerate two runs of one tick. Use
// [Tick.Fence] at the resource that the job changes.
//
// A run can overlap with the next one only in this case: its process was paused past the deadline of its lock, and
// then goes on. The context of the run has ended by then. [Tick.Fence] protects a resource from such a process.
//
// These guarantees end if a majority of the nodes loses its memory between two ticks. A running fleet reads the last
// tick once an hour. This stores the tick again on nodes that lost their memory. If no process reads the last tick
// for 30 days, the nodes forget it, and the next tick counts as the first one of the job.
//
// # Missed ticks
//
// A tick is missed if no process could run it in time: all processes were down, the nodes did not answer, or the
// previous run took too long. [Spec.Missed] decides what happens then: skip these ticks, run once for all of them, or
// run each of them, the oldest first. A tick is not missed because a process died after it got the lock and before it
// took the tick: a process that waits for the lock then runs this tick, whatever [Spec.Grace] is. The first tick of a
// new job is the first one after some process called Run. Earlier ticks do not count as missed.
//
// # Errors and retries
//
// An error of the function is an outcome: the run has failed. With [Spec.Retries] the fleet runs the tick again, each
// time [Spec.Backoff] after the end of the attempt before, on any machine. A later tick or a request replaces the retry.
// [Once] and [Spec.Begin] make no retries.
//
// # Alerts
//
// [Spec.OnAlert] is called once in the fleet for a run that failed or crashed, and for a tick that is overdue. If the
// process of a run dies, the next holder of the lock calls it. The time and the reason of a crash are those that this
// holder knows: see [Book] and [Outcome]. A machine that is not [Spec.Ready] also looks, every ten seconds.
//
// # History and operators
//
// Each [Outcome] has a [Book]: the history of the runs, counts for the whole fleet, and what operators did. A run adds
// its exit code and its output with [SetResult].
//
// [Pause] makes the fleet take no tick until [Resume]. [Trigger] asks for a run now. [Remove] and [Retire] say that
// there is no such job any more. [Discard] replaces the value of another program. These functions take the lock of the job, so they wait for a run in progress.
//
// # Changing a job
//
// You can change the Spec of the processes one after the other, in any order. While two versions run, both take
// ticks. After one version has taken a tick, no version runs an earlier tick. Each process that finds another version
// logs this once. The same line appears if two machines have different time zone data. To change a schedule without a
// time of two versions, stop the fleet, or give the job a new name.
//
// A new schedule begins with the start of the first process that has it. Its earlier ticks do not run, do not count as
// missed, and are not overdue, except for the last one if the older schedule has this tick, too. This is so for each
// version, so two versions that run together do not drop each other's ticks. A job that was retired or removed begins in
// the same way, with the first process that has it again. A change of the other fields of Spec drops no tick.
//
// Before a process ends or changes a job, it can close [Spec.Drain]. A run that has begun then goes on to its end,
// and no other run begins.
//
// # A program that a scheduler starts
//
// [Once] runs a function for one tick. Use it in a program that cron starts on every machine at the same time. All of
// these programs call Once with the tick that [TickAt] returns, and one of them runs the function.
//
// # A scheduler in the program
//
// [Spec.Begin] and [Turn.End] are the two halves of Once. Use them with a scheduler that calls one function before a
// run and another one after it. [TickNear] finds the tick of such a run. The modules adapters/gocron and
// adapters/robfigcron use these functions.
//
// # Looking at jobs
//
// [Last] and [List] return the last outcomes: tick, machine, start, duration, error and next tick. The command
// holdfast jobs shows the same.
package job
