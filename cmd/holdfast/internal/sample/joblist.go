package sample

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// This file lists all jobs beside the readings.

// listed is the result of a list of all jobs.
type listed struct {
	jobs map[string]job.Outcome
	err  error
	at   int64 // the time of the reading that began the list
	took time.Duration
}

// listAll begins a list of all jobs if it is time, waits a moment for it, and takes its result. running has the tokens of
// the jobs whose lock somebody has.
func (j *jobs) listAll(ctx context.Context, client *holdfast.Client, at int64, running map[string]int64) {
	wait := time.Duration(0)
	if j.listing == nil && !time.Now().Before(j.next) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), mostList)
		result := make(chan listed, 1)
		j.listing, j.cancel, wait = result, cancel, waitForList
		go func() {
			began := time.Now()
			all, err := job.List(bounded, client)
			result <- listed{all, err, at, time.Since(began)}
		}()
	}
	if j.listing == nil {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case l := <-j.listing:
		j.cancel()
		j.listing = nil
		j.take(l, running)
	case <-timer.C:
	case <-ctx.Done():
	}
}

// take keeps the result of a list.
func (j *jobs) take(l listed, running map[string]int64) {
	if j.err = ""; l.err != nil {
		j.err = trimmed(l.err)
	}
	if l.err == nil || len(l.jobs) > 0 {
		known := make(map[string]Job, len(l.jobs))
		for name, o := range l.jobs {
			before, is := j.known[name]
			v := j.of(name, o, l.at, running[name])
			v.unsure = v.State == string(job.Running) && running[name] == 0 && (!is || before.unsure && before.run == v.run)
			if known[name] = v; before.Read > l.at {
				known[name] = before // it was read again meanwhile
			}
		}
		for name, v := range j.known {
			if _, is := known[name]; !is && (l.err != nil || v.Read > l.at) { // the list could not read it, or it is new
				known[name] = v
			}
		}
		j.known = known
	}
	// However many jobs there are, their list takes a tenth of the time at most.
	pause := max(listJobsEvery, 10*l.took)
	if l.err != nil {
		pause = retryJobsAfter
	} else {
		j.at = l.at
	}
	j.next = time.Now().Add(pause)
}

// close ends a list that goes on.
func (j *jobs) close() {
	if j.listing != nil {
		j.cancel()
		<-j.listing
		j.listing = nil
	}
}
