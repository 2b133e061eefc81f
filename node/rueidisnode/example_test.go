package rueidisnode_test

import (
	"crypto/tls"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The nodes go into the configuration of a client, which closes them. Open does not use the network.
func ExampleOpen() {
	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://locks:s3cret@10.0.0.2:6380/3", "unix:///run/redis.sock")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for _, n := range nodes {
		fmt.Println(n.Addr()) // without user and password
	}

	_, err = rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.1:6379/0")
	fmt.Println(err)
	// Output:
	// redis://10.0.0.1:6379/0
	// redis://10.0.0.2:6380/3
	// unix:///run/redis.sock?db=0
	// rueidisnode: URL 3 of 3: node redis://10.0.0.1:6379/0: is listed before, as number 1; each node has one vote
}

// A node can have a TLS configuration of its own, for example with a client certificate.
func ExampleNew() {
	n, err := rueidisnode.New("rediss://locks:s3cret@redis.example", rueidisnode.TLSConfig(&tls.Config{
		MinVersion: tls.VersionTLS13,
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close() // if no client closes it
	fmt.Println(n.Addr())
	// Output: rediss://redis.example:6379/0
}

// A managed service replaces a failed master. A lock counts when one replica has it, too.
func ExampleReplicated() {
	n, err := rueidisnode.New("redis://primary.example", rueidisnode.Replicated(1, 0))
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	r := n.Replication()
	fmt.Println(r.Declared, r.Replicas, r.Within)
	// Output: true 1 100ms
}

// A service changes the password once an hour. The node asks for it before each new connection.
func ExampleRotating() {
	password := func() string { return "s3cret-of-" + time.Now().Format("15") } // for example from a file
	n, err := rueidisnode.New("redis://locks:"+password()+"@redis.example", rueidisnode.Rotating(func() (string, error) {
		return "redis://locks:" + password() + "@redis.example", nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	fmt.Println(n.Addr())
	// Output: redis://redis.example:6379/0
}

// A program with rediss URLs checks at its start that the file of SSL_CERT_FILE can be read, if the variable is set.
func ExampleAuthorities() {
	if err := rueidisnode.Authorities(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the authorities are known")
	// Output: the authorities are known
}

// A cluster is found through some of its servers. Each shard then has a node.
func ExampleNewCluster() {
	c, err := rueidisnode.NewCluster("redis+cluster://app:s3cret@10.0.0.2,10.0.0.1:7001?wait=1")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Addr(), c.Topology() == nil) // Look asks the servers
	// Output: redis+cluster://10.0.0.1:7001,10.0.0.2:6379 true
}
