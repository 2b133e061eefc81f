package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/job"
)

// hookTime is the time for the command of ON_FAILURE.
const hookTime = time.Minute

// hookVariables returns what the command of ON_FAILURE finds about an alert.
func hookVariables(a job.Alert) []string {
	said, output, exit := a.Last.Error, "", ""
	switch a.Kind {
	case job.AlertFailed:
		if output = a.Last.Output; a.Last.Exit != nil {
			exit = fmt.Sprint(*a.Last.Exit)
		}
	case job.AlertCrashed:
		said = or(said, a.Host+" died, or lost the lock, while it ran the job")
	case job.AlertOverdue:
		said = "no machine began the tick in time; before it, " + a.Last.String()
	}
	return []string{
		tickVariable(job.Tick{Time: a.Tick}), "HOLDFAST_RESULT=" + string(a.Kind), "HOLDFAST_HOST=" + withoutNUL(a.Host),
		"HOLDFAST_ERROR=" + withoutNUL(said), "HOLDFAST_EXIT=" + exit, "HOLDFAST_OUTPUT=" + withoutNUL(output),
	}
}

// hook runs the command of ON_FAILURE after an alert. One machine of the fleet gets an alert, and only that one runs the
// command. It has no lock: it may overlap with the next run.
func (d *crond) hook(c cronJob, a job.Alert) {
	complain := func(format string, args ...any) {
		d.say("job %q: ON_FAILURE: %s", c.spec.Name, fmt.Sprintf(format, args...))
	}
	ctx, done := d.hookBound(hookTime)
	defer done()
	var user *childprocess.User
	if c.user != "" {
		err := c.bounded(ctx, make(chan struct{}, 1), func(context.Context) (err error) {
			user, err = childprocess.LookUpUser(c.user)
			return err
		})
		if err != nil {
			complain("%v", err)
			return
		}
	}
	env := d.settings.inherited(false)
	if user != nil {
		env = append(env, "HOME="+user.Home, "USER="+user.Name, "LOGNAME="+user.Name)
	}
	env = slices.Concat(env, c.env, []string{"HOLDFAST_NAME=" + c.spec.Name}, hookVariables(a))
	said := labelled{name: c.spec.Name}
	child, err := d.startLine(c.onFailure, c, &said, childprocess.Command{Env: env, Within: ctx, User: user, Report: d.tell})
	if err != nil {
		complain("%v", err)
		return
	}
	defer said.finish()
	defer child.Finish()
	select {
	case <-child.Exited():
	case <-ctx.Done(): // at the end of cron it has as long as a command
		complain("%v: ending it", context.Cause(ctx))
		child.End(d.grace)
	}
	if child.Left() {
		child.End(d.grace)
	}
	if err := ended(child); err != nil {
		complain("%v", err)
	}
}

// withoutNUL returns a text that a variable can have.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "") }
