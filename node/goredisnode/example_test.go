package goredisnode_test

import (
	"fmt"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/goredisnode"
)

// The nodes go into the configuration of a client, which closes them. The clients of go-redis stay open.
func ExampleOpen() {
	first := redis.NewClient(&redis.Options{Addr: "10.0.0.1:6379"})
	defer first.Close()
	second := redis.NewClient(&redis.Options{Addr: "10.0.0.2:6379"})
	defer second.Close()
	third := redis.NewClient(&redis.Options{Addr: "10.0.0.3:6379"})
	defer third.Close()

	nodes, err := goredisnode.Open(first, second, third)
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(len(nodes))
	// Output: 3
}

// New makes one node, with the options of the client.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "10.0.0.7:6379", Password: "s3cret"})
	defer client.Close()

	n, err := goredisnode.New(client)
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close() // the client stays open
	fmt.Println(n.Addr())
	// Output: redis://10.0.0.7:6379/0
}

// A managed service replaces a failed master. A lock counts when one replica has it, too.
func ExampleReplicated() {
	client := redis.NewClient(&redis.Options{Addr: "primary.example:6379"})
	defer client.Close()

	n, err := goredisnode.New(client, goredisnode.Replicated(1, 0))
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	fmt.Println(n.Addr())
	// Output: redis://primary.example:6379/0
}

// NewCluster takes the options of a cluster client. The client itself stays open.
func ExampleNewCluster() {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"10.0.0.1:7001", "10.0.0.2:7001"}, Password: "s3cret"})
	defer client.Close()

	c, err := goredisnode.NewCluster(client, goredisnode.Replicated(1, 0))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Addr(), c.Topology() == nil) // Look asks the servers
	// Output: redis+cluster://10.0.0.1:7001,10.0.0.2:7001 true
}
