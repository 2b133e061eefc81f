package holdfast_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/embedded"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// At most two workers of a fleet talk to a slow service at a time. A worker's slot can be its port or partition.
func ExampleClient_Semaphore() {
	client, stop := local()
	defer stop()

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

// local returns a client of a node in this process.
func local() (client *holdfast.Client, stop func()) {
	server, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := rueidisnode.Open(server.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err = holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() {
		client.Close()
		server.Close()
	}
}
