package sample

import "github.com/holdfast-go/holdfast/job"

// This file tells the attempts of a job from one another. Two readings may show the same attempt in two ways: as the last
// outcome, and later in the history.

// runID identifies an attempt of one job. The times are in µs.
type runID struct {
	tick, started int64
	attempt       int
}

// runOf returns the attempt of an outcome.
func runOf(o job.Outcome) runID { return runID{o.Tick.UnixMicro(), o.Started.UnixMicro(), o.Attempt} }

func bad(s job.State) bool { return s == job.Failed || s == job.Crashed }

// lastFailure returns the newest attempt that failed or crashed, and how it ended. It is zero if the history has none.
func lastFailure(o job.Outcome) (runID, job.State) {
	if bad(o.State) {
		return runOf(o), o.State
	}
	for i := range o.Book.Past {
		if r := &o.Book.Past[i]; bad(r.State) {
			return runID{r.Tick.UnixMicro(), r.Started.UnixMicro(), r.Attempt}, r.State
		}
	}
	return runID{}, ""
}

// lastEnd returns when the newest attempt of the tick of o failed, or when it began if it crashed. It is 0 if the history
// has no such attempt.
func lastEnd(o job.Outcome) int64 {
	for i := range o.Book.Past {
		r := &o.Book.Past[i]
		if !r.Tick.Equal(o.Tick) {
			break
		}
		if bad(r.State) {
			return millis(r.Started.Add(r.Took))
		}
	}
	return 0
}

// crashed reports whether the last attempt that failed or crashed did crash.
func (j *Job) crashed() bool { return j.ended == job.Crashed || j.State == string(job.Crashed) }

// failedAnew reports whether an attempt of the job failed or crashed since the reading before.
func (j *Job) failedAnew(before *Job) bool {
	switch {
	case !j.Failing, before.unsure && j.lastBad == before.run: // it may have crashed long ago
		return false
	case j.lastBad != (runID{}):
		return j.lastBad != before.lastBad
	}
	return !before.Failing || j.Failed > before.Failed // the history does not have the attempt
}

// doneAgain reports whether a run of the job was done since the reading before, which showed it as failing. A repetition
// that begins and an operator who sets the tick also end the failure, but they are no success.
func (j *Job) doneAgain(before *Job) bool {
	return before.Failing && !j.Failing && j.Done > before.Done
}
