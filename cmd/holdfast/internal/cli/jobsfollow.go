package cli

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// runStage is how far a run that was asked for has come.
type runStage int

const (
	runUnknown   runStage = iota // the nodes do not answer
	runWaits                     // the request waits for a machine
	runWithdrawn                 // an operator withdrew the request
	runBegun                     // it runs, or waits for its retry
	runLeft                      // the time of its next attempt is over by beginTime, and no machine has begun it
	runCrashed                   // its machine died or lost the lock, and no other machine has said what follows
	runEnded                     // no attempt of it follows
	runForgotten                 // it ended, and the history has it no longer
)

// askedRun is what a look shows about a run that was asked for.
type askedRun struct {
	job.PastRun // the last attempt: from runBegun to runEnded
	stage       runStage
	due         time.Time  // of runBegun: when its next attempt may begin; zero if it runs
	by          job.Action // of runWithdrawn
	err         error      // of runUnknown
}

// lookAtRun looks for the run that was asked for at this time, by the nodes' clocks.
func lookAtRun(ctx context.Context, client *holdfast.Client, name string, asked time.Time) askedRun {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	o, err := job.Last(bounded, client, name)
	if err != nil {
		return askedRun{err: err}
	}
	if o != nil && o.State == job.Running && manualSince(o.Manual, o.Tick, asked) {
		settled, err := jobmetrics.Settle(bounded, client, name)
		switch {
		case err != nil:
			return askedRun{err: err}
		case settled != nil && settled.State == job.Crashed && settled.Tick.Equal(o.Tick): // or another machine has just stored that
			past := *o
			past.State = job.Crashed
			return askedRun{PastRun: past.History()[0], stage: runCrashed}
		}
		o = settled
	}
	if o == nil {
		return askedRun{stage: runForgotten}
	}
	r := stageOf(o, asked)
	if !r.due.IsZero() {
		if now, err := client.Now(bounded); err == nil && now.Sub(r.due) > beginTime {
			return askedRun{PastRun: o.History()[0], stage: runLeft}
		}
	}
	return r
}

// manualSince reports whether a run was asked for at this time or later. Ticks are stored to the microsecond.
func manualSince(manual bool, tick, asked time.Time) bool {
	return manual && !tick.Before(asked.Truncate(time.Microsecond))
}

// stageOf returns the stage of the run that was asked for at this time, in an outcome that was settled.
func stageOf(o *job.Outcome, asked time.Time) askedRun {
	if manualSince(o.Manual, o.Tick, asked) && (o.State == job.Running || !o.Retry.IsZero()) {
		r := askedRun{PastRun: job.PastRun{State: job.Running, Host: o.Host}, stage: runBegun}
		if o.State != job.Running {
			r.due = o.Retry
		}
		return r
	}
	for _, r := range o.History() { // the newest first
		if manualSince(r.Manual, r.Tick, asked) {
			return askedRun{PastRun: r, stage: runEnded}
		}
	}
	if a := o.Book.Asked; a != nil && a.At.Equal(asked) {
		return askedRun{stage: runWaits}
	}
	found := askedRun{stage: runForgotten}
	for _, a := range o.Book.Audit { // the newest first; the first one after the request counts
		switch {
		case !a.At.After(asked):
			return found
		case a.What == "pause", a.What == "cancel", a.What == "remove", a.What == "reset":
			found = askedRun{stage: runWithdrawn, by: a}
		}
	}
	return found
}
