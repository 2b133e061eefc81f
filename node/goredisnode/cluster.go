package goredisnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/auth"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// inCluster is the address in the options of a shard's clients. Their dialer asks the cluster for the master.
const inCluster = "ClusterClient"

// NewCluster makes a Redis Cluster from the options of client: its addresses, credentials, TLS and dialer, and OnConnect
// for the connections of the shards' nodes. It does not use, change or close the client itself. It does not use the
// network: [node.Cluster.Look] finds out whether the servers answer, and whether they belong to one cluster. It returns an
// error if client is nil, has no addresses, or has ClusterSlots, which makes a cluster of servers that are none. The only
// option is [Replicated].
func NewCluster(client *redis.ClusterClient, opts ...Option) (node.Cluster, error) {
	config, err := clusterConfig(client, opts)
	if err != nil {
		return nil, err
	}
	return driver.NewCluster(config), nil
}

func clusterConfig(client *redis.ClusterClient, opts []Option) (config driver.ClusterConfig, err error) {
	if client == nil {
		return config, errors.New("go-redis cluster client is nil")
	}
	from := client.Options()
	var seeds []string
	for _, addr := range from.Addrs {
		if strings.TrimSpace(addr) == "" {
			return config, errors.New("an address of the go-redis cluster client is empty")
		}
		seeds = append(seeds, driver.HostPort(addr, driver.DefaultPort))
	}
	slices.Sort(seeds)
	seeds = slices.Compact(seeds)
	switch {
	case len(seeds) == 0:
		return config, errors.New("the go-redis cluster client has no addresses")
	case from.ClusterSlots != nil:
		return config, errors.New("the go-redis cluster client has ClusterSlots, so its servers are no Redis Cluster")
	}
	o := clusterOptions(from)
	first := &redisNode{options: o}
	first.replication, _ = node.Replication{Declared: true}.Check() // the defaults are right
	for _, opt := range opts {
		if err := opt(first); err != nil {
			return config, fmt.Errorf("cluster %s: %w", strings.Join(seeds, ","), err)
		}
	}
	return driver.ClusterConfig{
		Seeds: seeds, TLS: o.TLSConfig != nil, Replication: first.replication,
		Login: func(ctx context.Context) (string, string, error) { return login(ctx, &o) },
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, connectTimeout)
			defer cancel()
			return o.Dialer(ctx, "tcp", addr)
		},
		Node: func(s *driver.Shard) node.Node {
			n := &redisNode{options: o, addr: s.Addr(), replication: first.replication, naming: s, shard: s}
			n.site.Named = true
			n.open()
			return n
		},
	}, nil
}

// clusterOptions returns the options of the client of one server, as go-redis makes them.
func clusterOptions(from *redis.ClusterOptions) redis.Options {
	o := redis.Options{
		Network: "tcp", Addr: inCluster, ClientName: from.ClientName, Dialer: from.Dialer, OnConnect: from.OnConnect,
		Username: from.Username, Password: from.Password, CredentialsProvider: from.CredentialsProvider,
		CredentialsProviderContext: from.CredentialsProviderContext, StreamingCredentialsProvider: from.StreamingCredentialsProvider,
		DialTimeout: atMost(connectTimeout, from.DialTimeout), PoolFIFO: from.PoolFIFO,
		ConnMaxIdleTime: from.ConnMaxIdleTime, ConnMaxLifetime: from.ConnMaxLifetime, ConnMaxLifetimeJitter: from.ConnMaxLifetimeJitter,
		ReadBufferSize: from.ReadBufferSize, WriteBufferSize: from.WriteBufferSize, TLSConfig: from.TLSConfig,
	}
	if o.Dialer == nil {
		o.Dialer = redis.NewDialer(&redis.Options{DialTimeout: o.DialTimeout, TLSConfig: o.TLSConfig})
	}
	return o
}

// login returns the user and password for a question, in the order of go-redis.
func login(ctx context.Context, o *redis.Options) (user, password string, err error) {
	switch {
	case o.StreamingCredentialsProvider != nil:
		credentials, unsubscribe, err := o.StreamingCredentialsProvider.Subscribe(deaf{})
		if err != nil {
			return "", "", fmt.Errorf("credentials: %w", err)
		}
		user, password = credentials.BasicAuth()
		return user, password, unsubscribe()
	case o.CredentialsProviderContext != nil:
		return o.CredentialsProviderContext(ctx)
	case o.CredentialsProvider != nil:
		user, password = o.CredentialsProvider()
		return user, password, nil
	}
	return o.Username, o.Password, nil
}

// deaf ignores later credentials: each connection asks for those of its time.
type deaf struct{}

func (deaf) OnNext(auth.Credentials) {}
func (deaf) OnError(error)           {}
