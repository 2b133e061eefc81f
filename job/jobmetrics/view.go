package jobmetrics

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// atOnce is the largest number of jobs that a view reads at the same time.
const atOnce = 32

// view has the jobs of one client, as they were read last.
type view struct {
	client  *holdfast.Client
	cluster string

	mu      sync.Mutex
	own     map[string]*own
	changed bool // own changed since the last question

	asking sync.Mutex              // held for a whole reading, so that one scraper asks and the others wait; before mu
	known  map[string]*job.Outcome // nil: the nodes know no run
	next   time.Time               // when to ask the nodes again

	unreadable map[string]time.Time // by job: the first reading that could not decode its outcome
}

// own is a job that the process runs.
type own struct {
	schedule *job.Schedule // nil: unknown
	since    time.Time     // of the first reading, by the nodes' clocks; zero: there was none
}

// set replaces the jobs that the process runs. It keeps the beginning of those that it had with the same schedule.
func (v *view) set(jobs map[string]*job.Schedule) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.own
	v.own, v.changed = map[string]*own{}, true
	for name, schedule := range jobs {
		v.own[name] = &own{schedule: schedule}
		if old := before[name]; old != nil && old.same(schedule) {
			v.own[name].since = old.since
		}
	}
}

// same reports whether the ticks of o are those of a schedule.
func (o *own) same(schedule *job.Schedule) bool {
	if o.schedule == nil || schedule == nil {
		return o.schedule == schedule
	}
	return o.schedule.String() == schedule.String()
}

// present returns the jobs that the process runs, and whether they changed since the call before. It notes that they run
// since now at the latest, if now is a time of the nodes' clocks.
func (v *view) present(now time.Time, ofNodes bool) (jobs map[string]own, changed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	changed, v.changed = v.changed, false
	jobs = map[string]own{}
	for name, o := range v.own {
		if o.since.IsZero() && ofNodes {
			o.since = now
		}
		jobs[name] = *o
	}
	return jobs, changed
}

// read returns the states of the jobs that the process runs, or of all jobs.
func (v *view) read(ctx context.Context, all bool) []Job {
	v.asking.Lock()
	defer v.asking.Unlock()
	now, err := v.client.Now(ctx)
	if err != nil {
		now = time.Now()
	}
	own, changed := v.present(now, err == nil)
	maps.DeleteFunc(v.known, func(name string, _ *job.Outcome) bool { _, kept := own[name]; return !kept && !all })
	maps.DeleteFunc(v.unreadable, func(name string, _ time.Time) bool { _, kept := v.known[name]; return !kept })
	if began := time.Now(); changed || !began.Before(v.next) {
		v.ask(ctx, own, all)
		v.next = time.Now().Add(max(Fresh, rest*time.Since(began)))
	}
	var jobs []Job
	for name, o := range v.known {
		mine, has := own[name]
		if o == nil {
			o = &job.Outcome{State: job.Removed}
		}
		if has && o.State == job.Removed && !neverRan(*o) { // it begins here, after the removal
			mine.since = later(mine.since, o.Started)
			o = &job.Outcome{State: job.Removed}
		}
		j, exists := Of(v.cluster, name, *o, now)
		if !exists || j.NeverRan && !has {
			continue
		}
		if j.NeverRan || j.Unreadable {
			j.Overdue = v.since(name, mine, j.Unreadable, now).late(now)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// since returns o. If its outcome cannot be read, it begins at the reading that found that: until then it ran its ticks.
func (v *view) since(name string, o own, unreadable bool, now time.Time) own {
	found, before := v.unreadable[name]
	switch {
	case !unreadable:
		delete(v.unreadable, name)
		return o
	case !before:
		if found = now; v.unreadable == nil {
			v.unreadable = map[string]time.Time{}
		}
		v.unreadable[name] = now
	}
	o.since = later(o.since, found)
	return o
}

// late returns for how long the first tick of a job has been due, of which the nodes know no run.
func (o own) late(now time.Time) time.Duration {
	if o.schedule == nil || o.since.IsZero() {
		return 0
	}
	first := o.schedule.Next(o.since)
	if first.IsZero() {
		return 0
	}
	return max(0, now.Sub(first))
}

// ask reads the outcomes.
func (v *view) ask(ctx context.Context, jobs map[string]own, all bool) {
	if v.known == nil {
		v.known = map[string]*job.Outcome{}
	}
	var list map[string]job.Outcome
	if all {
		var err error
		if list, err = job.List(ctx, v.client); err == nil {
			maps.DeleteFunc(v.known, func(name string, _ *job.Outcome) bool { // the nodes forgot it
				_, listed := list[name]
				_, own := jobs[name]
				return !listed && !own
			})
		}
	}
	names := slices.Sorted(maps.Keys(list))
	names = names[:min(len(names), Most)]
	for name := range jobs {
		if _, listed := list[name]; !listed {
			names = append(names, name)
		}
	}
	var wait sync.WaitGroup
	var mu sync.Mutex // for known
	slots := make(chan struct{}, atOnce)
	for _, name := range names {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			var o *job.Outcome
			var err error
			if last, listed := list[name]; listed {
				o, err = settle(ctx, v.client, name, &last)
			} else {
				o, err = Settle(ctx, v.client, name)
			}
			if errors.Is(err, job.ErrNoJob) {
				o, err = &job.Outcome{State: job.Unreadable}, nil
			}
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			v.known[name] = o
		})
	}
	wait.Wait()
}
