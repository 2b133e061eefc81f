package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
)

// Workers go on where the last one stopped: each finds the value that the last holder of the lock stored.
func ExampleLease_Store() {
	client := connect("web-1")
	defer client.Close()

	for range 2 {
		err := client.Mutex("import/orders").Do(context.Background(), func(ctx context.Context) error {
			lease, _ := holdfast.FromContext(ctx)
			done, err := lease.Load(ctx)
			if err != nil {
				return err
			}
			fmt.Printf("orders are imported up to %q\n", done)
			// … import the next orders, up to order 4711
			return lease.Store(ctx, []byte("order 4711"))
		})
		if errors.Is(err, holdfast.ErrUnavailable) {
			log.Print(err) // the value may or may not be stored: the next holder loads what counts
		}
	}
	// Output:
	// orders are imported up to ""
	// orders are imported up to "order 4711"
}

// Load tells an empty value from a value that nobody stored.
func ExampleLease_Load() {
	client := connect("web-1")
	defer client.Close()

	err := client.Mutex("cursor").Do(context.Background(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		value, err := lease.Load(ctx)
		fmt.Println("nobody has stored a value:", err == nil && value == nil)
		return err
	})
	if err != nil {
		log.Print(err)
	}
	// Output: nobody has stored a value: true
}

// Value shows the value to people. It does not take the lock.
func ExampleClient_Value() {
	client := connect("web-1")
	defer client.Close()
	ctx := context.Background()
	err := client.Mutex("migration").Do(ctx, func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return lease.Store(ctx, []byte("version 12"))
	})
	if err != nil {
		log.Fatal(err)
	}

	value, err := client.Value(ctx, "migration")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(value))
	// Output: version 12
}
