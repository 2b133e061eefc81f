// Package holdfasttest gives tests real locks without a server: nodes inside the test
// process, which run the same scripts as Redis.
//
// Code that takes a lock gets its [holdfast.Client] from outside. In production it is
// made of Redis URLs, in a test by [Client]:
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
//			return work(ctx) // ctx ends with the caller's, and with the lock
//		})
//		if !ran && errors.Is(err, holdfast.ErrHeld) {
//			return nil // another instance is at it
//		}
//		return err
//	}
//
//	func TestReportRunsOnce(t *testing.T) {
//		locks := holdfasttest.Client(t, holdfast.Config{})
//		runs := 0
//		err := Report(t.Context(), locks, func(ctx context.Context) error {
//			runs++
//			// While it runs, another instance finds nothing to do.
//			return Report(ctx, locks, func(context.Context) error { runs++; return nil })
//		})
//		if err != nil || runs != 1 {
//			t.Errorf("%d runs, %v; want one", runs, err)
//		}
//	}
//
// Clients that compete need nodes in common. Nodes can be broken, too:
//
//	nodes := holdfasttest.Start(t, 3)
//	a, b := nodes.Client(t, holdfast.Config{}), nodes.Client(t, holdfast.Config{})
//	nodes.Stop(0)       // refuses connections
//	nodes.Restart(t, 0) // is back, empty, and votes after its quarantine
//	nodes.Lose(t, lease) // another owner has the lock: the lease ends with ErrLost
//
// Everything ends with the test. The nodes vote at once. They are as fast as a test
// needs, a millisecond or two for a lock, and for tests only.
package holdfasttest
