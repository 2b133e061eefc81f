package rueidisnode_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/nodetest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func TestConformance(t *testing.T) { nodetest.Run(t, open) }

func FuzzServer(f *testing.F) { nodetest.Fuzz(f, open) }

func open(t *testing.T, url string) node.Node {
	n, err := rueidisnode.New(url)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
