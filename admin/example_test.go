package admin_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
)

// All locks that a client or a person left behind, with their holders.
func ExampleList() {
	client := connect("web-3")
	defer client.Close()
	ctx := context.Background()
	for _, name := range []string{"shards/1", "shards/2", "reports"} {
		lease, err := client.Mutex(name).Lock(ctx)
		if err != nil {
			log.Fatal(err)
		}
		defer lease.Unlock(ctx)
	}

	for lock, err := range admin.List(ctx, client, admin.ListOptions{Pattern: "shards/*"}) {
		if err != nil {
			log.Fatal(err) // less than a majority of the nodes answered: the list is not complete
		}
		fmt.Println(lock.Name, lock.Kind, lock.Holder(), lock.Waiters)
	}
	// Unordered output:
	// shards/1 lock web-3 0
	// shards/2 lock web-3 0
}

// Nodes says for each node whether it votes, or why not.
func ExampleNodes() {
	client := connect("cli")
	defer client.Close()

	for _, n := range admin.Nodes(context.Background(), client) {
		fmt.Println(n.Node, n.Said(), n.Version)
	}
	// Output: redis://10.0.0.1:6379/0 votes model
}

// An operator knows that all nodes are new, so that no lock can be alive on them.
func ExampleTrust() {
	client := connect("cli")
	defer client.Close()
	ctx := context.Background()

	seen := admin.Nodes(ctx, client)
	for _, n := range seen {
		if !n.Votes() && !n.Cause.IsNew() {
			log.Fatalf("%s: it may have forgotten locks", n) // wait instead
		}
	}
	for _, n := range admin.Trust(ctx, client, seen...) {
		fmt.Println(n.Node, n.Said())
	}
	// Output: redis://10.0.0.1:6379/0 votes
}

// A holder hangs and keeps its lock. Its process cannot be ended.
func ExampleUnlock() {
	client, other := connect("cli"), connect("web-3")
	defer client.Close()
	defer other.Close()
	ctx := context.Background()
	lease, err := other.Mutex("stuck").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}

	unlocked, err := admin.Unlock(ctx, client, "stuck", admin.UnlockOptions{Owners: []string{lease.Owner()}})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range unlocked.Holders {
		fmt.Println("taken from", h, "who may not know it for", unlocked.Notice)
	}
	fmt.Println("lost:", errors.Is(lease.Unlock(ctx), holdfast.ErrLost))
	// Output:
	// taken from web-3 who may not know it for 10s
	// lost: true
}

// NamesWithValue finds the locks whose holders left a value, for example all jobs.
func ExampleNamesWithValue() {
	client := connect("web-1")
	defer client.Close()
	ctx := context.Background()
	err := client.Mutex("cursor").Do(ctx, func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return lease.Store(ctx, []byte("4711"))
	})
	if err != nil {
		log.Fatal(err)
	}

	names, err := admin.NamesWithValue(ctx, client)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(names)
	// Output: [cursor]
}
