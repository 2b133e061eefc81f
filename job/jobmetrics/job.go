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

	// NeverRan says that the nodes know no run. All fields below except Overdue are zero then.
	NeverRan bool

	Success time.Time     // the end of the last run that was done; zero: there was none
	Failure time.Time     // the end of the last run that failed or crashed; the start of a crashed run if its end is not known
	Next    time.Time     // the next tick; zero: unknown
	Took    time.Duration // the duration of the last run that was done, or else of the last run; 0: unknown
	Overdue time.Duration // for how long the next tick has been due; 0: it is not, or the job runs or is paused
	Running time.Duration // for how long the present run has lasted; 0: there is none

	Runs    map[job.State]int // the runs that ended, by state
	Retries int               // the attempts that failed and were repeated
	Missed  int               // the ticks that no process ran
	Paused  bool
	Failed  bool // the last run failed or crashed, and no retry is pending or under way; interrupted runs do not count
}

// Of returns the state of the job with this outcome at the time now, by the nodes' clocks. exists is false if the job was
// removed or retired: it has no state then. An outcome with the state [job.Running] counts as a run that lasts: see
// [Settle].
func Of(cluster, name string, o job.Outcome, now time.Time) (j Job, exists bool) {
	if o.State == job.Removed || o.Book.Retired != nil {
		return Job{}, false
	}
	b := o.Book
	j = Job{
		Cluster: cluster, Name: name, Success: b.Done, Failure: b.Failed, Next: o.Next, Took: b.Took, Overdue: o.Overdue(now),
		Runs: b.Runs, Retries: b.Retried, Missed: b.Missed, Paused: b.Paused != nil,
	}
	end := o.Started.Add(o.Took)
	switch o.State { // an older version stored no Book, and nobody has stored a crash that a reader finds
	case job.Running:
		j.Running = max(now.Sub(o.Started), time.Nanosecond)
	case job.Done:
		j.Success, j.Took = later(j.Success, end), cmp.Or(j.Took, o.Took)
	case job.Failed:
		if o.Retry.IsZero() {
			j.Failure = later(j.Failure, end)
		}
	case job.Crashed:
		j.Failure = later(j.Failure, end)
	}
	if j.Took == 0 && o.State != job.Running {
		j.Took = o.Took
	}
	retried := !o.Retry.IsZero() || o.State == job.Running && o.Attempt > 1
	j.Failed = j.Failure.After(j.Success) && !retried
	return j, true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
