package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
)

// looksAtOnce is the largest number of jobs that List reads at the same time. Each of them waits for the node timeout
// if a node hangs.
const looksAtOnce = 32

// Last returns the last outcome of a job, or nil if the job never ran. It does not take the lock. So it may or may
// not see an outcome that is being stored at that moment. If the State is [Running], the run may also have crashed:
// [holdfast.Client.Status] tells whether somebody still holds the lock. The error matches [ErrNoJob], or is an error
// of [holdfast.Client.Value].
func Last(ctx context.Context, client *holdfast.Client, name string) (*Outcome, error) {
	if ctx == nil {
		return nil, noContext("Last", name)
	}
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

// List returns the last outcome of each job, by name. It has the jobs that were removed, too: their State is [Removed].
// It reads all keys of the nodes, a page at a time. It leaves out values that are not outcomes of jobs. An outcome that
// this version of Holdfast cannot decode has the State [Unreadable], and an Error that says why. If some values cannot be
// read, List returns the other ones and an error.
func List(ctx context.Context, client *holdfast.Client) (map[string]Outcome, error) {
	names, err := admin.NamesWithValue(ctx, client)
	jobs, unread := map[string]Outcome{}, []error{}
	if err != nil { // a shard of a Redis Cluster may not answer; the jobs of the other shards are read
		unread = append(unread, err)
	}
	var strange unreadable
	for i, l := range lookAtAll(ctx, client, names) {
		switch {
		case l.over:
			return nil, l.err
		case errors.As(l.err, &strange):
			jobs[names[i]] = Outcome{State: Unreadable, Error: strange.Error()}
		case errors.Is(l.err, ErrNoJob):
		case l.err != nil:
			unread = append(unread, l.err)
		case l.last != nil:
			jobs[names[i]] = *l.last
		}
	}
	return jobs, errors.Join(unread...)
}

// look is the result of [Last] for one job.
type look struct {
	last *Outcome
	err  error
	over bool // Last failed after ctx had ended
}

// lookAtAll returns the looks in the order of names. If ctx ends, it leaves out the remaining names.
func lookAtAll(ctx context.Context, client *holdfast.Client, names []string) []look {
	looks := make([]look, len(names))
	var begun atomic.Int64
	var wait sync.WaitGroup
	for range min(looksAtOnce, len(names)) {
		wait.Go(func() {
			for {
				i := int(begun.Add(1)) - 1
				if i >= len(names) {
					return
				}
				l := &looks[i]
				l.last, l.err = Last(ctx, client, names[i])
				if l.over = l.err != nil && !errors.Is(l.err, ErrNoJob) && ctx.Err() != nil; l.over {
					return
				}
			}
		})
	}
	wait.Wait()
	return looks
}
