package holdfast

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Config contains the settings of a [Client]. Only Nodes has no default.
//
// MaxTTL, Window, Durable, Cluster and the number of nodes belong to the node set: they must be the same for all its
// clients. The nodes check this. A node that votes for clients with one configuration refuses a client with another
// one. Its answer "configuration differs" names both configurations.
type Config struct {
	// Nodes are independent Redis or Valkey masters, from 1 to 31. Use one, or an odd number (3 or 5) that fail
	// independently. An even number works, but it survives no more failures than the odd number below it. Make nodes
	// with a driver, such as rueidisnode.Open. The client closes them.
	//
	// The only node may be a Redis Cluster ([node.Cluster]). Each name is then locked on the shard that has its hash
	// slot, as on one node that is declared replicated. [Sharded] makes several sets of nodes one client.
	Nodes []node.Node

	// TTL is the time for which nodes keep a lease without a renewal. [WithTTL] sets it per lock. At least 8 ×
	// Window, at most MaxTTL.
	//
	// The holder may rely on the lease for a shorter time, the validity: TTL − 4 × Window − TTL/100 − 2 ms. With the
	// default Window this is 8.898 s for a TTL of 10 s, and 978 ms for the shortest TTL, 2 s. The client renews the
	// lease after a third of the validity. Defaults to 10 s, or to 8 × Window if that is more, but at most to MaxTTL.
	TTL time.Duration

	// MaxHold is the longest time for which a lease is held. [WithMaxHold] sets it per lock. It begins when the client
	// sent the request that won. Then the lease is lost, however well the nodes renew it: its context ends, and the
	// client releases the lock, so that the next waiter gets it. The cause matches [ErrHoldLimit] and [ErrLost].
	// Without a limit, a client whose work hangs keeps its lock for ever. At least 1 ms. Defaults to 0: there is no
	// limit.
	MaxHold time.Duration

	// MaxTTL is the longest TTL on this node set. A node that lost its memory does not vote for MaxTTL + Window. At
	// most 30 min. Defaults to 10 s.
	MaxTTL time.Duration

	// Window is W: the nodes' clocks may differ by at most W. A node does not vote if its clock is further than W
	// from the middle of the clocks that agree.
	//
	// Window also limits how late a request may reach a node. The round trip to a majority must therefore take less
	// than two windows, minus the difference between the nodes' clocks. For a busy client subtract another eighth of
	// a window. From 1 ms. Defaults to 250 ms.
	Window time.Duration

	// Durable declares that a node keeps all its data over a restart. A node then needs no quarantine after a
	// restart.
	//
	// The declaration has two conditions. First, every node writes to disk before it answers (appendonly yes,
	// appendfsync always, no-appendfsync-on-rewrite no). Second, no node ever evicts keys. Holdfast cannot check the
	// second condition: the server counts evictions, but a restart sets this counter to zero. If the declaration is
	// false, two owners can hold one lock. Defaults to false.
	Durable bool

	// NodeTimeout is the time in which a node must answer. After this time the node's vote counts as missing. The
	// call itself goes on as soon as a majority of the other nodes has answered. The first call to a node also opens
	// a connection, so allow for three round trips or more. From 1 ms to MaxTTL. Defaults to 500 ms.
	NodeTimeout time.Duration

	// Cluster is the name of the node set: up to 64 letters, digits and . _ : - / only. Set it if clients use
	// different addresses for the same nodes. Defaults to a hash of the sorted node addresses.
	Cluster string

	// Label is the name of this client for people. Owners begin with it, so it is visible where the holder of a lock
	// is shown. Up to 64 printable ASCII characters without "~". Defaults to host name/process id.
	Label string

	// Prefix is put before every name. With "billing:" the lock "nightly" has the key "billing:nightly". Up to 512
	// bytes. The rules for names ([Client.Mutex]) apply to prefix and name together. Defaults to "".
	Prefix string

	// Private omits the plain key: the key with the lock's own name that other Redlock libraries read and set. A
	// private lock needs fewer commands, but it does not exclude other libraries. Clients of Holdfast still exclude
	// each other.
	//
	// Give all clients of a name the same value. Otherwise a client that sets the plain key may hand the name to a
	// private client. The plain key then stays for up to a second, and the first client takes it for a lock of
	// another library. Defaults to false.
	Private bool

	// Fair serves waiters strictly in the order in which they came, over all processes. Without Fair, a lock may pass
	// from one waiter of this client to the next one up to eight times in a row, while other clients wait. Such a
	// pass takes one round trip and not three. For the strict order all clients of a name must be Fair. Defaults to
	// false.
	Fair bool

	// PollGap sometimes leaves a name free for this time although clients of Holdfast wait for it. Clients of other
	// libraries can then take the lock. Such clients poll: they try, pause, and try again. Clients of Holdfast hand a
	// name on without a gap, so without PollGap a polling client may never find the name free.
	//
	// Set PollGap to the longest pause that such a client makes between two tries, for example 250ms for redsync.
	// Then every such client tries at least once in each gap, and one of them gets the lock.
	//
	// All clients of a name together leave one gap every eleven PollGaps, so gaps take a tenth of the time or less. A
	// gap begins at Unlock, and only while somebody waits. Waiters keep their places in the queue. In a gap TryLock
	// says that the name is held. A waiter asks the nodes once per PollGap, if that is less than a second.
	//
	// Give all clients of a name the same value. From 1 ms to MaxTTL / 2; not allowed with Private. Defaults to 0:
	// there are no gaps.
	PollGap time.Duration

	// Logger receives events that no error reports: a node stops or starts voting, a clock is wrong, a lease became
	// garbage without Unlock. One goroutine calls it, in the order of the events. Only the handler's method Enabled
	// runs in other goroutines, so it must not block. A Logger that blocks delays no lock. If more than a thousand
	// records wait for it, further records are dropped. Close waits for it for up to a second. Nothing recovers a
	// panic of its handler. Defaults to [slog.Default].
	Logger *slog.Logger

	// Observers receive the events of the client, for metrics and traces. They delay no lock: see [Observer]. Close
	// waits for them for up to a second. Defaults to none, at no cost.
	Observers []Observer

	// RetryDelay is the mean pause between two attempts of a waiting Lock while no message can wake it. This is so
	// while another library has the lock, or while no majority answers. Each pause is random, from 0.5 to 1.5 ×
	// RetryDelay, as Redlock demands, and at most a second. From 1 ms to 30 min. Defaults to 100 ms.
	RetryDelay time.Duration
}

