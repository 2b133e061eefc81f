package rueidisnode

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// Node is one Redis or Valkey server. It uses the client library rueidis. It is safe for concurrent use.
type Node struct {
	*access
	addr string
	site driver.Site

	masters *driver.Masters // nil unless the master may change
	naming  driver.Naming   // names the master; nil without Sentinel and cluster
	shard   *driver.Shard   // the naming of a shard of a cluster; nil for any other node
	watched bool            // the goroutine of the naming runs; pool.mu guards it

	ctx    context.Context // Close ends this context, which ends all connections
	cancel context.CancelFunc
	pool   pool
}

var (
	_ node.Replicated = (*Node)(nil)
	_ node.Identified = (*Node)(nil)
)

// Option changes how [New] makes a node.
type Option func(*Node) error

// TLSConfig sets the TLS settings of a rediss:// URL, which then names no files. Without it, the node accepts the
// certificates of the file cacert, or those that the system accepts. If ServerName is empty, the host in the URL is
// used. To change certificates while the program runs, set GetClientCertificate and VerifyConnection.
func TLSConfig(c *tls.Config) Option {
	return func(n *Node) error {
		if c == nil {
			return errors.New("TLSConfig is nil")
		}
		if !n.target.tls {
			return errors.New("TLSConfig is for rediss://, rediss+sentinel:// and rediss+cluster:// URLs only")
		}
		if n.target.files != (certificates{}) {
			return errors.New("TLSConfig and cacert, cert or key in the URL both name certificates; give one of them")
		}
		n.tls = c.Clone()
		return nil
	}
}

// Replicated declares that the master behind the URL may change, as ?replicated=true does. replicas is the number of
// replicas that must have a grant before it counts, and within their time limit: see [node.Replication]. 0 replicas
// means no wait. within 0 means [node.DefaultWithin].
func Replicated(replicas int, within time.Duration) Option {
	return func(n *Node) (err error) {
		if n.target.network != "tcp" {
			return errors.New("Replicated is not for unix:// URLs")
		}
		n.target.replication, err = node.Replication{Declared: true, Replicas: replicas, Within: within}.Check()
		return err
	}
}

// New makes a node from a URL. It does not use the network. So if the server is down, only the first call finds that
// out. It reads the files that the URL names, and returns an error if it cannot.
func New(url string, opts ...Option) (*Node, error) {
	t, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", label(url), err)
	}
	if t.cluster != "" {
		return nil, fmt.Errorf("node %s: a Redis Cluster is no single node; use NewCluster", label(url))
	}
	n := &Node{access: &access{target: t, latest: t}, addr: driver.Address(t.network, t.addr, t.tls, t.db)}
	if t.sentinels != "" {
		sentinels := &driver.Sentinels{
			Addrs: strings.Split(t.sentinels, ","), Name: t.master, Login: func() (user, password string) {
				t := n.login()
				return t.sentinelUser, t.sentinelPassword
			},
			Dial: n.bare,
		}
		n.naming, n.site.Named = sentinels, true
		n.addr = driver.SentinelAddress(sentinels, t.tls, t.db)
	}
	if err := n.apply(opts); err != nil {
		return nil, fmt.Errorf("node %s: %w", label(url), err)
	}
	n.open()
	n.life = n.ctx
	return n, nil
}

// apply applies options, and reads the files that the URL names.
func (n *Node) apply(opts []Option) error {
	for _, o := range opts {
		if err := o(n); err != nil {
			return err
		}
	}
	if n.target.files != (certificates{}) {
		if _, err := n.config(); err != nil {
			return err
		}
	}
	return nil
}

// open makes the parts that connect.
func (n *Node) open() {
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.pool.ctx = n.ctx
	if n.target.replication.Declared {
		n.masters = driver.NewMasters(n.ctx)
		n.pool.watch = n.watch
	}
	n.pool.connect = func(ctx context.Context) (*link, error) { return n.connect(ctx, forCalls) }
}

// Open makes one node from each URL, in this order. The only URL may be that of a Redis Cluster: see [NewCluster]. It returns an error if a URL is bad, if two URLs have the same
// address, or if there are no URLs. The error says which URL is wrong. After an error no node is open.
func Open(urls ...string) ([]node.Node, error) {
	// This check must come before every error that contains a URL. If a password contains a comma, a program may have
	// split the list inside the password. An element without "://" may then be a piece of the password.
	noScheme := errCut
	if len(urls) == 1 {
		noScheme = errNoScheme
	}
	for i, url := range urls {
		if url != "" && !strings.Contains(url, "://") {
			return nil, fmt.Errorf("rueidisnode: URL %d of %d: %w", i+1, len(urls), noScheme)
		}
	}
	for i, url := range urls {
		if scheme, _, _ := strings.Cut(url, "://"); !strings.HasSuffix(strings.ToLower(scheme), "+cluster") {
			continue
		}
		if len(urls) > 1 {
			return nil, fmt.Errorf("rueidisnode: URL %d of %d: a Redis Cluster is a node set of its own; leave the other URLs out, or list all servers in one URL, as in redis+cluster://a,b,c", i+1, len(urls))
		}
		c, err := NewCluster(url)
		if err != nil {
			return nil, fmt.Errorf("rueidisnode: %w", err)
		}
		return []node.Node{c}, nil
	}
	return driver.Open("rueidisnode", "URL", urls, func(url string) (*Node, error) { return New(url) })
}

// Addr implements [node.Node].
func (n *Node) Addr() string { return n.addr }

// Replication implements [node.Replicated].
func (n *Node) Replication() node.Replication { return n.target.replication }

// Close implements [node.Node].
func (n *Node) Close() {
	n.pool.close(n.cancel)
	if n.naming != nil {
		n.naming.Close()
	}
}

func (n *Node) closed() bool { return n.ctx.Err() != nil }
