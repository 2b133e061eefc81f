package sample

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
)

// jobs knows the last outcome of each job. A list of all jobs costs a round trip for each, so it is read seldom. In
// between, a job is read again when its lock changes.
type jobs struct {
	known   map[string]job.Outcome
	running map[string]int64 // by name: token of the lock in the reading before
	next    time.Time        // when to list all jobs again
	err     string
}

const (
	listJobsEvery  = 10 * time.Second
	retryJobsAfter = 2 * time.Second
	mostLooks      = 50 // jobs or elections that are read between two lists, in one reading
)

// read returns the jobs.
func (j *jobs) read(ctx context.Context, client *holdfast.Client, s *State) ([]Job, string) {
	if s.Error != "" { // too few nodes answer, so the known jobs stay
		return j.list(), s.Error
	}
	if j.known == nil {
		j.known = map[string]job.Outcome{}
	}
	running := s.ofKind(admin.KindJob)
	if began := time.Now(); !began.Before(j.next) {
		all, err := job.List(ctx, client)
		if j.err = ""; err != nil {
			j.err = trimmed(err)
		}
		if err == nil || len(all) > 0 {
			j.known = all
		}
		// However many jobs there are, their list takes a tenth of the time at most.
		pause := max(listJobsEvery, 10*time.Since(began))
		if err != nil {
			pause = retryJobsAfter
		}
		j.next = time.Now().Add(pause)
	} else {
		looks := 0
		for name := range changed(j.running, running) {
			if looks++; looks > mostLooks {
				break
			}
			if last, err := job.Last(ctx, client, name); err == nil && last != nil {
				j.known[name] = *last
			}
		}
	}
	j.running = running
	for name, o := range j.known {
		if o.State != job.Running || running[name] != 0 {
			continue
		}
		if status, err := client.Status(ctx, name); err == nil && !status.Held {
			o.State = job.Crashed
			j.known[name] = o
		}
	}
	return j.list(), j.err
}

func (j *jobs) list() []Job {
	list := []Job{}
	for name, o := range j.known {
		v := Job{
			Name: printable.Quoted(name), State: printable.Text(string(o.State)), Tick: millis(o.Tick), Host: printable.Text(o.Host),
			Started: millis(o.Started), Took: -1, Error: printable.Text(o.Error), Next: millis(o.Next), Schedule: printable.Text(o.Schedule),
		}
		if o.State == job.Done || o.State == job.Failed || o.State == job.Interrupted {
			v.Took = o.Took.Milliseconds()
		}
		list = append(list, v)
	}
	byName(list, func(v Job) string { return v.Name })
	return list
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
