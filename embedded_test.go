package holdfast_test

import (
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/embedded"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// embeddedClient returns a client for examples that run. Its node runs in this process until the tests end.
func embeddedClient() *holdfast.Client {
	node, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := rueidisnode.Open("redis://" + node.Addr())
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, Window: time.Second, NodeTimeout: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	return client
}
