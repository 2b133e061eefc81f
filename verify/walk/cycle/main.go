// Command cycle takes and releases an uncontended lock on one node, and writes how often each statement ran. Command
// walk builds it with counters.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/coverage"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "cycle:", err)
		os.Exit(1)
	}
}

// run writes the counters of so many cycles on so many nodes into dir.
func run(dir, nodes, cycles string) error {
	n, err := strconv.Atoi(nodes)
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(cycles)
	if err != nil {
		return err
	}
	var urls []string
	for range n {
		one, err := embedded.Start("127.0.0.1:0")
		if err != nil {
			return err
		}
		defer one.Close()
		urls = append(urls, one.URL())
	}
	opened, err := rueidisnode.Open(urls...)
	if err != nil {
		return err
	}
	client, err := holdfast.New(holdfast.Config{Nodes: opened, NodeTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx := context.Background()
	admin.Trust(ctx, client)
	mutex := client.Mutex("x")
	cycle := func() error {
		lease, err := mutex.Lock(ctx)
		if err != nil {
			return err
		}
		return lease.Unlock(ctx)
	}
	for range 100 { // the client greets the nodes, and learns that it is alone
		if err := cycle(); err != nil {
			return err
		}
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	for range times {
		if err := cycle(); err != nil {
			return err
		}
	}
	if err := coverage.WriteMetaDir(dir); err != nil {
		return err
	}
	return coverage.WriteCountersDir(dir)
}
