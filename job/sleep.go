package job

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// longestSleep is the longest time for which a process sleeps without a look at the nodes' time. Without it, a
// process that sleeps for a day would be late if its own clock is slow.
const longestSleep = time.Minute

// now returns the nodes' time. It waits through outages.
func (r *runner) now(ctx context.Context) (time.Time, error) {
	for told := false; ; {
		now, err := r.client.Now(ctx)
		switch {
		case err == nil:
			return now, nil
		case ctx.Err() != nil:
			return now, context.Cause(ctx)
		case errors.Is(err, holdfast.ErrClosed):
			return now, err
		}
		if !told {
			told = true
			r.Logger.Warn("job waits for the nodes", "job", r.Name, "error", err)
		}
		if err := clock.Rest(ctx, pause); err != nil {
			return now, err
		}
	}
}

// sleep waits until the nodes' time is until, or until a look shows that a run is wanted earlier.
func (r *runner) sleep(ctx context.Context, until time.Time) error {
	for {
		now, err := r.now(ctx)
		if err != nil || !now.Before(until) {
			return err
		}
		began, most := time.Now(), min(until.Sub(now), longestSleep)
		for left := most; left > 0; left = most - time.Since(began) {
			if err := clock.Rest(ctx, min(left, lookAsked)); err != nil {
				return err
			}
			if left > lookAsked && r.wanted(ctx, now.Add(time.Since(began)), left-lookAsked) {
				return nil
			}
		}
	}
}
