package holdfast_test

import (
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/exampleset"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// model returns a node in this process: the executable specification of a node, which requires no driver.
func model(addr string, configs ...nodescript.Config) *nodemodel.Node {
	return nodemodel.Master(addr, func() int64 { return time.Now().UnixMicro() }, configs...)
}

// open is in the place of rueidisnode.Open in examples: the root module requires no driver. Its nodes are in this
// process.
func open(urls ...string) ([]node.Node, error) { return exampleset.Open(urls...) }

// connect returns a client for examples. All such clients have the same node.
func connect(label string, observers ...holdfast.Observer) *holdfast.Client {
	client, err := holdfast.New(exampleset.Config(holdfast.Config{Label: label, Observers: observers}))
	if err != nil {
		log.Fatal(err)
	}
	return client
}
