package goredisnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

const (
	poolSize = 2 * node.MaxCalls // half of the pool is for calls that were given up: see within
	// ioTimeout limits a call whose context has no deadline, and the handshake of a subscription.
	ioTimeout      = 5 * time.Second
	connectTimeout = 2 * time.Second
	lateAnswer     = 2 * time.Second // how long a connection waits for the answer to a call that was given up
)

type redisNode struct {
	options     redis.Options // the options of every client, before adapt
	addr        string
	replication node.Replication
	site        driver.Site
	masters     *driver.Masters // nil unless the master may change
	naming      driver.Naming   // names the master of a shard of a cluster; nil for any other node
	shard       *driver.Shard   // the naming, or nil

	mu     sync.Mutex
	client *redis.Client // the client of the present reign
	reign  *driver.Reign // nil unless the master may change
	watch  sync.Once
	wait   sync.WaitGroup
	ctx    context.Context // Close ends it
	cancel context.CancelFunc

	waiting atomic.Int32 // number of calls on which go-redis works
}

// Option changes how [New] makes a node.
type Option func(*redisNode) error

// Replicated declares that the master behind the client's address may change. replicas is the number of replicas that
// must have a grant before it counts, and within their time limit: see [node.Replication]. 0 replicas means no wait.
// within 0 means [node.DefaultWithin]. A client of redis.NewFailoverClient is declared without this option.
func Replicated(replicas int, within time.Duration) Option {
	return func(n *redisNode) (err error) {
		n.replication, err = node.Replication{Declared: true, Replicas: replicas, Within: within}.Check()
		return err
	}
}

// failover is the address that go-redis gives to the clients of redis.NewFailoverClient.
const failover = "FailoverClient"

// New makes a node that uses the same server as client, which must be a *redis.Client. It does not use the network.
func New(client redis.UniversalClient, opts ...Option) (node.Node, error) {
	c, ok := client.(*redis.Client)
	switch {
	case !ok:
		return nil, refusal(client)
	case c == nil:
		return nil, errors.New("go-redis client is nil")
	}
	o := *c.Options()
	n := &redisNode{options: o, addr: driver.Address(o.Network, o.Addr, o.TLSConfig != nil, o.DB)}
	if o.Addr == failover {
		n.site.Named = true
		n.replication, _ = node.Replication{Declared: true}.Check() // the defaults are right
	}
	for _, opt := range opts {
		if err := opt(n); err != nil {
			return nil, fmt.Errorf("node %s: %w", n.addr, err)
		}
	}
	n.open()
	return n, nil
}

// open makes the first client.
func (n *redisNode) open() {
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if n.replication.Declared {
		n.masters = driver.NewMasters(n.ctx)
		n.reign = n.masters.Now()
	}
	n.client = n.newClient(n.reign)
}

func refusal(client redis.UniversalClient) error {
	switch client.(type) {
	case nil:
		return errors.New("go-redis client is nil")
	case *redis.ClusterClient:
		return errors.New("a Redis Cluster is no single node; use NewCluster")
	case *redis.Ring:
		return errors.New("a Ring is not supported as a node; give one client per shard")
	}
	return fmt.Errorf("go-redis client is a %T; want a *redis.Client", client)
}

// adapt makes the changes that the package comment lists. dialled gets each new connection; it may be nil.
func (n *redisNode) adapt(o *redis.Options, dialled func(net.Conn)) {
	o.MaxRetries = -1
	o.DialerRetries = 1
	if dial := o.Dialer; dial != nil {
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			began := n.site.Now()
			c, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			c = driver.Bound(n.site.Prove(driver.Prompt(c), began, nil))
			if dialled != nil {
				dialled(c)
			}
			if l, ok := ctx.Value(lineKey{}).(*line); ok {
				l.takes(c)
			}
			return c, nil
		}
	}
	o.DialTimeout = atMost(connectTimeout, o.DialTimeout)
	o.ContextTimeoutEnabled = true
	o.ReadTimeout, o.WriteTimeout = -1, -1 // the call's context has the deadline: see run and Listen
	o.PoolTimeout = 24 * time.Hour         // never, for the same reason
	o.PoolSize, o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns, o.MaxConcurrentDials = poolSize, 0, 0, 0, 0
	o.PipelineReadBufferSize, o.PipelineWriteBufferSize = 0, 0 // otherwise each of these two options makes a second pool
	// RESP2, because with RESP3 each call would check its buffer for push messages.
	o.Protocol = 2
	// Without an EndpointType, go-redis resolves the host name for it, and a slow name server delays each new client by
	// 2 s.
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone}
	o.ClientSideCache, o.ClientSideCacheConfig = nil, nil
	o.Limiter = nil
	o.DisableIdentity = true // otherwise an ACL must allow two more commands
	if o.ClientName == "" {
		o.ClientName = "holdfast"
	}
}

// atMost returns d if d is from 1 to limit. Otherwise it returns limit: 0 or less means that d has no limit.
func atMost(limit, d time.Duration) time.Duration {
	if d <= 0 || d > limit {
		return limit
	}
	return d
}

// Open makes one node from each client, in the order of the clients. It returns an error if a client is bad or occurs
// twice, or if there is no client. The error says which client is wrong. After an error no node is open.
func Open(clients ...redis.UniversalClient) ([]node.Node, error) {
	return driver.Open("goredisnode", "client", clients, func(c redis.UniversalClient) (node.Node, error) { return New(c) })
}

// Addr implements [node.Node].
func (n *redisNode) Addr() string { return n.addr }

// Close implements [node.Node].
func (n *redisNode) Close() {
	n.mu.Lock()
	n.cancel()           // under the mutex, so that no client and no goroutine begins after it
	_ = n.client.Close() // an error only means that the client was already closed
	n.mu.Unlock()
	n.wait.Wait()
}

func (n *redisNode) closed() bool { return n.ctx.Err() != nil }
