package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
)

// This is the smallest program: a job that runs on one machine at a time. In a program, open is Open of a driver, such
// as rueidisnode.Open.
func Example() {
	nodes, err := open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Mutex("nightly-report").Do(context.Background(), func(ctx context.Context) error {
		fmt.Println("the report is written")
		return ctx.Err() // the work stops when ctx ends: then the lock is lost
	})
	if err != nil {
		log.Print(err)
	}
	// Output: the report is written
}

// The errors of a call say one of three things: somebody else has the lock, this client had it, or nothing is known.
func Example_errors() {
	client, other := connect("web-1"), connect("web-3")
	defer client.Close()
	defer other.Close()
	lease, err := other.Mutex("invoices").Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(context.Background())

	err = client.Mutex("invoices").TryDo(context.Background(), func(ctx context.Context) error { return ctx.Err() })
	var held *holdfast.HeldError
	var unavailable *holdfast.UnavailableError
	switch {
	case errors.Is(err, holdfast.ErrLost):
		fmt.Println("stop writing: the next holder may have begun")
	case errors.As(err, &held):
		fmt.Println("try later:", held.Holder(), "has the lock")
	case errors.As(err, &unavailable):
		for _, n := range unavailable.Nodes {
			fmt.Println(n) // the node, and why it did not grant the lock
		}
	case err != nil:
		fmt.Println("the work failed:", err)
	}
	// Output: try later: web-3 has the lock
}

// New does not use the network. An error names the field, the value and the bound.
func ExampleNew() {
	nodes, err := open("redis://10.0.0.1")
	if err != nil {
		log.Fatal(err)
	}
	_, err = holdfast.New(holdfast.Config{Nodes: nodes, TTL: time.Hour})
	fmt.Println(err)

	client, err := holdfast.New(holdfast.Config{Nodes: nodes, TTL: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close() // it also closes the nodes
	// Output: holdfast: Config.TTL is 1h0m0s; it must be from 8 × Window = 2s to MaxTTL = 10s
}

// Do is enough for most programs.
func ExampleMutex_Do() {
	client := connect("web-1")
	defer client.Close()

	err := client.Mutex("reports/daily").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		fmt.Println(lease.Name(), "is locked, with a token for the writes:", lease.Fence() > 0)
		return nil
	})
	if errors.Is(err, holdfast.ErrLost) {
		log.Print("the last writes may overlap with those of the next holder")
	} else if err != nil {
		log.Print(err)
	}
	// Output: reports/daily is locked, with a token for the writes: true
}

// TryDo does not wait: if another machine is at work, there is nothing to do.
func ExampleMutex_TryDo() {
	client := connect("web-1")
	defer client.Close()

	ran := false
	err := client.Mutex("cleanup").TryDo(context.Background(), func(ctx context.Context) error {
		ran = true
		return ctx.Err()
	})
	if err != nil && (ran || !errors.Is(err, holdfast.ErrHeld)) {
		log.Print(err) // the work failed, or too few nodes answered
	}
	fmt.Println("this machine did the work:", ran)
	// Output: this machine did the work: true
}

// A lease outlives the function that took it. Its context ends with the lease.
func ExampleMutex_Lock() {
	client := connect("web-1")
	defer client.Close()
	// The context limits only the wait.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lease, err := client.Mutex("shard-7").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}

	for item := range 3 {
		if lease.Context().Err() != nil {
			log.Fatal(context.Cause(lease.Context())) // the lock is lost: write nothing more
		}
		fmt.Println("item", item)
	}
	if err := lease.Unlock(context.Background()); err != nil {
		log.Print(err) // ErrLost: the last item may overlap with the next holder's
	}
	// Output:
	// item 0
	// item 1
	// item 2
}

// TryLock does not wait. Its error names the holder.
func ExampleMutex_TryLock() {
	client, other := connect("web-1"), connect("web-3")
	defer client.Close()
	defer other.Close()

	ctx := context.Background()
	for _, c := range []*holdfast.Client{other, client} {
		lease, err := c.Mutex("orders/42").TryLock(ctx)
		var held *holdfast.HeldError
		switch {
		case errors.As(err, &held):
			fmt.Println("held by", held.Holder())
		case err != nil:
			log.Fatal(err) // too few nodes answered: the state is unknown
		default:
			defer lease.Unlock(ctx)
			fmt.Println("locked", lease.Name())
		}
	}
	// Output:
	// locked orders/42
	// held by web-3
}
