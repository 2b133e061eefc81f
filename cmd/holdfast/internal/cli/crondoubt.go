package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// This file finds what is probably a mistake in a cron file, although the file is right.

// doubts returns a line for each probable mistake, with the name and line of the file.
func doubts(file string, jobs []cronJob) (lines []string) {
	mail := false
	for i := range jobs {
		c := &jobs[i]
		say := func(format string, args ...any) {
			lines = append(lines, fmt.Sprintf("%s:%d: ", file, c.line)+fmt.Sprintf(format, args...))
		}
		if c.sets("TZ") && !strings.HasPrefix(c.spec.Schedule, "CRON_TZ=") {
			say("TZ is only a variable of the command of job %q; its schedule is in UTC. Set CRON_TZ for the schedule", c.spec.Name)
		}
		if c.sets("MAILTO") && !mail {
			mail = true // one line is enough, because the setting usually is for all jobs
			say("MAILTO is only a variable of the command of job %q; holdfast cron sends no mail. Set ON_FAILURE, or see --quiet", c.spec.Name)
		}
		if gap := c.gap(); c.spec.Retries > 0 && c.backoff() >= gap {
			say("a retry of job %q comes %s after a run that failed, but the next tick may come after %s and replaces it; choose a shorter backoff",
				c.spec.Name, c.backoff(), gap)
		}
	}
	return lines
}

// sets reports whether the settings above a job have a variable.
func (c *cronJob) sets(name string) bool {
	return slices.ContainsFunc(c.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// backoff returns the time before each retry.
func (c *cronJob) backoff() time.Duration {
	if c.spec.Backoff > 0 {
		return c.spec.Backoff
	}
	return time.Minute // the default of job.Spec
}

// gap returns the shortest time between two of the next ticks, or a very long time if there are no two.
func (c *cronJob) gap() time.Duration {
	const ticks = 32
	shortest := time.Duration(1<<63 - 1)
	schedule, err := job.ParseSchedule(c.spec.Schedule)
	if err != nil {
		return shortest // cannot happen, because parseCrontab has checked the schedule
	}
	last := schedule.Next(time.Now())
	for range ticks {
		next := schedule.Next(last)
		if last.IsZero() || next.IsZero() {
			break
		}
		shortest, last = min(shortest, next.Sub(last)), next
	}
	return shortest
}
