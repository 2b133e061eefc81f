package holdfasttest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// report is a function that takes a lock. It must not run on two machines at the same time.
func report(ctx context.Context, locks *holdfast.Client, work func(ctx context.Context) error) error {
	return locks.Mutex("nightly-report").TryDo(ctx, work)
}

// Most tests need one client. The body of test is that of a func TestReport(t *testing.T).
func ExampleClient() {
	test(func(t testing.TB) {
		locks := holdfasttest.Client(t, holdfast.Config{})
		err := report(t.Context(), locks, func(context.Context) error {
			// During the work another instance does nothing.
			err := report(t.Context(), locks, func(context.Context) error { return errors.New("two reports") })
			fmt.Println("held:", errors.Is(err, holdfast.ErrHeld))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	// Output: held: true
}

// Two machines share their nodes.
func ExampleStart() {
	test(func(t testing.TB) {
		nodes := holdfasttest.Start(t, 3)
		a, b := nodes.Client(t, holdfast.Config{}), nodes.Client(t, holdfast.Config{})
		lease, err := a.Mutex("x").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Unlock(t.Context())
		_, err = b.Mutex("x").TryLock(t.Context())
		fmt.Println("held:", errors.Is(err, holdfast.ErrHeld))
	})
	// Output: held: true
}

// The work must stop when its lock is lost.
func ExampleNodes_Lose() {
	test(func(t testing.TB) {
		nodes := holdfasttest.Start(t, 1)
		locks := nodes.Client(t, holdfast.Config{})
		err := locks.Mutex("x").Do(t.Context(), func(ctx context.Context) error {
			lease, _ := holdfast.FromContext(ctx)
			nodes.Lose(t, lease)
			return ctx.Err()
		})
		fmt.Println("lost:", errors.Is(err, holdfast.ErrLost))
	})
	// Output: lost: true
}

// A node that restarts without its data does not vote for MaxTTL + Window. The other two nodes are a majority.
func ExampleNodes_Restart() {
	test(func(t testing.TB) {
		nodes := holdfasttest.Start(t, 3)
		locks := nodes.Client(t, holdfast.Config{})
		work := func(context.Context) error { return nil }
		nodes.Stop(0)
		fmt.Println(report(t.Context(), locks, work))
		nodes.Restart(t, 0)
		fmt.Println(report(t.Context(), locks, work))
	})
	// Output:
	// <nil>
	// <nil>
}

// A program that makes its own client gets the nodes, or their URLs.
func ExampleNodes_Open() {
	test(func(t testing.TB) {
		nodes := holdfasttest.Start(t, 1)
		client, err := holdfast.New(holdfast.Config{Nodes: nodes.Open(t), TTL: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()

		again, err := rueidisnode.Open(nodes.URLs()...) // a command gets them as HOLDFAST_NODES
		if err != nil {
			t.Fatal(err)
		}
		defer again[0].Close()
		fmt.Println(len(again))
	})
	// Output: 1
}
