package cli

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// The stage of a run that was asked for, also if its result has left the history while nobody looked.
func TestTheStageOfARequest(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 30, 1, 2, 3, 4567, time.UTC)
	tick := asked.Truncate(time.Microsecond)
	audit := func(later ...job.Action) []job.Action {
		return append(later, job.Action{What: "run", At: asked}, job.Action{What: "pause", At: asked.Add(-time.Hour)})
	}
	after := func(what string) job.Action { return job.Action{What: what, At: asked.Add(time.Second), By: "m1"} }
	run := func(s job.State) job.PastRun { return job.PastRun{Tick: tick, State: s, Manual: true} }
	for name, c := range map[string]struct {
		last job.Outcome
		want runStage
	}{
		"it waits": {job.Outcome{Tick: tick.Add(-time.Hour), State: job.Done, Book: job.Book{Asked: &job.Action{What: "run", At: asked}, Audit: audit()}}, runWaits},
		"a run of an earlier request": {
			job.Outcome{Tick: tick.Add(-time.Hour), State: job.Done, Manual: true, Book: job.Book{Asked: &job.Action{What: "run", At: asked}, Audit: audit()}}, runWaits,
		},
		"it runs":                  {job.Outcome{Tick: tick, State: job.Running, Manual: true, Book: job.Book{Audit: audit()}}, runBegun},
		"it is repeated":           {job.Outcome{Tick: tick, State: job.Failed, Manual: true, Retry: asked.Add(time.Minute), Book: job.Book{Audit: audit()}}, runBegun},
		"it is done":               {job.Outcome{Tick: tick, State: job.Done, Manual: true, Book: job.Book{Audit: audit()}}, runEnded},
		"another run came":         {job.Outcome{Tick: tick.Add(time.Minute), State: job.Running, Book: job.Book{Past: []job.PastRun{run(job.Failed)}, Audit: audit()}}, runEnded},
		"other runs replaced it":   {job.Outcome{Tick: tick.Add(time.Minute), State: job.Done, Book: job.Book{Past: []job.PastRun{{State: job.Done}}, Audit: audit()}}, runForgotten},
		"resumed after that":       {job.Outcome{Tick: tick.Add(time.Minute), State: job.Done, Book: job.Book{Audit: audit(after("resume"))}}, runForgotten},
		"paused":                   {job.Outcome{State: job.Done, Book: job.Book{Audit: audit(after("pause"))}}, runWithdrawn},
		"paused and resumed":       {job.Outcome{State: job.Done, Book: job.Book{Audit: audit(after("resume"), after("pause"))}}, runWithdrawn},
		"withdrawn, and asked for": {job.Outcome{State: job.Done, Book: job.Book{Asked: &job.Action{What: "run", At: asked.Add(time.Minute)}, Audit: audit(after("run"), after("cancel"))}}, runWithdrawn},
	} {
		got := stageOf(&c.last, asked)
		if got.stage != c.want || got.stage == runWithdrawn && got.by.By != "m1" || got.stage == runEnded && !got.Manual {
			t.Errorf("%s: %+v, want stage %d", name, got, c.want)
		}
		if got.stage == runBegun && !got.due.Equal(c.last.Retry) {
			t.Errorf("%s: its next attempt is due at %v, want %v", name, got.due, c.last.Retry)
		}
	}
}
