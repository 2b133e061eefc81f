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
	client := connected()
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
