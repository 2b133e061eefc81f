package goredisnode_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/nodetest"
)

func TestClusterConformance(t *testing.T) {
	nodetest.RunCluster(t, func(t *testing.T, a nodetest.Access) node.Cluster {
		t.Helper()
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: a.Seeds, Username: a.User, Password: a.Password, TLSConfig: a.TLS})
		defer client.Close() // the cluster has clients of its own
		c, err := goredisnode.NewCluster(client, goredisnode.Replicated(a.Wait, 0))
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}
