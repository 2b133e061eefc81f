package holdfast_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A Mutex is a name and its settings. A program may make a new one for every use.
func ExampleClient_Mutex() {
	client := connect("web-1")
	defer client.Close()

	for _, order := range []int{17, 42} {
		err := client.Mutex(fmt.Sprint("orders/", order), holdfast.WithTTL(9*time.Second)).Do(context.Background(),
			func(ctx context.Context) error {
				fmt.Println("order", order)
				return nil
			})
		if err != nil {
			log.Print(err)
		}
	}
	// Output:
	// order 17
	// order 42
}

// Status shows a lock to people. Its answer may be old when it comes, so a program does not decide by it.
func ExampleClient_Status() {
	client := connect("web-3")
	defer client.Close()
	ctx := context.Background()
	lease, err := client.Mutex("import").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	status, err := client.Status(ctx, "import")
	if err != nil {
		log.Fatal(err) // too few nodes answered
	}
	h := status.Holder()
	fmt.Println(status.Held, h, "for up to 10 s:", h.Until.Sub(h.Since).Round(10*time.Second))
	// Output: true web-3 for up to 10 s: 10s
}

// Stats is what the client knows already. It asks no node.
func ExampleClient_Stats() {
	client := connect("web-1")
	defer client.Close()
	lease, err := client.Mutex("shard-3").Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(context.Background())

	stats := client.Stats()
	fmt.Println("leases:", stats.Held, "waiting calls:", stats.Waiting)
	for _, n := range stats.Nodes {
		fmt.Println(n.Node, n.Said())
	}
	// Output:
	// leases: map[shard-3:1] waiting calls: map[]
	// redis://10.0.0.1:6379/0 votes
}

// Now is the same on all machines, even if their clocks are wrong.
func ExampleClient_Now() {
	client := connect("web-1")
	defer client.Close()

	now, err := client.Now(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("off by less than a minute:", time.Since(now).Abs() < time.Minute)
	// Output: off by less than a minute: true
}

// An observer gets what happens to the locks and nodes of a client, for metrics and logs.
func ExampleObserver() {
	observer := holdfast.Observer{
		Kinds:   []holdfast.EventKind{holdfast.EventAcquired, holdfast.EventReleased},
		Observe: func(e *holdfast.Event) { fmt.Printf("%s %q\n", e.Kind, e.Name) },
	}
	client := connect("web-1", observer) // Config.Observers
	err := client.Mutex("seats").Do(context.Background(), func(ctx context.Context) error { return nil })
	if err != nil {
		log.Print(err)
	}
	if err := client.Close(); err != nil { // it waits for the observer
		log.Print(err)
	}
	// Output:
	// opened ""
	// acquired "seats"
	// released "seats"
	// closed ""
}
