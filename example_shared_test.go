package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// Many processes read an index together. One process rebuilds it alone.
func ExampleMutex_RLock() {
	client := connect("web-1")
	defer client.Close()

	index := client.Mutex("index")
	var together sync.WaitGroup
	together.Add(3)
	read := func(ctx context.Context) error {
		together.Done()
		together.Wait() // all three readers are inside
		return nil
	}
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			if err := index.RDo(context.Background(), read); err != nil {
				log.Print(err)
			}
		})
	}
	wait.Wait()
	err := index.Do(context.Background(), func(ctx context.Context) error {
		_, err := client.Mutex("index").RLock(ctx) // covered by the lock that the caller has
		fmt.Println("the writer is alone, and may read:", err == nil)
		return err
	})
	if err != nil {
		log.Print(err)
	}
	// Output: the writer is alone, and may read: true
}

// A lease of a reader outlives the function that took it. TryRLock and TryRDo do not wait for a writer.
func ExampleMutex_TryRLock() {
	client := connect("web-1")
	defer client.Close()
	ctx := context.Background()
	prices := client.Mutex("prices")
	lease, err := prices.RLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	second, err := prices.TryRLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Unlock(ctx)
	err = prices.TryRDo(ctx, func(ctx context.Context) error { fmt.Println("three readers"); return nil })
	if err != nil {
		log.Print(err)
	}
	_, err = prices.TryLock(ctx)
	fmt.Println("no writer:", errors.Is(err, holdfast.ErrHeld))
	// Output:
	// three readers
	// no writer: true
}

// A program changes a document, and then publishes it to readers before it lets other writers in.
func ExampleLease_Downgrade() {
	client := connect("web-1")
	defer client.Close()

	ctx := context.Background()
	lease, err := client.Mutex("document").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)
	// The program changes the document here.
	if err := lease.Downgrade(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = client.Mutex("document").Lock(lease.Context())
	fmt.Println("shared:", lease.Shared(), "- exclusive again:", !errors.Is(err, holdfast.ErrUpgrade))
	// Output: shared: true - exclusive again: false
}
