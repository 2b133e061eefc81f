package goredisnode

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
	"github.com/holdfast-go/holdfast/node/nodetest"
)

// lone is the node of the only shard of a cluster.
type lone struct {
	*redisNode
	cluster node.Cluster
}

func (l lone) Close() { l.cluster.Close() }

func TestConformanceOfAShard(t *testing.T) {
	nodetest.RunShard(t, func(t *testing.T, url string, dial func(context.Context, string) (net.Conn, error)) node.Node {
		t.Helper()
		options, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{options.Addr}, Username: options.Username, Password: options.Password})
		defer client.Close() // the cluster has clients of its own
		config, err := clusterConfig(client, nil)
		if err != nil {
			t.Fatal(err)
		}
		config.Dial = dial
		c := driver.NewCluster(config)
		topology, err := c.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lone{topology.Shards[0].Node.(*redisNode), c}
	})
}
