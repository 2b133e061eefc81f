package robfigcron

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/robfig/cron/v3"
)

// Add adds a job to a scheduler. text is its schedule, as for AddFunc, in the syntax and the time zone of the
// scheduler. All processes of the fleet use the same text, spec and zone. The Spec has no Schedule, Missed, Grace or
// Jitter, because the scheduler decides when a run begins.
//
// The error is one of AddJob of the scheduler, or matches [job.ErrBadSpec].
func Add(c *cron.Cron, client *holdfast.Client, text string, spec job.Spec, fn job.Func) (cron.EntryID, error) {
	if err := check(spec); err != nil {
		return 0, err
	}
	if fn == nil {
		return 0, fmt.Errorf("%w %q: the function is nil; give the work of the job", job.ErrBadSpec, spec.Name)
	}
	r := &runner{client: client, spec: spec}
	ready := make(chan struct{}) // the scheduler may start the job before this function has its schedule
	id, err := c.AddJob(text, cron.FuncJob(func() {
		if <-ready; r.ticks != nil {
			r.run(fn)
		}
	}))
	if err != nil {
		hint := ""
		if strings.HasPrefix(text, "every ") {
			hint = "; an interval is written @" + text
		}
		return 0, fmt.Errorf("robfigcron: job %q: the schedule %q: %w%s", spec.Name, text, err, hint)
	}
	r.ticks, err = ticksOf(c.Entry(id).Schedule, c.Location())
	if err != nil {
		c.Remove(id)
	}
	close(ready)
	return id, err
}

// ticksOf returns the ticks of a schedule of robfig/cron.
func ticksOf(s cron.Schedule, zone *time.Location) (job.Ticks, error) {
	if every, ok := s.(cron.ConstantDelaySchedule); ok { // it counts from the last run, which differs from machine to machine
		schedule, err := job.ParseSchedule("every " + every.Delay.String())
		if err != nil {
			return nil, err
		}
		return schedule, nil
	}
	return zoned{s, zone}, nil
}

// zoned is a schedule in a time zone. A schedule of robfig/cron without a zone of its own uses the zone of the instant.
type zoned struct {
	cron.Schedule
	zone *time.Location
}

func (z zoned) Next(t time.Time) time.Time { return z.Schedule.Next(t.In(z.zone)) }
