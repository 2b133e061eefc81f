package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Last returns the last outcome of a job, nil if it never ran. It does not take the lock: an outcome that is being stored
// may or may not be seen. A run whose State is [Running] may also have crashed; [holdfast.Client.Status] says whether
// somebody holds the lock. The error matches [ErrNoJob] or is one of [holdfast.Client.Value].
func Last(ctx context.Context, client *holdfast.Client, name string) (*Outcome, error) {
	value, err := client.Value(ctx, name)
	if err != nil {
		return nil, err
	}
	last, err := decode(value)
	if err != nil {
		return nil, fmt.Errorf("job %q: %w", name, err)
	}
	return last, nil
}

// List returns the last outcomes of all jobs, by name. It reads all keys of the nodes, some at a time. Values that are no
// outcomes of jobs are left out. If the values of some names cannot be read, List returns the other ones and an error.
func List(ctx context.Context, client *holdfast.Client) (map[string]Outcome, error) {
	names, err := client.NamesWithValue(ctx)
	if err != nil {
		return nil, err
	}
	jobs := map[string]Outcome{}
	var unread []error
	for _, name := range names {
		last, err := Last(ctx, client, name)
		switch {
		case errors.Is(err, ErrNoJob):
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			unread = append(unread, err)
		case last != nil:
			jobs[name] = *last
		}
	}
	return jobs, errors.Join(unread...)
}

// SetTick sets the last tick of a job to an instant, as if that tick had been run. The next run is for a later tick. An
// operator needs it after the clocks of a majority of the nodes were ahead: ticks only grow, so the job would not run
// before its last tick.
//
// SetTick also begins a job on a new node set of which a minority is down. Run cannot begin there, because nodes whose
// memory is young may have forgotten an outcome: see [holdfast.Lease.Load]. The operator says that they have not.
func SetTick(ctx context.Context, client *holdfast.Client, name string, tick time.Time) error {
	if err := storable(tick.UTC()); err != nil {
		return fmt.Errorf("job %q: %w", name, err)
	}
	lease, err := client.Mutex(name).Lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_ = lease.Unlock(bounded) // the lock ends with its TTL
	}()
	value, err := lease.Load(ctx)
	if err != nil && !errors.Is(err, holdfast.ErrUnavailable) {
		return err
	}
	if _, err := decode(value); err != nil {
		return fmt.Errorf("job %q: %w", name, err)
	}
	o := Outcome{
		Tick: tick.UTC(), State: Reset, Host: holdfast.Holder{Owner: lease.Owner()}.String(), Fence: lease.Fence(),
		Started: time.UnixMicro(lease.Fence()).UTC(),
	}
	return lease.Store(ctx, o.encode())
}
