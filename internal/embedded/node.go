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

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// Node is one embedded node. It is safe for concurrent use.
type Node struct {
	server  *miniredis.Miniredis
	run     string
	asked   atomic.Int64
	started time.Time
}

// Option changes how [Start] makes a node.
type Option func(*config)

type config struct {
	restarted bool
}

// Restarted says that the node takes the place of one that may have granted locks.
// It sits out its quarantine then, as a server does that lost its memory.
func Restarted() Option { return func(c *config) { c.restarted = true } }

// ErrPortTaken is the error where another process listens on the port.
var ErrPortTaken = errors.New("address already in use")

// Start starts a node on addr, such as "127.0.0.1:7001"; port 0 chooses a free one.
// Unless [Restarted], it votes when a client first asks: nothing can be locked on what was never
// there.
func Start(addr string, opts ...Option) (*Node, error) {
	var c config
	for _, o := range opts {
		o(&c)
	}
	n := &Node{server: miniredis.NewMiniRedis(), run: newRunID(), started: time.Now()}
	// Keys expire by the clock, when a command looks at them. A ticker that calls
	// FastForward would cost wake-ups while nothing happens and expire keys early
	// by up to its period.
	n.server.ClockTTL(true)
	if !c.restarted {
		for field, value := range nodescript.Served(n.run, 0) {
			n.server.HSet(nodescript.AdmissionKey, field, value)
		}
	}
	if err := n.listen(addr); err != nil {
		return nil, fmt.Errorf("embedded node: listen on %s: %w", addr, err)
	}
	n.server.Server().SetPreHook(n.answerInfo)
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

// anyPort draws from below the ports that kernels choose. From among those, once the
// node is stopped, its port may go to some outgoing connection, even to one of a client
// that dials this very port and so is connected to itself.
func anyPort() int { return 20000 + mathrand.IntN(12000) }

// Addr is host:port.
func (n *Node) Addr() string { return n.server.Addr() }

// URL is redis://host:port.
func (n *Node) URL() string { return "redis://" + n.Addr() }

// RunID is this incarnation's.
func (n *Node) RunID() string { return n.run }

// Steal gives what owner has on this node to thief, for a while, and reports whether owner had anything.
func (n *Node) Steal(owner, thief string, d time.Duration) (had bool) {
	for _, key := range n.server.Keys() {
		text, err := n.server.Get(key)
		if err != nil {
			continue // not a string: no record
		}
		r, err := nodescript.ParseRecord(text)
		switch {
		case text == owner:
			_ = n.server.Set(key, thief)
			n.server.SetTTL(key, d)
		case err == nil && r.Owner == owner:
			r.Token, r.Expiry, r.Owner, had = r.Token+1, time.Now().Add(d).UnixMicro(), thief, true
			r.Seen, r.Leased = max(r.Seen, r.Token), max(r.Leased, r.Token)
			_ = n.server.Set(key, r.String())
			n.server.SetTTL(key, d)
		}
	}
	return had
}

// Close ends the node and its connections. What it kept is forgotten.
func (n *Node) Close() { n.server.Close() }

// newRunID returns 40 hexadecimal digits, as redis-server draws at every start.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // cannot fail
	return hex.EncodeToString(b[:])
}
