package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// This file bounds the commands of ON_FAILURE. A job that fails each second may have a slow one, and a fault of the network
// makes all jobs fail at once.

const (
	// mostHooks is the number of commands of ON_FAILURE that a machine runs at a time.
	mostHooks = 8
	// mostOfJob is the number of those of one job that run or wait. They run one after the other.
	mostOfJob = 4
)

// hookQueue has the commands of ON_FAILURE of one job.
type hookQueue struct {
	n    int           // those that run or wait
	last chan struct{} // closes when the last of them has ended
}

// alert runs the command of ON_FAILURE after the earlier ones of the job, when the machine has a place for it. It does not
// wait for that. If too many of the job wait, alert leaves this one out, and says so.
func (d *crond) alert(c cronJob, a job.Alert) {
	leftOut := func(why string) {
		d.say("job %q: ON_FAILURE: left out for the tick %s (%s): %s", c.spec.Name, toSecond(a.Tick), a.Kind, why)
	}
	before, end := d.queueHook(c.spec.Name)
	if end == nil {
		leftOut(fmt.Sprintf("%d commands for earlier ticks run or wait", mostOfJob))
		return
	}
	d.hooks.Go(func() {
		defer end()
		ctx, done := d.hookBound(0)
		defer done()
		if err := d.awaitPlace(ctx, before); err != nil {
			leftOut(err.Error())
			return
		}
		defer func() { <-d.places }()
		d.hook(c, a)
	})
}

// queueHook takes a place in the queue of a job. before closes when the command before it has ended. The caller calls end
// when its own one has ended. If the queue is full, end is nil.
func (d *crond) queueHook(name string) (before <-chan struct{}, end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[name]
	if q == nil {
		first := make(chan struct{})
		close(first)
		q = &hookQueue{last: first}
		d.queues[name] = q
	}
	if q.n == mostOfJob {
		return nil, nil
	}
	own := make(chan struct{})
	before, q.last = q.last, own
	q.n++
	return before, func() {
		close(own)
		d.mu.Lock()
		defer d.mu.Unlock()
		if q.n--; q.n == 0 {
			delete(d.queues, name)
		}
	}
}

// awaitPlace waits until before closes, and takes one of the places of the machine then. It returns the cause of ctx if that
// ends first.
func (d *crond) awaitPlace(ctx context.Context, before <-chan struct{}) error {
	select {
	case <-before:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case d.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errCronEnds = errors.New("cron ends")

// hookBound returns a context that ends after the time most, 0: without that bound, and --grace after the end of cron. The
// caller calls done.
func (d *crond) hookBound(most time.Duration) (ctx context.Context, done func()) {
	ctx, end := context.WithCancelCause(context.Background())
	if most > 0 {
		late := time.AfterFunc(most, func() { end(fmt.Errorf("it takes longer than %s", most)) })
		context.AfterFunc(ctx, func() { late.Stop() })
	}
	stop := context.AfterFunc(d.hard, func() {
		grace := time.AfterFunc(d.grace, func() { end(errCronEnds) })
		context.AfterFunc(ctx, func() { grace.Stop() })
	})
	return ctx, func() { stop(); end(nil) }
}
