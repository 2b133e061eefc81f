package rueidisnode

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
	"github.com/holdfast-go/holdfast/node/nodetest"
)

// lone is the node of the only shard of a cluster.
type lone struct {
	*Node
	cluster node.Cluster
}

func (l lone) Close() { l.cluster.Close() }

func TestConformanceOfAShard(t *testing.T) {
	nodetest.RunShard(t, func(t *testing.T, url string, dial func(context.Context, string) (net.Conn, error)) node.Node {
		t.Helper()
		config, err := clusterConfig(strings.Replace(url, "redis://", "redis+cluster://", 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		config.Dial = dial
		c := driver.NewCluster(config)
		topology, err := c.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lone{topology.Shards[0].Node.(*Node), c}
	})
}
