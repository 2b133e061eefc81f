package nodemodel

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// This file has what tests with modelled nodes need.

// Now is the clock of a node, in µs. In virtual time it is decades ahead of the client's, as those of real nodes are.
func Now() int64 { return time.Now().Add(30 * 365 * 24 * time.Hour).UnixMicro() }

// Master returns a modelled master. Its address is its run id.
func Master(run string, now func() int64, configs ...nodescript.Config) *Node {
	return New(run, now, Info{Run: run, Role: "master", Policy: "noeviction", Version: "model"}, configs...)
}

// Failed returns the replies to calls that all fail with err. Nodes in tests answer so.
func Failed(calls []node.Call, err error) []node.Reply {
	replies := make([]node.Reply, len(calls))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

// Hung returns the replies of a node that hangs: it waits for the end of ctx.
func Hung(ctx context.Context, calls []node.Call) []node.Reply {
	<-ctx.Done()
	return Failed(calls, ctx.Err())
}
