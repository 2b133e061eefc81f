package rueidisnode_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func ExampleOpen() {
	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.1:6379/0")
	fmt.Println(nodes, err)
	// Output: [] rueidisnode: URL 3 of 3: node redis://10.0.0.1:6379/0: is listed before, as number 1; each node has one vote
}

func ExampleNew() {
	n, err := rueidisnode.New("rediss://locks:s3cret@redis.example", rueidisnode.TLSConfig(&tls.Config{
		MinVersion: tls.VersionTLS13,
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()
	fmt.Println(n.Addr())

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	reply := n.Eval(ctx, `return ARGV[1]`, node.Call{Args: []string{"hello"}})
	if reply.Err != nil {
		return // in this example there is no server
	}
	fmt.Println(reply.Value)
	// Output: rediss://redis.example:6379/0
}
