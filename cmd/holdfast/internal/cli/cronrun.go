package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/job"
)

// run returns the function that runs the command for a tick. A command that runs continues when the file is read
// again.
func (e *cronEntry) run(d *crond) job.Func {
	return func(ctx context.Context, tick job.Tick) error {
		lease, _ := holdfast.FromContext(ctx)
		var timeout <-chan time.Time
		limited := ctx
		if e.timeout > 0 {
			timer := time.NewTimer(e.timeout)
			defer timer.Stop()
			timeout = timer.C
			var cancel context.CancelFunc
			limited, cancel = context.WithTimeoutCause(ctx, e.timeout, fmt.Errorf("%w of %s", job.ErrTimeout, e.timeout))
			defer cancel()
		}
		var nodes []string
		host, err := e.find(limited, func() { nodes = d.settings.nodesNow() })
		switch {
		case err != nil && d.hard.Err() != nil:
			return errors.New("cron was ended before the command began")
		case err != nil: // the machine was ready before the tick was taken
			return err
		}
		dog, err := childprocess.StartWatchdog(d.grace, d.settings.windowOrDefault(), d.tell)
		if err != nil {
			return err
		}
		defer dog.Dismiss()
		said := labelled{name: lease.Name()}
		if !d.plain && !e.noOutput {
			said.end = &tail{hide: hiding(host.inEnv, nodes)}
		}
		h := newHolding(lease, []string{lease.Name()}, nil)
		start, started := context.WithTimeoutCause(limited, startTime, e.silent(startTime))
		defer started()
		c, err := d.startLine(e.command, e.cronJob, &said, childprocess.Command{
			Env: slices.Concat(d.settings.environment(h, false), host.env, []string{tickVariable(tick)}),
			Dir: e.dir, Within: start, User: host.user, Until: until(h), Watchdog: dog, Report: d.tell,
		})
		if err != nil {
			return err
		}
		defer func() { // the command has ended, or was ended
			said.finish()
			code := c.Exit().Code()
			job.SetResult(ctx, job.Result{Exit: &code, Output: said.end.text()})
		}()
		defer c.Finish()
		select {
		case <-c.Exited():
			if c.Left() {
				c.End(d.grace)
			}
			return ended(c)
		case <-lease.Context().Done():
			d.tell("job %q: its lock is lost: ending the command", lease.Name())
			c.End(d.grace)
			return context.Cause(lease.Context())
		case <-d.hard.Done():
			c.End(d.grace)
			return fmt.Errorf("cron was ended; the command: %w", orDone(ended(c)))
		case <-timeout:
			c.End(d.grace)
			return fmt.Errorf("%w of %s", job.ErrTimeout, e.timeout)
		}
	}
}

// startLine starts a line of a job by its shell, as with cmd, with no input. The output goes to the outlets under the name
// of said, unless d passes it on as it is. The caller calls said.finish in the end.
func (d *crond) startLine(line string, c cronJob, said *labelled, cmd childprocess.Command) (*childprocess.Child, error) {
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	cmd.Path, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.shell(), stdin, os.Stdout, os.Stderr
	cmd.Args = []string{cmd.Path, "-c", line}
	if !d.plain {
		if cmd.Stdout, err = said.pipe(d.out); err != nil {
			return nil, err
		}
		defer cmd.Stdout.Close()
		if cmd.Stderr, err = said.pipe(d.err); err != nil {
			return nil, err
		}
		defer cmd.Stderr.Close()
		cmd.User.Own(cmd.Stdout, cmd.Stderr)
	}
	return childprocess.Start(cmd)
}

// shell returns the shell that runs the command.
func (c cronJob) shell() string {
	for _, kv := range slices.Backward(c.env) {
		if path, ok := strings.CutPrefix(kv, "SHELL="); ok {
			return path
		}
	}
	return "/bin/sh"
}

var errDone = errors.New("exit status 0")

func orDone(err error) error {
	if err == nil {
		return errDone
	}
	return err
}
