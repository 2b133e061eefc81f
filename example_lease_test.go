package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A function finds the lease of its caller in the context.
func ExampleFromContext() {
	client := connect("web-1")
	defer client.Close()

	write := func(ctx context.Context) {
		lease, ok := holdfast.FromContext(ctx)
		if !ok {
			fmt.Println("nobody has a lock here")
			return
		}
		fmt.Println("write under", lease.Name(), "with a token:", lease.Fence() > 0)
	}
	write(context.Background())
	err := client.Mutex("ledger").Do(context.Background(), func(ctx context.Context) error {
		write(ctx)
		return nil
	})
	if err != nil {
		log.Print(err)
	}
	// Output:
	// nobody has a lock here
	// write under ledger with a token: true
}

// A step that must not be interrupted begins with a full lease.
func ExampleLease_Extend() {
	client := connect("web-1")
	defer client.Close()
	ctx := context.Background()
	lease, err := client.Mutex("payout").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	if err := lease.Extend(ctx, 10*time.Second); err != nil {
		log.Fatal(err) // ErrLost, or too few nodes answered: do not begin
	}
	fmt.Println("more than 5 s are left:", time.Until(lease.Deadline()) > 5*time.Second)
	// Output: more than 5 s are left: true
}

// Unlock says whether the lock was lost before it.
func ExampleLease_Unlock() {
	client := connect("web-1")
	defer client.Close()
	ctx := context.Background()
	lease, err := client.Mutex("stock").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lease.Unlock(ctx))
	fmt.Println(errors.Is(lease.Unlock(ctx), holdfast.ErrReleased), lease.Context().Err())
	// Output:
	// <nil>
	// true context canceled
}

// A scheduled job runs once on many machines whose clocks differ by some seconds. The name stays taken although the job
// was quick.
func ExampleLease_UnlockAt() {
	client, other := connect("web-1"), connect("web-3")
	defer client.Close()
	defer other.Close()

	ctx, acquired := context.Background(), time.Now()
	for _, c := range []*holdfast.Client{client, other} { // two machines
		lease, err := c.Mutex("hourly").TryLock(ctx)
		if errors.Is(err, holdfast.ErrHeld) {
			fmt.Println("another machine runs it, or just did")
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("the job runs")
		if err := lease.UnlockAt(ctx, acquired.Add(8*time.Second)); err != nil {
			log.Print(err)
		}
	}
	// Output:
	// the job runs
	// another machine runs it, or just did
}
