package holdfast_test

import (
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// model returns a node in this process: the executable specification of a node, which requires no driver.
func model(addr string, configs ...nodescript.Config) *nodemodel.Node {
	return nodemodel.Master(addr, func() int64 { return time.Now().UnixMicro() }, configs...)
}

// modelClient returns a client for examples that run.
func modelClient() *holdfast.Client {
	set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: time.Second, Cluster: "examples"}
	n := model("model", set)
	n.Serve()
	client, err := holdfast.New(holdfast.Config{
		Nodes: []node.Node{n}, MaxTTL: set.MaxTTL, Window: set.Window, NodeTimeout: 5 * time.Second, Cluster: set.Cluster,
	})
	if err != nil {
		log.Fatal(err)
	}
	return client
}
