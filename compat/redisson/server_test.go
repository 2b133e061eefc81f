package redisson_test

import (
	"log"
	"time"

	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/exampleset"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// server is the server of the Java side in examples.
func server() *exampleset.Server { return exampleset.Start() }

// connect returns a client of a new server, and a function that closes both.
func connect() (*redisson.Client, func()) {
	s := exampleset.Start()
	nodes, err := rueidisnode.Open(s.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := redisson.New(redisson.Config{Nodes: nodes, NodeTimeout: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() { client.Close(); s.Close() }
}
