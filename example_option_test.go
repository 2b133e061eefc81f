package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A person wants to know for whom the program waits.
func ExampleOnWait() {
	client, other := connect("web-1"), connect("web-3")
	defer client.Close()
	defer other.Close()
	lease, err := other.Mutex("deploy").Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}

	told := holdfast.OnWait(func(err error) {
		var held *holdfast.HeldError
		if errors.As(err, &held) && lease.Context().Err() == nil {
			fmt.Println("waiting for", held.Holder())
			lease.Unlock(context.Background()) // in another process, when its work is done
		}
	})
	err = client.Mutex("deploy", told).Do(context.Background(), func(ctx context.Context) error {
		fmt.Println("deploying")
		return nil
	})
	if err != nil {
		log.Print(err)
	}
	// Output:
	// waiting for web-3
	// deploying
}

// A function that needs the lock may be called with or without it. With Reentrant(false) the second lock is an error.
func ExampleReentrant() {
	client := connect("web-1")
	defer client.Close()

	err := client.Mutex("config").Do(context.Background(), func(ctx context.Context) error {
		lease, err := client.Mutex("config").Lock(ctx) // a handle of the lease that ctx has
		if err != nil {
			return err
		}
		defer lease.Unlock(ctx)
		_, err = client.Mutex("config", holdfast.Reentrant(false)).Lock(ctx)
		fmt.Println(errors.Is(err, holdfast.ErrReentrant))
		return nil
	})
	if err != nil {
		log.Print(err)
	}
	// Output: true
}

// A daemon that has nothing else to do waits until the nodes are back, and not for a second only.
func ExampleWaitThroughOutages() {
	client := connect("web-1")
	defer client.Close()

	ctx, stop := context.WithCancel(context.Background()) // ends when the daemon should stop
	defer stop()
	err := client.Mutex("poller", holdfast.WaitThroughOutages()).Do(ctx, func(ctx context.Context) error {
		fmt.Println("polling")
		return nil
	})
	if err != nil {
		log.Print(err)
	}
	// Output: polling
}

// A lock that is held for longer than a run ever takes is a mistake: it ends, so that others can go on.
func ExampleWithMaxHold() {
	client := connect("web-1")
	defer client.Close()

	err := client.Mutex("index", holdfast.WithMaxHold(50*time.Millisecond)).Do(context.Background(),
		func(ctx context.Context) error {
			<-ctx.Done() // the work hangs
			return ctx.Err()
		})
	fmt.Println(errors.Is(err, holdfast.ErrHoldLimit), errors.Is(err, holdfast.ErrLost))
	// Output: true true
}

// If a holder dies, its name stays taken for the TTL and one Window. Work that others need soon has a short TTL.
func ExampleWithTTL() {
	client := connect("web-1")
	defer client.Close()

	lease, err := client.Mutex("leader", holdfast.WithTTL(8*time.Second)).Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(context.Background())
	fmt.Println(lease.TTL())
	// Output: 8s
}
