package jobmetrics_test

import (
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// connect returns a client of a new node in this process, for examples. A program has the URLs of its nodes.
func connect() *holdfast.Client {
	server, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := rueidisnode.Open(server.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, Label: "web-3"})
	if err != nil {
		log.Fatal(err)
	}
	return client
}
