package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// ContextError returns the reason why ctx ended: the context's error, and the cause if there is another one.
// errors.Is finds both.
func ContextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Ended returns the reason why ctx ended if err is a consequence of this end. Otherwise it returns nil. A connection
// has its own timer for the deadline of ctx. This timer may fire a little earlier than ctx ends, so Ended also
// compares the deadline with the clock.
func Ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil && (node.Timeout(err) || errors.Is(err, ctx.Err())):
		return ContextError(ctx)
	case node.Timeout(err) && passed(ctx):
		return context.DeadlineExceeded
	}
	return nil
}

func passed(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ok && !time.Now().Before(d)
}
