// Package holdfasttest gives tests real locks without a server. Its nodes run inside the test process, with the same
// scripts as Redis.
//
// Code that takes a lock gets its [holdfast.Client] as a parameter. In production the program makes the client from
// Redis URLs. In a test, [Client] makes it:
//
//	package report_test
//
//	import (
//		"context"
//		"errors"
//		"testing"
//
//		"github.com/holdfast-go/holdfast"
//		"github.com/holdfast-go/holdfast/holdfasttest"
//	)
//
//	// Report must not run twice at a time, on however many machines.
//	func Report(ctx context.Context, locks *holdfast.Client, work func(ctx context.Context) error) error {
//		ran := false
//		err := locks.Mutex("nightly-report").TryDo(ctx, func(ctx context.Context) error {
//			ran = true
//			return work(ctx) // ctx ends with the caller's context, and with the lock
//		})
//		if !ran && errors.Is(err, holdfast.ErrHeld) {
//			return nil // another instance runs it
//		}
//		return err
//	}
//
//	func TestReportRunsOnce(t *testing.T) {
//		locks := holdfasttest.Client(t, holdfast.Config{})
//		runs := 0
//		err := Report(t.Context(), locks, func(context.Context) error {
//			runs++
//			// During the work another instance does nothing.
//			return Report(t.Context(), locks, func(context.Context) error { runs++; return nil })
//		})
//		if err != nil || runs != 1 {
//			t.Errorf("%d runs, %v; want one", runs, err)
//		}
//	}
//
// Clients that compete must share their nodes. A test can also break nodes:
//
//	nodes := holdfasttest.Start(t, 3)
//	a, b := nodes.Client(t, holdfast.Config{}), nodes.Client(t, holdfast.Config{})
//	nodes.Stop(0)        // node 0 refuses connections
//	nodes.Restart(t, 0)  // node 0 is back, empty, and votes after its quarantine
//	nodes.Lose(t, lease) // another owner gets the lock: the lease ends with ErrLost
//
// The nodes and clients end with the test. New nodes vote at once. A lock takes a millisecond or two, which is fast
// enough for tests. The nodes are for tests only.
package holdfasttest
