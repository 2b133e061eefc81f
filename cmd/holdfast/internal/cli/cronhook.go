package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/job"
)

// hookTime is the time for the command of ON_FAILURE.
const hookTime = time.Minute

// failed reports whether the command of ON_FAILURE runs after an outcome: the run failed or crashed, and no attempt of
// its tick follows.
func (c cronJob) failed(o job.Outcome) bool {
	return c.onFailure != "" && (o.State == job.Failed || o.State == job.Crashed) && o.Retry.IsZero()
}

// hook runs the command of ON_FAILURE after an outcome. One machine of the fleet stores an outcome, and only that one runs
// the command. It has no lock: it may overlap with the next run.
func (d *crond) hook(c cronJob, o job.Outcome) {
	complain := func(format string, args ...any) {
		d.say("job %q: ON_FAILURE: %s", c.spec.Name, fmt.Sprintf(format, args...))
	}
	var user *childprocess.User
	if c.user != "" {
		var err error
		if user, err = childprocess.LookUpUser(c.user); err != nil {
			complain("%v", err)
			return
		}
	}
	env := d.settings.inherited(false)
	if user != nil {
		env = append(env, "HOME="+user.Home, "USER="+user.Name, "LOGNAME="+user.Name)
	}
	exit := ""
	if o.Exit != nil {
		exit = fmt.Sprint(*o.Exit)
	}
	env = slices.Concat(env, c.env, []string{
		"HOLDFAST_NAME=" + c.spec.Name, tickVariable(job.Tick{Time: o.Tick}), "HOLDFAST_RESULT=" + string(o.State),
		"HOLDFAST_ERROR=" + withoutNUL(o.Error), "HOLDFAST_EXIT=" + exit,
	})
	said := labelled{name: c.spec.Name}
	child, err := d.startLine(c.onFailure, c, &said, childprocess.Command{Env: env, User: user, Report: d.tell})
	if err != nil {
		complain("%v", err)
		return
	}
	defer said.finish()
	defer child.Finish()
	late := time.NewTimer(hookTime)
	defer late.Stop()
	for over := d.hard.Done(); ; {
		select {
		case <-child.Exited():
		case <-late.C:
			complain("it takes too long: ending it")
			child.End(d.grace)
		case <-over: // cron ends, and waits as long as for a command
			over = nil
			late.Reset(d.grace)
			continue
		}
		break
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
