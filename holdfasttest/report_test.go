package holdfasttest_test

// This is the example of the package's documentation.

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// Report must not run on two machines at the same time.
func Report(ctx context.Context, locks *holdfast.Client, work func(ctx context.Context) error) error {
	ran := false
	err := locks.Mutex("nightly-report").TryDo(ctx, func(ctx context.Context) error {
		ran = true
		return work(ctx) // ctx ends with the caller's context, and with the lock
	})
	if !ran && errors.Is(err, holdfast.ErrHeld) {
		return nil // another instance runs it
	}
	return err
}

func TestReportRunsOnce(t *testing.T) {
	locks := holdfasttest.Client(t, holdfast.Config{})
	runs := 0
	err := Report(t.Context(), locks, func(context.Context) error {
		runs++
		// During the work another instance does nothing.
		return Report(t.Context(), locks, func(context.Context) error { runs++; return nil })
	})
	if err != nil || runs != 1 {
		t.Errorf("%d runs, %v; want one", runs, err)
	}
}
