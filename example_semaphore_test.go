package holdfast_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// At most two workers of a fleet talk to a slow service at a time. The slot tells them apart.
func ExampleClient_Semaphore() {
	nodes := holdfasttest.New(3)
	defer nodes.Close()
	client, err := holdfast.New(holdfast.Config{Nodes: nodes.Open()})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	service := client.Semaphore("slow-service", 2)
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			err := service.Do(context.Background(), func(ctx context.Context) error {
				lease, _ := holdfast.FromContext(ctx)
				fmt.Println("works in a slot below 2:", lease.Slot() >= 0 && lease.Slot() < 2)
				return nil
			})
			if err != nil {
				log.Print(err)
			}
		})
	}
	wait.Wait()
	// Output:
	// works in a slot below 2: true
	// works in a slot below 2: true
	// works in a slot below 2: true
	// works in a slot below 2: true
	// works in a slot below 2: true
}
