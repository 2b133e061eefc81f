package redisson_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The servers are those of the Java side. The names get the prefix of its NameMapper.
func ExampleMutex_Do() {
	redis := server() // of the Java side
	defer redis.Close()
	nodes, err := rueidisnode.Open(redis.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := redisson.New(redisson.Config{
		Nodes:   nodes,
		MapName: func(name string) string { return "billing:" + name },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Mutex("invoices").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := redisson.FromContext(ctx)
		fmt.Println("locked", lease.Name())
		return ctx.Err() // the work stops when ctx ends: then the lock is lost
	})
	switch {
	case errors.Is(err, holdfast.ErrLost): // we had it: the last work may have overlapped with the next holder's
	case errors.Is(err, redisson.ErrWrongKind): // the key is no lock of Redisson
	case err != nil:
		log.Print(err)
	}
	// Output: locked invoices
}

// A lease outlives the function that took it. TryLock and TryDo do not wait.
func ExampleMutex_Lock() {
	client, closeAll := connect()
	defer closeAll()
	ctx := context.Background()
	lease, err := client.Mutex("stock").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	_, err = client.Mutex("stock").TryLock(ctx)
	var held *redisson.HeldError
	fmt.Println(errors.Is(err, holdfast.ErrHeld), errors.As(err, &held))
	err = client.Mutex("stock").TryDo(ctx, func(ctx context.Context) error { return ctx.Err() })
	fmt.Println(errors.Is(err, holdfast.ErrHeld))
	// Output:
	// true true
	// true
}

// A step that must not be interrupted begins with a full lease. Unlock says whether the lock was lost before it.
func ExampleLease() {
	client, closeAll := connect()
	defer closeAll()
	ctx := context.Background()
	lease, err := client.Mutex("payout").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}

	if err := lease.Extend(ctx, time.Minute); err != nil {
		log.Fatal(err) // ErrLost, or the server did not answer: do not begin
	}
	fmt.Println("more than 30 s are left:", time.Until(lease.Deadline()) > 30*time.Second)
	fmt.Println(lease.Unlock(ctx))
	// Output:
	// more than 30 s are left: true
	// <nil>
}

// Readers are those of getReadWriteLock(name).readLock() in Java.
func ExampleMutex_RLock() {
	client, closeAll := connect()
	defer closeAll()
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
	err = prices.RDo(ctx, func(ctx context.Context) error {
		return prices.TryRDo(ctx, func(ctx context.Context) error { fmt.Println("readers together"); return ctx.Err() })
	})
	if err != nil {
		log.Print(err)
	}
	_, err = prices.TryLock(ctx)
	fmt.Println("no writer:", errors.Is(err, holdfast.ErrHeld))
	// Output:
	// readers together
	// no writer: true
}
