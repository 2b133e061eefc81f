package embedded

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Node is one embedded node. It is safe for concurrent use.
type Node struct {
	server   *miniredis.Miniredis
	addr     string
	commands *server.Server // the commands of server; server itself forgets them at Close, although some still run
	run      string
	asked    atomic.Int64
	started  time.Time
}

// Option is a setting for [Start].
type Option func(*config)

type config struct {
	restarted bool
}

// Restarted states that the node replaces a node that may have granted locks. The new node then has a quarantine, like
// a server that lost its memory.
func Restarted() Option { return func(c *config) { c.restarted = true } }

// ErrPortTaken means that another process uses the port.
var ErrPortTaken = errors.New("address already in use")

// Start starts a node on addr, such as "127.0.0.1:7001". Port 0 selects a free port. Without [Restarted] the node votes
// as soon as a client asks it. This is safe because the node is new, so no client can have a lock on it.
func Start(addr string, opts ...Option) (*Node, error) {
	var c config
	for _, o := range opts {
		o(&c)
	}
	n := &Node{server: miniredis.NewMiniRedis(), run: newRunID(), started: time.Now()}
	// With ClockTTL, keys expire by the clock when a command uses them. The alternative is a ticker that calls
	// FastForward. It would use the processor while the node is idle, and keys would expire too early, by up to one
	// period of the ticker.
	n.server.ClockTTL(true)
	if !c.restarted {
		for field, value := range nodescript.Served(n.run, 0) {
			n.server.HSet(nodescript.AdmissionKey, field, value)
		}
	}
	if err := n.listen(addr); err != nil {
		return nil, fmt.Errorf("embedded node: listen on %s: %w", addr, err)
	}
	n.addr = n.server.Addr() // after Close, server has no address
	n.commands = n.server.Server()
	n.commands.SetPreHook(n.answer)
	return n, nil
}

func (n *Node) listen(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	for tries := 0; err == nil; tries++ {
		if port == "0" {
			addr = net.JoinHostPort(host, strconv.Itoa(anyPort()))
		}
		if err = n.server.StartAddr(addr); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
		err = ErrPortTaken
		if port == "0" && tries < 100 {
			err = nil
		}
	}
	return err
}

// anyPort returns a random port below the range from which kernels choose ports for outgoing connections. After the
// node has stopped, the kernel could give a port of that range to a client. A client that dials this port could then
// be connected to itself.
func anyPort() int { return 20000 + mathrand.IntN(12000) }

// Addr returns the node's address as host:port. It does not change at Close.
func (n *Node) Addr() string { return n.addr }

// URL returns the node's URL: redis://host:port.
func (n *Node) URL() string { return "redis://" + n.Addr() }

// RunID returns the run id of this incarnation.
func (n *Node) RunID() string { return n.run }

// Steal gives the locks of owner on this node to thief, for the time d. It reports whether owner had a lock. If owner
// shared a lock with other readers, they lose it, too.
func (n *Node) Steal(owner, thief string, d time.Duration) (had bool) {
	for _, key := range n.server.Keys() {
		if record, ok := nodescript.RecordOfReaders(key); ok && n.server.HGet(key, owner) != "" {
			had = true
			n.server.HDel(key, owner)
			n.put(record, thief, d)
			continue
		}
		text, err := n.server.Get(key)
		if err != nil {
			continue // the key is not a string, so it is not a record
		}
		r, err := nodescript.ParseRecord(text)
		switch {
		case text == owner:
			_ = n.server.Set(key, thief)
			n.server.SetTTL(key, d)
		case err == nil && r.Owner == owner:
			had = true
			n.put(key, thief, d)
		}
	}
	return had
}

// put makes thief the writer of a record.
func (n *Node) put(key, thief string, d time.Duration) {
	text, _ := n.server.Get(key)
	r, err := nodescript.ParseRecord(text)
	if err != nil {
		return
	}
	now := time.Now()
	r.Token = max(r.Token+1, r.Seen+1, now.UnixMicro())
	r.Expiry, r.Owner = now.Add(d).UnixMicro(), thief
	r.Seen, r.Leased = r.Token, max(r.Leased, r.Token)
	_ = n.server.Set(key, r.String())
	n.server.SetTTL(key, d)
}

// Close ends the node and its connections. The node's data is lost.
func (n *Node) Close() { n.server.Close() }

// newRunID returns 40 random hexadecimal digits. redis-server draws such an id at every start.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // this cannot fail
	return hex.EncodeToString(b[:])
}
