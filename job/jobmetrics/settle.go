package jobmetrics

import (
	"context"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// Settle returns the last outcome of a job, nil if the job never ran. It differs from [job.Last] in one case: if the
// outcome says that a run has not ended, and nobody has the lock of the job, then the state is [job.Crashed], and the
// Error says so. The error is that of [job.Last].
func Settle(ctx context.Context, client *holdfast.Client, name string) (*job.Outcome, error) {
	last, err := job.Last(ctx, client, name)
	if err != nil || last == nil {
		return nil, err
	}
	return settle(ctx, client, name, last)
}

// settle asks for the lock of an outcome that says running. The run may end between two questions, so it reads the
// outcome again before it says that the run has crashed.
func settle(ctx context.Context, client *holdfast.Client, name string, last *job.Outcome) (*job.Outcome, error) {
	if last.State != job.Running {
		return last, nil
	}
	if s, err := client.Status(ctx, name); err != nil || s.Held {
		return last, nil //nolint:nilerr // without an answer the run counts as one that lasts
	}
	again, err := job.Last(ctx, client, name)
	if err != nil || again == nil {
		return again, err
	}
	if again.State == job.Running && again.Fence == last.Fence && again.Tick.Equal(last.Tick) && again.Attempt == last.Attempt {
		again.State = job.Crashed
		if again.Error == "" {
			again.Error = "its process died or lost the lock, or the outcome was not stored"
		}
	}
	return again, nil
}
