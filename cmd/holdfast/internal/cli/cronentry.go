package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// cronEntry is one running job.
type cronEntry struct {
	cronJob
	drain chan struct{}   // closes when the job must begin no further tick; a command that runs continues
	ended chan struct{}   // closes when no command runs any more after that
	waits context.Context // ends with drain, or when cron ends
	stop  context.CancelFunc
	looks chan struct{} // full while a look at the machine lasts

	// crond.mu guards these fields.
	looked bool
	unfit  error // why this machine cannot run the job, as the last look found; nil if it can
}

// leave makes the entry begin no further tick. It is called once.
func (e *cronEntry) leave() {
	close(e.drain)
	e.stop()
}

// start starts a job. The caller holds d.mu.
func (d *crond) start(c cronJob) {
	e := &cronEntry{cronJob: c, drain: make(chan struct{}), ended: make(chan struct{}), looks: make(chan struct{}, 1)}
	e.waits, e.stop = context.WithCancel(d.hard)
	name := c.spec.Name
	d.jobs[name], d.runs[name] = e, append(d.runs[name], e)
	spec := c.spec
	spec.Drain = e.drain
	spec.Logger = d.logger()
	spec.Ready = func() error { return d.ready(e) }
	spec.OnOutcome = func(o job.Outcome) {
		if o.State == job.Done {
			d.note("job %q: %s", name, o)
		}
	}
	if c.onFailure != "" {
		spec.OnAlert = func(a job.Alert) { d.alert(c, a) }
	}
	d.wait.Go(func() {
		defer d.forget(e)
		var err error
		for said := false; ; said = true {
			err = job.Run(d.hard, d.client, spec, e.run(d))
			if d.drained(e) {
				return
			}
			if !errors.Is(err, job.ErrNoJob) {
				break
			}
			if !said { // the other jobs can run
				d.say("job %q is not run: %s", name, trimmed(err))
			}
			if !d.awaitJob(e, err) {
				return
			}
			d.note("job %q: the value of its lock is that of a job again: it runs", name)
		}
		select {
		case d.broken <- usage(inFlags(err), ""):
		default:
		}
	})
}

// forget removes an entry that has ended.
func (d *crond) forget(e *cronEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := e.spec.Name
	if d.runs[name] = slices.DeleteFunc(d.runs[name], func(o *cronEntry) bool { return o == e }); len(d.runs[name]) == 0 {
		delete(d.runs, name)
	}
	e.stop()
	close(e.ended)
}

// drained reports whether a job was replaced or removed. The end of its Run is then no error.
func (d *crond) drained(e *cronEntry) bool {
	select {
	case <-e.drain:
		return true
	default:
		return false
	}
}

// ready returns why this machine cannot run a job now. If the job must begin no tick any more, it returns nil: Run ends.
func (d *crond) ready(e *cronEntry) error {
	_, err := e.find(e.waits, nil)
	if e.waits.Err() != nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e.looked, e.unfit = true, err
	return err
}

// lookAgain is the time between two looks at a lock whose value is no outcome of a job. Only tests change it.
var lookAgain = 10 * time.Second

// awaitJob waits until the value of a job's lock is no longer why Run has ended. It returns false if the job must begin no
// tick any more. Meanwhile this machine is not ready for the job.
func (d *crond) awaitJob(e *cronEntry, why error) bool {
	for errors.Is(why, job.ErrNoJob) {
		d.mu.Lock()
		e.looked, e.unfit = true, errors.New(trimmed(why))
		d.mu.Unlock()
		select {
		case <-e.waits.Done():
			return false
		case <-time.After(lookAgain):
		}
		ctx, cancel := context.WithTimeout(e.waits, lookAgain)
		if _, err := job.Last(ctx, d.client, e.spec.Name); err == nil || errors.Is(err, job.ErrNoJob) {
			why = err
		}
		cancel()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e.unfit = nil
	return true
}

// readiness returns for each job whether this machine can run it, as far as it has looked.
func (d *crond) readiness() map[string]error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]error{}
	for name, e := range d.jobs {
		if e.looked {
			all[name] = e.unfit
		}
	}
	return all
}

// retireTime is the time for which one try to store that a job left the file may last. Only tests change it.
var retireTime = 30 * time.Second

// retire stores that a job left the file, so that it does not count as overdue. First it waits for the end of its commands:
// the job may have changed before it left the file, and then an older command may run. It goes on while another machine
// runs the job or the nodes do not answer, until the job comes back into the file or cron ends.
func (d *crond) retire(spec job.Spec) {
	name := spec.Name
	for told := false; ; {
		d.mu.Lock()
		back, runs := d.jobs[name] != nil, slices.Clone(d.runs[name])
		d.mu.Unlock()
		switch {
		case back || d.hard.Err() != nil:
			return
		case len(runs) > 0:
			<-runs[0].ended
			continue
		}
		ctx, cancel := context.WithTimeout(d.hard, retireTime)
		err := spec.Retire(ctx, d.client, "")
		cancel()
		switch {
		case err == nil, errors.Is(err, job.ErrNeverRan), errors.Is(err, job.ErrNoJob), d.hard.Err() != nil:
			return
		case told:
		case errors.Is(err, holdfast.ErrHeld):
			told = true
			d.detail("job %q left the file here; cron stores that when the run on another machine has ended", name)
		default:
			told = true
			d.say("job %q left the file, but the nodes do not know it; until cron can store it, the job counts as overdue: %s", name, trimmed(err))
		}
		select { // an error may come at once
		case <-d.hard.Done():
		case <-time.After(time.Second):
		}
	}
}
