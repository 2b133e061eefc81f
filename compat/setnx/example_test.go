package setnx_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The old clients are in Python and write time.time() plus their timeout under lock.NAME.
func ExampleMutex_Do() {
	redis := server() // of the old clients
	defer redis.Close()
	nodes, err := rueidisnode.Open(redis.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := setnx.New(setnx.Config{
		Node:    nodes[0],
		Unit:    setnx.FloatSeconds,
		MapName: func(name string) string { return "lock." + name },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Mutex("invoices").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := setnx.FromContext(ctx)
		fmt.Println("locked", lease.Name())
		return ctx.Err() // the work stops when ctx ends: then the lock is lost
	})
	switch {
	case errors.Is(err, holdfast.ErrLost): // we had it: the last work may have overlapped with the next holder's
	case errors.Is(err, setnx.ErrForeign): // the key is no lock of the old pattern
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
	var held *setnx.HeldError
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
