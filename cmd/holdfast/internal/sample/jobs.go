package sample

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// jobs knows each job. A list of all jobs costs a round trip for each, so it is made seldom, and beside the readings: it
// may take longer than one. In between, a job is read again when its lock changes.
type jobs struct {
	known   map[string]Job   // by the name as it is stored
	running map[string]int64 // by name: token of the lock in the reading before
	next    time.Time        // when to list all jobs again
	at      int64            // the time of the last complete list; 0: there was none
	err     string
	listing chan listed // not nil: a list goes on
	cancel  context.CancelFunc
}

const (
	listJobsEvery  = 10 * time.Second
	retryJobsAfter = 2 * time.Second
	mostList       = 2 * time.Minute // for one list
	waitForList    = time.Second     // in the reading that begins a list
	mostLooks      = 50              // jobs or elections that are read between two lists, in one reading
	mostDue        = 20              // jobs that are read again because their next tick has come, in one reading
	listEach       = 2 * 1000        // ms between two readings of such a job
)

// read returns all jobs, and the time of the last complete list.
func (j *jobs) read(ctx context.Context, client *holdfast.Client, s *State) ([]Job, int64, string) {
	if s.Error != "" { // too few nodes answer, so the known jobs stay
		return j.list(), j.at, s.Error
	}
	if ctx.Err() != nil {
		return j.list(), j.at, trimmed(ctx.Err())
	}
	if j.known == nil {
		j.known = map[string]Job{}
	}
	running := s.ofKind(admin.KindJob)
	j.listAll(ctx, client, s.At, running)
	looks, due := 0, 0
	again := changed(j.running, running)
	for name, v := range j.known {
		if v.State == string(job.Running) && running[name] == 0 {
			again[name] = true
		}
		// The run of a short job may come between two readings.
		if due < mostDue && v.Next > 0 && v.Paused == "" && !v.Retired && s.At > v.Next+longReading.Milliseconds() && s.At > v.Read+listEach {
			again[name] = true
			due++
		}
	}
	for name := range again {
		if looks++; looks > mostLooks {
			if running[name] != 0 { // the next reading looks at it
				delete(running, name)
			} else if before := j.running[name]; before != 0 {
				running[name] = before
			}
			continue
		}
		look := jobmetrics.Settle
		if running[name] != 0 { // somebody has the lock, so no question about it is needed
			look = job.Last
		}
		if last, err := look(ctx, client, name); err == nil && last != nil {
			j.known[name] = j.of(name, *last, s.At, running[name])
		}
	}
	j.running = running
	return j.list(), j.at, j.err
}

// of returns a job for people. The outcome of a run that crashed says running until the next holder of the lock changes
// it, so a run that was found to have crashed stays crashed. token is that of the lock now, 0 if nobody has it. at is the
// time of the reading.
func (j *jobs) of(name string, o job.Outcome, at, token int64) Job {
	before := j.known[name]
	if o.State == job.Running && token != o.Fence && before.State == string(job.Crashed) && before.run == runOf(o) {
		o.State, o.Error = job.Crashed, cmp.Or(o.Error, before.Error)
	}
	return jobOf(name, o, at)
}

// jobOf returns a job for people. at is the time of the reading.
func jobOf(name string, o job.Outcome, at int64) Job {
	v := Job{
		Name: printable.Quoted(name), State: printable.Text(string(o.State)), Tick: millis(o.Tick), Host: printable.Text(o.Host),
		Started: millis(o.Started), Took: -1, Error: printable.Text(o.Error), Exit: o.Exit, Next: millis(o.Next), Schedule: printable.Text(o.Schedule),
		Done: millis(o.Book.Done), Failed: millis(o.Book.Failed), Missed: o.Book.Missed, Retired: o.Book.Retired != nil, Read: at,
		Retry: millis(o.Retry), run: runOf(o), resumed: millis(o.Book.Resumed),
	}
	v.lastBad, v.ended = lastFailure(o)
	if a := o.Book.Asked; a != nil && o.Book.Paused == nil && at-millis(a.At) < job.AskedFor.Milliseconds() {
		v.Asked = millis(a.At)
	}
	if o.State == job.Done || o.State == job.Failed || o.State == job.Interrupted {
		v.Took = o.Took.Milliseconds()
	}
	end := millis(o.Started.Add(o.Took))
	switch o.State {
	case job.Done:
		v.Done = max(v.Done, end)
	case job.Failed, job.Crashed:
		v.Failed = max(v.Failed, end)
	case job.Running, job.Interrupted: // of the same tick: the book does not count an attempt that is repeated
		v.Failed = max(v.Failed, lastEnd(o))
	}
	v.Failing = v.Failed > 0 && v.Failed > v.Done && o.State != job.Reset && o.State != job.Removed ||
		o.State == job.Running && o.Failures > 0
	if o.State != job.Failed {
		v.Retry = 0
	}
	v.Hangs = jobmetrics.Hangs(o, time.UnixMilli(at))
	if o.Book.Paused != nil {
		v.Paused = cmp.Or(printable.Text(o.Book.Paused.By), "somebody")
	}
	if late := o.Overdue(time.UnixMilli(at)); late > jobmetrics.MostLate {
		v.Overdue = at - late.Milliseconds()
	}
	return v
}

func (j *jobs) list() []Job {
	list := make([]Job, 0, len(j.known))
	for _, v := range j.known {
		if v.State != string(job.Removed) {
			list = append(list, v)
		}
	}
	return list
}

// SetJobs sets Jobs to the first of all jobs, those that need attention first, and JobsTotal to their number.
func (s *State) SetJobs(all []Job) {
	slices.SortFunc(all, orderJobs)
	s.jobs, s.Jobs, s.JobsTotal = all, all[:min(len(all), MostNames)], len(all)
}

// ofKind returns the names of a kind that somebody has, and their tokens.
func (s *State) ofKind(kind admin.Kind) map[string]int64 {
	found := map[string]int64{}
	for i := range s.Names {
		n := &s.Names[i]
		if n.Kind != string(kind) || n.token() == 0 {
			continue
		}
		if name, err := strconv.Unquote(n.Key); err == nil {
			found[name] = n.token()
		}
	}
	return found
}

// changed returns the names whose token is new, or which have gone.
func changed(before, now map[string]int64) map[string]bool {
	names := map[string]bool{}
	for name, token := range now {
		if before[name] != token {
			names[name] = true
		}
	}
	for name := range before {
		if now[name] == 0 {
			names[name] = true
		}
	}
	return names
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
