// Package holdfasttest gives tests real locks without a Redis server. Its nodes run inside the test process, and run
// the same scripts as a Redis server.
//
// Pass the [holdfast.Client] to the code that takes a lock. In production the program makes this client from Redis
// URLs. In a test, [Client] makes it:
//
//	package report_test // the name of your package and _test, such as main_test
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
//	// Report must not run on two machines at the same time.
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
// The nodes use real network connections and real time. So do not use this package in a bubble of testing/synctest: the
// test would hang.
//
// Clients that compete for a lock must share their nodes. A test can also stop nodes and take leases away:
//
//	nodes := holdfasttest.Start(t, 3)
//	a, b := nodes.Client(t, holdfast.Config{}), nodes.Client(t, holdfast.Config{})
//	nodes.Stop(0)        // node 0 refuses connections
//	nodes.Restart(t, 0)  // node 0 is back, empty, and votes after its quarantine
//	nodes.Lose(t, lease) // another owner gets the lock: the lease ends with ErrLost
//
// Jobs and elections run on these nodes, too. A job logs to the log of the test, as its client does:
//
//	func TestATickRunsOnce(t *testing.T) {
//		locks := holdfasttest.Client(t, holdfast.Config{})
//		tick, err := locks.Now(t.Context()) // a schedule would name the tick: see job.TickAt
//		if err != nil {
//			t.Fatal(err)
//		}
//		runs := 0
//		for range 2 { // two machines
//			_, err := job.Once(t.Context(), locks, "report", tick, func(context.Context, job.Tick) error { runs++; return nil })
//			if err != nil {
//				t.Error(err)
//			}
//		}
//		if runs != 1 {
//			t.Errorf("%d runs, want one", runs)
//		}
//	}
//
//	func TestALeaderStopsWhenItIsReplaced(t *testing.T) {
//		nodes := holdfasttest.Start(t, 1)
//		locks := nodes.Client(t, holdfast.Config{})
//		ctx, stop := context.WithCancel(t.Context())
//		_ = election.New(locks, "writer").Run(ctx, func(ctx context.Context, term election.Term) error {
//			lease, _ := holdfast.FromContext(ctx)
//			nodes.Lose(t, lease)
//			if ctx.Err() == nil {
//				t.Error("the leader goes on after the loss")
//			}
//			stop() // otherwise Run would campaign again
//			return nil
//		})
//	}
//
// The nodes and clients end with the test. New nodes vote at once. A lock takes one or two milliseconds, which is
// fast enough for tests. Do not use these nodes in production.
package holdfasttest
