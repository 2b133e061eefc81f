package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
)

// This is the smallest program: a job that runs on one machine at a time.
func Example() {
	var nodes []node.Node // of a driver: rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Mutex("nightly-report").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return report(ctx, lease.Fence()) // it stops when ctx ends: then the lock is lost
	})
	if err != nil {
		log.Print(err)
	}
}

func report(ctx context.Context, fence int64) error { return ctx.Err() }

// TryLock does not wait. Its error names the holder.
func ExampleMutex_TryLock() {
	client := connected()
	lease, err := client.Mutex("orders/42").TryLock(context.Background())
	switch {
	case errors.Is(err, holdfast.ErrHeld):
		fmt.Println(err) // the holder, and for how long
	case err != nil:
		log.Print(err) // too few nodes answered: the state is unknown
	default:
		defer lease.Unlock(context.Background())
		// …
	}
}

// A lease outlives the function that took it. Its context ends with the lease.
func ExampleMutex_Lock() {
	client := connected()
	// The context limits only the wait.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lease, err := client.Mutex("shard-7").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(context.Background())

	for item := range work(lease.Context()) {
		item()
	}
	if errors.Is(context.Cause(lease.Context()), holdfast.ErrLost) {
		log.Print("stopped: the lock was lost")
	}
}

// A scheduled job runs once on many machines whose clocks differ by some seconds. The name stays taken although the job
// was quick.
func ExampleLease_UnlockAt() {
	client := connected()
	acquired := time.Now()
	lease, err := client.Mutex("cleanup").TryLock(context.Background())
	if errors.Is(err, holdfast.ErrHeld) {
		return // another machine runs it, or just did
	}
	if err != nil {
		log.Fatal(err)
	}
	// … the job …
	if err := lease.UnlockAt(context.Background(), acquired.Add(8*time.Second)); err != nil {
		log.Print(err)
	}
}

// A transfer needs two accounts. Two transfers in opposite directions do not wait for each other for ever, because
// LockAll sorts the names.
func ExampleClient_LockAll() {
	client := modelClient()
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	set, err := client.LockAll(ctx, []string{"accounts/7", "accounts/3"})
	if err != nil {
		log.Fatal(err) // it names the account that was held, and its holder
	}
	defer set.Unlock(context.Background())

	transfer := func(ctx context.Context, from, to int64) { fmt.Println("tokens:", from > 0, to > 0) }
	transfer(set.Context(), set.Fence("accounts/7"), set.Fence("accounts/3")) // stops when one lock is lost
	fmt.Println(set.Names())
	// Output:
	// tokens: true true
	// [accounts/3 accounts/7]
}

func connected() *holdfast.Client { return nil }

func work(context.Context) <-chan func() { return nil }
