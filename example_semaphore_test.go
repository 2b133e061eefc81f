package holdfast_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// At most two workers of a fleet talk to a slow service at a time. A worker's slot can be its port or partition.
func ExampleClient_Semaphore() {
	client := modelClient()
	defer client.Close()

	service := client.Semaphore("slow-service", 2)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			err := service.Do(context.Background(), func(ctx context.Context) error {
				lease, _ := holdfast.FromContext(ctx)
				fmt.Println("at work, in a slot below 2:", lease.Slot() < 2)
				return nil
			})
			if err != nil {
				log.Print(err)
			}
		})
	}
	wait.Wait()
	// Output:
	// at work, in a slot below 2: true
	// at work, in a slot below 2: true
	// at work, in a slot below 2: true
}
