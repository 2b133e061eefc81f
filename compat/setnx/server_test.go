package setnx_test

import (
	"log"
	"time"

	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/exampleset"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// server is the server of the old clients in examples.
func server() *exampleset.Server { return exampleset.Start() }

// connect returns a client of a new server, and a function that closes both.
func connect() (*setnx.Client, func()) {
	s := exampleset.Start()
	nodes, err := rueidisnode.Open(s.URL())
	if err != nil {
		log.Fatal(err)
	}
	client, err := setnx.New(setnx.Config{Node: nodes[0], NodeTimeout: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() { client.Close(); s.Close() }
}
