package jobmetrics

import (
	"cmp"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Job is the state of a job at the time of a reading. All times are by the nodes' clocks.
type Job struct {
	Cluster string // the name of the node set: see [holdfast.Config.Cluster]
	Name    string

	// NeverRan says that the nodes know no run, but at most a request for the first one. In a process that runs the job,
	// this is also so after an operator removed it, until its next run. Unreadable says that this version
	// of Holdfast cannot read the outcome: a newer version or another program stored it. In both cases all fields below
	// except Overdue are zero.
	NeverRan, Unreadable bool

	Success time.Time     // the end of the last run that was done; zero: there was none
	Failure time.Time     // the end of the last run that failed, or when a process found the crash of one; before that, its start
	Next    time.Time     // the next tick; zero: unknown
	Took    time.Duration // the duration of the last run that was done, or else of the last run; 0: unknown
	Overdue time.Duration // for how long the next tick or retry has been due: see [job.Outcome.Overdue]
	Ahead   time.Duration // how far the last tick is in the future, so that no tick runs: see [job.Outcome.Ahead]
	Running time.Duration // for how long the present run has lasted; 0: there is none

	Runs    map[job.State]int // the runs that ended, by state
	Retries int               // the attempts that failed and were repeated
	Missed  int               // the ticks that no process ran
	Paused  bool
	Failed  bool // the last run failed or crashed, and no retry is pending or under way; interrupted runs do not count
}

// lateRetry is how late a retry may be. Then no process runs it, and the run has failed.
const lateRetry = time.Minute

// Of returns the state of the job with this outcome at the time now, by the nodes' clocks. exists is false if the job was
// removed or retired: it has no state then. An outcome with the state [job.Running] counts as a run that lasts: see
// [Settle]. A request for the first run of a job is no removal: the job has NeverRan.
func Of(cluster, name string, o job.Outcome, now time.Time) (j Job, exists bool) {
	switch {
	case neverRan(o):
		return Job{Cluster: cluster, Name: name, NeverRan: true}, true
	case o.State == job.Unreadable:
		return Job{Cluster: cluster, Name: name, Unreadable: true}, true
	case o.State == job.Removed, o.Book.Retired != nil:
		return Job{}, false
	}
	b := o.Book
	j = Job{
		Cluster: cluster, Name: name, Success: b.Done, Failure: b.Failed, Next: o.Next, Took: b.Took, Overdue: o.Overdue(now), Ahead: o.Ahead(now),
		Runs: b.Runs, Retries: b.Retried, Missed: b.Missed, Paused: b.Paused != nil,
	}
	end := o.Started.Add(o.Took)
	waits := !o.Retry.IsZero() && (o.State != job.Failed || now.Sub(o.Retry) <= lateRetry)
	switch o.State { // an older version stored no Book, and nobody has stored a crash that a reader finds
	case job.Running:
		j.Running = max(now.Sub(o.Started), time.Nanosecond)
	case job.Done:
		j.Success, j.Took = later(j.Success, end), cmp.Or(j.Took, o.Took)
	case job.Failed:
		if !waits {
			j.Failure = later(j.Failure, end)
		}
	case job.Crashed:
		j.Failure = later(j.Failure, end)
	}
	if j.Took == 0 && o.State != job.Running {
		j.Took = o.Took
	}
	retried := waits || o.State == job.Running && o.Attempt > 1
	j.Failed = j.Failure.After(j.Success) && !retried
	return j, true
}

// neverRan reports whether an outcome is only a request for the first run of a job: see [job.Trigger].
func neverRan(o job.Outcome) bool { return o.State == job.Removed && o.Tick.IsZero() }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
