package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A program for development has its node in its own process.
func ExampleStart() {
	server, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	nodes, err := rueidisnode.Open(server.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Mutex("report").Do(context.Background(), func(ctx context.Context) error {
		fmt.Println("the lock is ours")
		return nil
	})
	if err != nil {
		log.Print(err)
	}
	// Output: the lock is ours
}

// A node that replaces another one at its address may not grant locks at once: the other one may have granted them.
func ExampleRestarted() {
	server, err := embedded.Start("127.0.0.1:0", embedded.Restarted())
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	nodes, err := rueidisnode.Open(server.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	_, err = client.Mutex("report").TryLock(context.Background())
	var unavailable *holdfast.UnavailableError
	if errors.As(err, &unavailable) {
		fmt.Println(unavailable.Nodes[0].Reason)
	}
	// Output: quarantined
}
