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

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Config is what a [Client] needs to know. Only Nodes has no default.
//
// MaxTTL, Window, Durable, Cluster and the number of nodes belong to the node set:
// they must be the same for all its clients. The nodes see to it: one that votes
// under one configuration answers a client of another with "configuration differs",
// naming both.
type Config struct {
	// Nodes are independent Redis or Valkey masters: one, or an odd number of them
	// (3 or 5) that fail independently. From 1 to 31; an even number is accepted, but
	// survives no more failures than one less does. Make them with a driver, such as
	// rueidisnode.Open. The client closes them.
	Nodes []node.Node

	// TTL is how long the nodes keep a lease without renewal; [WithTTL] sets it per lock.
	// At least 8·Window, at most MaxTTL. The holder may believe in the lease for less: TTL
	// minus 4·Window, a hundredth of TTL, and 2 ms. That is 8.898 s of 10 s, but 978 ms of
	// 2 s, the least that the default Window allows. The lease is renewed whenever a third
	// of that time is over.
	// Defaults to 10 s, or to MaxTTL if that is less.
	TTL time.Duration

	// MaxTTL bounds every lease on this node set, and with it how long a node that
	// lost its memory does not vote (MaxTTL + Window). At most 30 min.
	// Defaults to 10 s.
	MaxTTL time.Duration

	// Window is W: how far the nodes' clocks may be from each other. One that is further
	// from the middle of those that agree does not vote. It also bounds how late a command
	// may reach a node: a round trip to a majority must take less than two windows, less by
	// what their clocks differ and, for a busy client, by an eighth of a window. From 1 ms.
	// Defaults to 250 ms.
	Window time.Duration

	// Durable declares that every node has every write on disk before it answers
	// (appendonly yes, appendfsync always, no-appendfsync-on-rewrite no) and is never made to evict keys, so that a
	// restart forgets nothing and needs no quarantine. (An eviction is noticed by a
	// counter of the server, which a restart sets to zero.) Declared falsely, two owners
	// can hold one lock.
	// Defaults to false.
	Durable bool

	// NodeTimeout is how long one node may take to answer before its vote counts as
	// missing. It does not slow a quorum of others down. A first call makes a connection,
	// too: three round trips or more are a good choice. From 1 ms to MaxTTL.
	// Defaults to 500 ms.
	NodeTimeout time.Duration

	// Cluster names the node set: letters, digits and . _ : - / only, up to 64. Give
	// one where clients reach the nodes under different addresses.
	// Defaults to a hash of the sorted node addresses.
	Cluster string

	// Label says who this client is, to people: it is the first part of the owner
	// that others see. Printable ASCII without "~", up to 64 characters.
	// Defaults to host name/process id.
	Label string

	// Prefix is put before every name: "billing:" makes the lock "nightly" the key
	// "billing:nightly". Up to 512 bytes. The rules for names at [Client.Mutex] are for both
	// together.
	// Defaults to "".
	Prefix string

	// Private leaves out the plain Redlock key, which other libraries see and respect. Give
	// all clients of a name the same: one that sets the key takes it, for up to a second after
	// a hand-off to one that does not, for a foreign lock.
	// Fewer commands per lock; clients of Holdfast still exclude each other.
	// Defaults to false.
	Private bool

	// Fair serves waiters strictly in the order in which they came, over all processes.
	// Otherwise a lock may go from one waiter of this client to the next up to eight
	// times in a row while others wait: that saves two of three round trips. The order
	// holds where all clients of a name are Fair: nobody is strict for others.
	// Defaults to false.
	Fair bool

	// PollGap leaves a contended name free now and then, for this long, to clients of other
	// libraries, which poll. Clients of Holdfast hand a name on without a gap, so a client that polls
	// beside waiting ones may never find it free. Give the longest pause that such a client
	// makes between two tries, 250ms for redsync: then each gap has a try of every one of them in it,
	// and one of them gets the lock. Of all clients of a name together one leaves a gap every eleven
	// PollGaps, at Unlock, so gaps take a tenth of the time or less; and only while somebody
	// waits. Waiters keep their order. TryLock is told in a gap that the name is held. A waiter asks
	// the nodes every PollGap, if that is less than a second. Give all clients of a name the
	// same. From 1 ms to MaxTTL / 2; not with Private.
	// Defaults to 0: no gaps, at no cost.
	PollGap time.Duration

	// Logger gets what nobody is told otherwise: a node that stops or starts voting,
	// a clock that is off, a lease dropped without Unlock. It is called by a goroutine of
	// its own, in order, but for its handler's Enabled, which must not block: one that
	// blocks delays no lock, and misses what is more than a thousand records behind. Close
	// waits for it for up to a second.
	// Defaults to [slog.Default].
	Logger *slog.Logger

	// RetryDelay is the mean pause of a waiting Lock where nothing wakes it: while a
	// foreign client has the lock, or no quorum answers. Each pause is drawn between half
	// and one and a half of it, as Redlock asks for, and is at most a second. From 1 ms.
	// Defaults to 100 ms.
	RetryDelay time.Duration
}

