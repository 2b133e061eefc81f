package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// ContextError returns the reason why ctx ended. It contains the context's error and, if a caller gave another cause of
// the cancellation, that cause. errors.Is finds both.
func ContextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Ended returns the reason of ctx's end if err is a consequence of that end, else nil. A connection's timer for ctx's
// deadline may fire before ctx ends.
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