const (
	defaultTTL         = 10 * time.Second
	defaultWindow      = 250 * time.Millisecond
	defaultNodeTimeout = 500 * time.Millisecond
	defaultRetryDelay  = 100 * time.Millisecond
	largestMaxTTL      = nodescript.GuardKept / 2
	largestN           = 31
	redisCluster       = "redis-cluster" // the default name of a Redis Cluster: its clients may list different servers of it
	ttlWindows         = 8               // TTL ≥ 8 W: the margin takes four windows, and the other four are left for the validity
)

// withDefaults replaces zero values with the defaults.
func (c Config) withDefaults() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	or(&c.MaxTTL, defaultTTL)
	or(&c.Window, defaultWindow)
	or(&c.TTL, min(max(defaultTTL, ttlWindows*min(c.Window, largestMaxTTL)), c.MaxTTL))
	or(&c.NodeTimeout, min(defaultNodeTimeout, c.MaxTTL))
	or(&c.RetryDelay, defaultRetryDelay)
	if c.Label == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			host = "unknown"
		}
		c.Label = fmt.Sprintf("%.48s/%d", strings.Map(labelRune, host), os.Getpid())
	}
	if c.Cluster == "" && c.redisCluster() != nil {
		c.Cluster = redisCluster
	}
	if c.Cluster == "" {
		c.Cluster = clusterName(c.Nodes)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// validate returns an error for the first bad value. The error names the field, the value and the bound.
func (c Config) validate() error {
	if err := c.check(); err != nil {
		return fmt.Errorf("holdfast: Config.%w", err)
	}
	return nil
}

// check does the work of validate. Its errors have no prefix.
func (c Config) check() error {
	switch {
	case c.redisCluster() != nil && len(c.Nodes) > 1:
		return badField("Nodes", "{Nodes} has a Redis Cluster, %s, and other nodes; a Redis Cluster is a set of its own: leave the others out", c.redisCluster().Addr())
	case c.redisCluster() != nil && c.Durable:
		return badField("Durable", "{Durable} is true, but a shard of a Redis Cluster may be replaced by a replica that lacks writes; leave it out")
	case len(c.Nodes) == 0:
		return badField("Nodes", "{Nodes} is empty; give at least one node, for instance by rueidisnode.Open")
	case len(c.Nodes) > largestN:
		return badField("Nodes", "{Nodes} has %d nodes; at most %d are allowed", len(c.Nodes), largestN)
	case slices.Contains(c.Nodes, nil):
		return badField("Nodes", "{Nodes}[%d] is nil", slices.Index(c.Nodes, nil))
	case c.MaxTTL > largestMaxTTL:
		return badField("MaxTTL", "{MaxTTL} is %s; it must be at most %s", c.MaxTTL, largestMaxTTL)
	case c.Window < time.Millisecond:
		return badField("Window", "{Window} is %s; it must be at least 1ms", c.Window)
	case c.Window > largestMaxTTL: // must come before the product 8 × Window, which may overflow for such a Window
		return badField("Window", "{Window} is %s; it must be at most {MaxTTL} / 8 = %s", c.Window, c.MaxTTL/ttlWindows)
	case c.MaxTTL < ttlWindows*c.Window:
		return badField("MaxTTL", "{MaxTTL} is %s and {Window} %s, but {MaxTTL} must be at least 8 × {Window} = %s: lower {Window} or raise {MaxTTL}", c.MaxTTL, c.Window, ttlWindows*c.Window)
	case c.MaxTTL%time.Millisecond != 0 || c.Window%time.Millisecond != 0:
		return badField("MaxTTL", "{MaxTTL} is %s and {Window} %s; both must be whole milliseconds", c.MaxTTL, c.Window)
	case c.NodeTimeout < time.Millisecond || c.NodeTimeout > c.MaxTTL:
		return badField("NodeTimeout", "{NodeTimeout} is %s; it must be from 1ms to {MaxTTL} = %s", c.NodeTimeout, c.MaxTTL)
	case c.RetryDelay < time.Millisecond || c.RetryDelay > largestMaxTTL:
		return badField("RetryDelay", "{RetryDelay} is %s; it must be from 1ms to %s", c.RetryDelay, largestMaxTTL)
	case c.PollGap != 0 && (c.PollGap < time.Millisecond || c.PollGap > c.MaxTTL/2):
		return badField("PollGap", "{PollGap} is %s; it must be 0, for no gaps, or from 1ms to {MaxTTL} / 2 = %s", c.PollGap, c.MaxTTL/2)
	case c.PollGap != 0 && c.Private:
		return badField("PollGap", "{PollGap} is %s and {Private} is true; a private lock has no key that other libraries see: leave one of them out", c.PollGap)
	case c.several() != nil && len(label(c.Cluster, len(c.several().sets), len(c.several().sets))) > 64:
		return badField("Cluster", "{Cluster} is %q; with several sets up to 50 letters, digits and . _ : - / are allowed", c.Cluster)
	case len(c.Cluster) > 64 || strings.Map(clusterRune, c.Cluster) != c.Cluster:
		return badField("Cluster", "{Cluster} is %q; up to 64 letters, digits and . _ : - / are allowed", c.Cluster)
	case len(c.Label) > 64 || strings.Map(labelRune, c.Label) != c.Label:
		return badField("Label", "{Label} is %q; up to 64 printable ASCII characters without \"~\" are allowed", c.Label)
	case len(c.Prefix) > nodescript.MaxName/2:
		return badField("Prefix", "{Prefix} has %d bytes; at most %d are allowed", len(c.Prefix), nodescript.MaxName/2)
	}
	if err := c.checkSeveral(); err != nil {
		return err
	}
	if err := c.checkObservers(); err != nil {
		return err
	}
	if err := nodescript.CheckPrefix(c.Prefix); err != nil {
		return badField("Prefix", "{Prefix} is %q, behind which no name is allowed: %w", c.Prefix, err)
	}
	for i, n := range c.Nodes {
		if r, ok := n.(node.Replicated); ok && r.Replication().Replicas > 0 && r.Replication().Within >= c.NodeTimeout {
			return badField("NodeTimeout", "{NodeTimeout} is %s, and the node %s waits for replicas for %s (wait-timeout); {NodeTimeout} must be longer",
				c.NodeTimeout, n.Addr(), r.Replication().Within)
		}
		for j := range i {
			if c.Nodes[j].Addr() == n.Addr() {
				return badField("Nodes", "{Nodes}[%d] and {Nodes}[%d] are the same server: %s; each node has one vote", j, i, n.Addr())
			}
		}
	}
	if err := checkHold(c.MaxHold); err != nil {
		return err
	}
	return c.checkTTL(c.TTL)
}

func checkHold(d time.Duration) error {
	if d != 0 && d < time.Millisecond {
		return badField("MaxHold", "{MaxHold} is %s; it must be at least 1ms, or 0 for no limit", d)
	}
	return nil
}

func (c Config) checkTTL(ttl time.Duration) error {
	if least := ttlWindows * c.Window; ttl < least || ttl > c.MaxTTL {
		return badTTL{badField("TTL", "{TTL} is %s; it must be from 8 × {Window} = %s to {MaxTTL} = %s", ttl, least, c.MaxTTL)}
	}
	return nil
}

// nodeSet returns the settings that all clients of the nodes must share.
func (c Config) nodeSet() nodescript.Config {
	if s := c.several(); s != nil { // only its clock is used: see sets
		c.Nodes = s.sets[0]
	}
	return nodescript.Config{N: len(c.Nodes), Sharded: c.redisCluster() != nil, MaxTTL: c.MaxTTL, Window: c.Window, Durable: c.Durable, Cluster: c.Cluster}
}

// redisCluster returns the Redis Cluster among the nodes, or nil.
func (c Config) redisCluster() node.Cluster {
	for _, n := range c.Nodes {
		if of, ok := n.(node.Cluster); ok {
			return of
		}
	}
	return nil
}

func clusterName(nodes []node.Node) string {
	var addrs []string
	for _, n := range nodes {
		if n != nil {
			addrs = append(addrs, n.Addr())
		}
	}
	slices.Sort(addrs)
	sum := sha256.Sum256([]byte(strings.Join(addrs, "\n")))
	return hex.EncodeToString(sum[:6])
}

// labelRune returns r if a label may contain r, else "_".
func labelRune(r rune) rune {
	if r <= ' ' || r >= 0x7f || r == '~' {
		return '_'
	}
	return r
}

func clusterRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._:-/", r):
		return r
	}
	return '_'
}
