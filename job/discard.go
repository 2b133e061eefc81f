package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/verdict"
)

// Discard replaces the value of a job's lock if it is no outcome of a job: another program stored it, or it is damaged. The
// job then never ran. Processes that run it begin it again, or [SetTick] does. Discard does nothing if the value is an
// outcome, or if there is none.
//
// The error matches [ErrNoJob] if a newer version of Holdfast stored the outcome: it is not replaced. Otherwise it is one of
// [SetTick].
func Discard(ctx context.Context, client *holdfast.Client, name string) error {
	if ctx == nil {
		return noContext("Discard", name)
	}
	if err := checkNested(ctx, client, name); err != nil {
		return err
	}
	lease, err := client.Mutex(name).Lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_ = lease.Unlock(bounded) // if this fails, the lock ends with its TTL
	}()
	value, err := lease.Load(ctx)
	if err != nil {
		return err
	}
	_, err = decode(value)
	var newer unreadable
	switch {
	case err == nil:
		return nil
	case errors.As(err, &newer) && newer.format != form:
		return fmt.Errorf("job %q: %w", name, err)
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	var none *Outcome
	o := none.replaced(Removed, Action{At: now.UTC(), By: verdict.Holder{Owner: lease.Owner()}.String()})
	o.Fence = lease.Fence()
	text, err := o.encode()
	if err != nil {
		return err
	}
	return lease.Store(ctx, text)
}