const (
	defaultTTL         = 10 * time.Second
	defaultWindow      = 250 * time.Millisecond
	defaultNodeTimeout = 500 * time.Millisecond
	defaultRetryDelay  = 100 * time.Millisecond
	largestMaxTTL      = nodescript.GuardKept / 2
	largestN           = 31
	ttlWindows         = 8 // TTL ≥ 8 W: four windows of it are margin
)

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	or(&c.MaxTTL, defaultTTL)
	or(&c.TTL, min(defaultTTL, c.MaxTTL))
	or(&c.Window, defaultWindow)
	or(&c.NodeTimeout, min(defaultNodeTimeout, c.MaxTTL))
	or(&c.RetryDelay, defaultRetryDelay)
	if c.Label == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			host = "unknown"
		}
		c.Label = fmt.Sprintf("%.48s/%d", strings.Map(labelRune, host), os.Getpid())
	}
	if c.Cluster == "" {
		c.Cluster = clusterName(c.Nodes)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// validate returns an error that names the field, the value and the bound.
func (c Config) validate() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("holdfast: Config."+format, args...) }
	switch {
	case len(c.Nodes) == 0:
		return bad("Nodes is empty; give at least one node, for instance by rueidisnode.Open")
	case len(c.Nodes) > largestN:
		return bad("Nodes has %d nodes; at most %d are allowed", len(c.Nodes), largestN)
	case slices.Contains(c.Nodes, nil):
		return bad("Nodes[%d] is nil", slices.Index(c.Nodes, nil))
	case c.MaxTTL > largestMaxTTL:
		return bad("MaxTTL is %s; it must be at most %s", c.MaxTTL, largestMaxTTL)
	case c.Window < time.Millisecond:
		return bad("Window is %s; it must be at least 1ms", c.Window)
	case c.Window > largestMaxTTL: // eight times that may be any number
		return bad("Window is %s; it must be at most MaxTTL / 8 = %s", c.Window, c.MaxTTL/ttlWindows)
	case c.MaxTTL < ttlWindows*c.Window:
		return bad("MaxTTL is %s; it must be at least 8 × Window = %s", c.MaxTTL, ttlWindows*c.Window)
	case c.MaxTTL%time.Millisecond != 0 || c.Window%time.Millisecond != 0:
		return bad("MaxTTL is %s and Window %s; both must be whole milliseconds", c.MaxTTL, c.Window)
	case c.NodeTimeout < time.Millisecond || c.NodeTimeout > c.MaxTTL:
		return bad("NodeTimeout is %s; it must be from 1ms to MaxTTL = %s", c.NodeTimeout, c.MaxTTL)
	case c.RetryDelay < time.Millisecond || c.RetryDelay > largestMaxTTL:
		return bad("RetryDelay is %s; it must be from 1ms to %s", c.RetryDelay, largestMaxTTL)
	case c.PollGap != 0 && (c.PollGap < time.Millisecond || c.PollGap > c.MaxTTL/2):
		return bad("PollGap is %s; it must be 0, for no gaps, or from 1ms to MaxTTL / 2 = %s", c.PollGap, c.MaxTTL/2)
	case c.PollGap != 0 && c.Private:
		return bad("PollGap is %s and Private is true; a private lock has no key that other libraries see: leave one of them out", c.PollGap)
	case len(c.Cluster) > 64 || strings.Map(clusterRune, c.Cluster) != c.Cluster:
		return bad("Cluster is %q; up to 64 letters, digits and . _ : - / are allowed", c.Cluster)
	case len(c.Label) > 64 || strings.Map(labelRune, c.Label) != c.Label:
		return bad("Label is %q; up to 64 printable ASCII characters without \"~\" are allowed", c.Label)
	case len(c.Prefix) > nodescript.MaxName/2:
		return bad("Prefix has %d bytes; at most %d are allowed", len(c.Prefix), nodescript.MaxName/2)
	}
	if err := nodescript.CheckPrefix(c.Prefix); err != nil {
		return bad("Prefix is %q, behind which no name is allowed: %w", c.Prefix, err)
	}
	for i, n := range c.Nodes {
		for j := range i {
			if c.Nodes[j].Addr() == n.Addr() {
				return bad("Nodes[%d] and Nodes[%d] are the same server: %s; each node has one vote", j, i, n.Addr())
			}
		}
	}
	if err := c.checkTTL(c.TTL); err != nil {
		return bad("%w", err)
	}
	return nil
}

func (c Config) checkTTL(ttl time.Duration) error {
	if least := ttlWindows * c.Window; ttl < least || ttl > c.MaxTTL {
		return fmt.Errorf("TTL is %s; it must be from 8 × Window = %s to MaxTTL = %s", ttl, least, c.MaxTTL)
	}
	return nil
}

// nodeSet is the part that all clients of the nodes must share.
func (c Config) nodeSet() nodescript.Config {
	return nodescript.Config{N: len(c.Nodes), MaxTTL: c.MaxTTL, Window: c.Window, Durable: c.Durable, Cluster: c.Cluster}
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

// labelRune keeps what a label may have and turns the rest into "_".
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
