package fence_test

import (
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/exampleset"
)

// connect returns a client for examples. All such clients have the same node, which is in this process.
func connect(label string) *holdfast.Client {
	client, err := holdfast.New(exampleset.Config(holdfast.Config{Label: label}))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// openServer is in the place of rueidisnode.New, because the root module requires no driver. It starts a server.
func openServer(string) *exampleset.Server { return exampleset.Start() }
