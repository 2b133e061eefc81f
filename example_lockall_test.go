package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A transfer needs two accounts. Two transfers in opposite directions do not wait for each other for ever, because
// LockAll sorts the names.
func ExampleClient_LockAll() {
	client := connect("web-1")
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

// TryLockAll gets all locks or none.
func ExampleClient_TryLockAll() {
	client, other := connect("web-1"), connect("web-3")
	defer client.Close()
	defer other.Close()
	ctx := context.Background()
	lease, err := other.Mutex("rooms/12").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	_, err = client.TryLockAll(ctx, []string{"rooms/11", "rooms/12"})
	var held *holdfast.HeldError
	if errors.As(err, &held) {
		fmt.Println(held.Name, "is held by", held.Holder())
	} else if err != nil {
		log.Fatal(err)
	}
	// Output: rooms/12 is held by web-3
}

// DoAll is Do for several locks.
func ExampleClient_DoAll() {
	client := connect("web-1")
	defer client.Close()

	err := client.DoAll(context.Background(), []string{"disks/a", "disks/b"}, func(ctx context.Context) error {
		set, _ := holdfast.LeaseSetFromContext(ctx)
		fmt.Println("copy under", set.Names())
		return ctx.Err()
	})
	if err != nil {
		log.Print(err)
	}
	// Output: copy under [disks/a disks/b]
}

// All leases of a set are renewed and released together.
func ExampleLeaseSet() {
	client := connect("web-1")
	defer client.Close()
	ctx, began := context.Background(), time.Now()
	set, err := client.LockAll(ctx, []string{"racks/1", "racks/2"})
	if err != nil {
		log.Fatal(err)
	}
	if err := set.Extend(ctx, 10*time.Second); err != nil {
		log.Print(err)
	}
	fmt.Println(set.UnlockAt(ctx, began.Add(3*time.Second))) // the names stay taken until then
	fmt.Println(errors.Is(set.Unlock(ctx), holdfast.ErrReleased))
	// Output:
	// <nil>
	// true
}
