package holdfasttest_test

// This is the example of the package's documentation.

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// Report must not run twice at a time, on however many machines.
func Report(ctx context.Context, locks *holdfast.Client, work func(ctx context.Context) error) error {
	lease, err := locks.Mutex("nightly-report").TryLock(ctx)
	if errors.Is(err, holdfast.ErrHeld) {
		return nil // another instance is at it
	}
	if err != nil {
		return err
	}
	defer lease.Unlock(context.WithoutCancel(ctx))
	return work(lease.Context())
}

func TestReportRunsOnce(t *testing.T) {
	locks := holdfasttest.Client(t, holdfast.Config{})
	runs := 0
	err := Report(t.Context(), locks, func(ctx context.Context) error {
		runs++
		// While it runs, another instance finds nothing to do.
		return Report(ctx, locks, func(context.Context) error { runs++; return nil })
	})
	if err != nil || runs != 1 {
		t.Errorf("%d runs, %v; want one", runs, err)
	}
}
