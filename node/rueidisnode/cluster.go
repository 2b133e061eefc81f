package rueidisnode

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// NewCluster makes a Redis Cluster from a URL, redis+cluster:// or rediss+cluster:// with some of its servers. It does
// not use the network: [node.Cluster.Look] finds out whether the servers answer, and whether they belong to one cluster.
// It reads the files that the URL names, and returns an error if it cannot. The options are those of [New].
func NewCluster(url string, opts ...Option) (node.Cluster, error) {
	config, err := clusterConfig(url, opts)
	if err != nil {
		return nil, err
	}
	return driver.NewCluster(config), nil
}

func clusterConfig(url string, opts []Option) (config driver.ClusterConfig, err error) {
	t, err := parse(url)
	if err == nil && t.cluster == "" {
		err = errors.New("the URL is that of one node; want redis+cluster:// or rediss+cluster://, or use New")
	}
	if err != nil {
		return config, fmt.Errorf("cluster %s: %w", label(url), err)
	}
	a := &access{target: t, latest: t}
	if err := (&Node{access: a}).apply(opts); err != nil {
		return config, fmt.Errorf("cluster %s: %w", label(url), err)
	}
	var closed context.CancelFunc
	a.life, closed = context.WithCancel(context.Background())
	return driver.ClusterConfig{
		Seeds: strings.Split(t.cluster, ","), TLS: t.tls, Replication: a.target.replication,
		Login: func(context.Context) (user, password string, err error) {
			t := a.login()
			return t.user, t.password, nil
		},
		Dial: a.bare,
		Node: func(s *driver.Shard) node.Node {
			n := &Node{access: a, addr: s.Addr(), naming: s, shard: s}
			n.site.Named = true
			n.open()
			return n
		},
		Closed: closed,
	}, nil
}
