package driver

import (
	"context"
	"fmt"
)

// ContextError says why ctx ended: its error and, where a caller gave another, the
// cause of its cancellation. errors.Is finds both.
func ContextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
