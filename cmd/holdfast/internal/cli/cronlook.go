package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// This file bounds the time of a look at this machine. A file or a folder on a server that hangs does not answer, and
// nothing can stop such a call. So a goroutine makes it, and may last until the process ends.

// startTime is the time within which the process of a command must come to its folder, after a look has found everything.
const startTime = 30 * time.Second

// lookTime is the time for one look at what a job needs of this machine.
const lookTime = 5 * time.Second

// find returns what this machine has for a run of the job. If more is not nil, find calls it too, with the same bound. The
// error is the reason why this machine cannot run the job, or the cause of ctx. At most one look of a job lasts: while it
// hangs, find begins no other one.
func (e *cronEntry) find(ctx context.Context, more func()) (cronHost, error) {
	var found cronHost
	err := e.bounded(ctx, e.looks, func(ctx context.Context) (err error) {
		if more != nil {
			more()
		}
		found, err = e.host(ctx)
		return err
	})
	if err != nil {
		return cronHost{}, err // the goroutine may still use found
	}
	return found, nil
}

// bounded calls look in a goroutine, and waits until it returns, ctx ends or lookTime is over. looks has place for one
// look. The context of look ends with this wait.
func (c *cronJob) bounded(ctx context.Context, looks chan struct{}, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lookTime, c.silent(lookTime))
	defer cancel()
	select {
	case looks <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	found := make(chan error, 1)
	go func() {
		defer func() { <-looks }()
		found <- look(ctx)
	}()
	select {
	case err := <-found:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// silent returns the error for a machine that gives no answer within this time.
func (c *cronJob) silent(within time.Duration) error {
	return fmt.Errorf("no answer within %s from %s; does a file server hang?", within, strings.Join(c.needs(), ", "))
}

// needs returns what the job needs of this machine, for an error.
func (c *cronJob) needs() (all []string) {
	for _, need := range []struct{ kind, value string }{{"user", c.user}, {"dir", c.dir}, {"env-file", c.envFile}, {"SHELL", c.shell()}} {
		if need.value != "" {
			all = append(all, need.kind+"="+need.value)
		}
	}
	return all
}

// misfit is a job that this machine cannot run.
type misfit struct {
	*cronJob
	why error
}

// misfits returns the jobs that this machine cannot run, in the order of the file.
func misfits(jobs []cronJob) (all []misfit) {
	why := make([]error, len(jobs))
	var looks sync.WaitGroup
	for i := range jobs {
		looks.Go(func() {
			c := &jobs[i]
			why[i] = c.bounded(context.Background(), make(chan struct{}, 1), func(ctx context.Context) error { _, err := c.host(ctx); return err })
		})
	}
	looks.Wait()
	for i, err := range why {
		if err != nil {
			all = append(all, misfit{&jobs[i], err})
		}
	}
	return all
}
