// Package job runs jobs once per tick on a fleet: every process calls [Run] with the same [Spec], and each tick of the
// schedule runs on one of them.
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
// A lock excludes two runs at the same time. It does not exclude the second run of a short job: the clock of one machine
// is a second behind, the first machine is done by then, and the lock is free again. So this package keeps the last tick
// under the lock, in its value: see [holdfast.Lease.Store]. A process that gets the lock reads the last tick, and runs
// only later ones.
//
// # Whose clock
//
// Ticks are instants in UTC. They are computed from the clocks of the majority of the Redis nodes: see
// [holdfast.Client.Now]. The clocks of the machines that run the jobs do not matter. They may be wrong by hours.
//
// # What is guaranteed
//
// With [CrashSkip], the default, a job runs at most once for each tick. The tick is stored as taken before the run
// begins. If its process dies in the run, the tick is over. If the nodes cannot tell whether the tick was taken, it
// counts as taken.
//
// With [CrashRetry] a job runs at least once for each tick that is not missed. If its process dies, another process
// runs the tick again, after the TTL of the lock. The job must bear two runs of one tick; use [Tick.Fence] at the
// resource that it changes.
//
// A run may overlap with the next one only if its process was paused past the deadline of its lock and continues. Its
// context has then ended. [Tick.Fence] protects a resource from such a process.
//
// These promises hold as long as no majority of the nodes loses its memory between two ticks. A running
// fleet looks at the last tick once an hour, so nodes that lost their memory get it again. If no process looks for 30
// days, the nodes forget the last tick, and the next one counts as the first of all.
//
// # Missed ticks
//
// A tick is missed if nobody could run it in time: all processes were down, the nodes did not answer, or the run before
// took too long. [Spec.Missed] decides: skip the tick, run once for all missed ticks, or run each of them, the oldest
// first. The very first tick of a job is the first one after a process has called Run. Ticks before that are not missed.
//
// # Changing a job
//
// Change the Spec of all processes in any order. While two versions run, both take ticks. When one version has taken a
// tick, neither version runs an earlier tick. Each process that finds the other version reports it once in the log. The
// same report appears if two machines have different time zone data. To change a schedule without a mixture, stop the
// fleet or give the job a new name.
//
// A process that changes or ends a job closes [Spec.Drain]: the run that goes on ends by itself, and no other one begins.
//
// # A program that a scheduler starts
//
// [Once] runs a function for one tick. It suits a crontab that is the same on every machine: all of them call Once with
// the tick of [TickAt].
//
// # A scheduler in the program
//
// [Spec.Begin] and [Turn.End] are the two halves of Once, for a scheduler that has a call before a run and one after it.
// [TickNear] finds the tick to which such a run belongs. The modules adapters/gocron and adapters/robfigcron use them.
//
// # Looking at jobs
//
// [Last] and [List] return the last outcomes: tick, machine, start, duration, error and next tick. The command does the
// same: holdfast jobs.
package job
