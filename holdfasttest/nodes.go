package holdfasttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// Window is the default window of the clients of this package. All nodes use the clock of one machine. So the window
// only has to cover the delay of a request on a busy machine. It is the default of [holdfast.Config]. So the shortest
// TTL is 2 s here, too. On a very busy machine set a larger window.
const Window = 250 * time.Millisecond

// NodeTimeout is the default node timeout of the clients of this package. Requests to nodes of the same process are
// late only because the machine is busy. A stopped node refuses a connection at once.
const NodeTimeout = 2 * time.Second

// patience is the longest wait for the first votes of the nodes.
const patience = 20 * time.Second

// Nodes is a node set inside the test process. Its methods are safe for concurrent use.
type Nodes struct {
	addrs []string

	mu      sync.Mutex
	running []*embedded.Node // the running server of each node; nil: the node is stopped
	ttls    []time.Duration  // TTLs of the clients
}

// Start starts n nodes on free loopback ports. n must be at least 1. The nodes end with the test.
func Start(tb testing.TB, n int) *Nodes {
	tb.Helper()
	if n < 1 {
		tb.Fatalf("holdfasttest: start: n is %d; it must be at least 1", n)
	}
	s := &Nodes{}
	for range n {
		node, err := embedded.Start("127.0.0.1:0")
		if err != nil {
			tb.Fatalf("holdfasttest: %v", err)
		}
		s.running = append(s.running, node)
		s.addrs = append(s.addrs, node.Addr())
	}
	tb.Cleanup(func() {
		for i := range s.addrs {
			s.stop(i)
		}
	})
	return s
}

// URLs returns the URLs of the nodes, for rueidisnode.Open and for HOLDFAST_NODES.
func (s *Nodes) URLs() []string {
	urls := slices.Clone(s.addrs)
	for i := range urls {
		urls[i] = "redis://" + urls[i]
	}
	return urls
}

// Open returns new nodes for [holdfast.Config]. A client closes its nodes, so call Open once for each client.
func (s *Nodes) Open(tb testing.TB) []node.Node {
	tb.Helper()
	nodes, err := rueidisnode.Open(s.URLs()...)
	if err != nil {
		tb.Fatalf("holdfasttest: %v", err)
	}
	return nodes
}

// Client returns a client of these nodes, and closes it at the end of the test. It ignores c.Nodes. Window defaults
// to [Window], NodeTimeout to [NodeTimeout] or a shorter MaxTTL, and Logger to the test's log.
//
// All clients of these nodes need the same MaxTTL, Window, Durable and Cluster. If a client has other values, the
// test fails at once.
func (s *Nodes) Client(tb testing.TB, c holdfast.Config) *holdfast.Client {
	tb.Helper()
	c.Nodes = s.Open(tb)
	if c.Window == 0 {
		c.Window = Window
		if c.MaxTTL > 0 {
			c.Window = min(Window, c.MaxTTL/8).Truncate(time.Millisecond)
		}
	}
	if c.NodeTimeout == 0 {
		c.NodeTimeout = NodeTimeout
		if c.MaxTTL > 0 {
			c.NodeTimeout = min(NodeTimeout, c.MaxTTL)
		}
	}
	voting := func() {}
	if c.Logger == nil {
		c.Logger, voting = logger(tb)
	}
	client, err := holdfast.New(c)
	if err != nil {
		for _, n := range c.Nodes {
			n.Close()
		}
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() }) // after Stop an error is normal
	ttl := c.TTL
	if ttl == 0 {
		ttl = 10 * time.Second
		if c.MaxTTL > 0 {
			ttl = min(ttl, c.MaxTTL)
		}
	}
	s.mu.Lock()
	s.ttls = append(s.ttls, ttl)
	s.mu.Unlock()
	s.ready(tb, client, c.Window)
	voting()
	return client
}

// ready waits until all running nodes vote. It does not wait for a node that was restarted, because its quarantine is
// long.
func (s *Nodes) ready(tb testing.TB, client *holdfast.Client, window time.Duration) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		waiting := false
		var last []verdict.Answer
		for i, n := range admin.Nodes(tb.Context(), client) {
			if n.Reason == verdict.ReasonMisconfigured { // such a node never votes for this client
				tb.Fatalf("holdfasttest: node %d: %s; all clients of a set need the same MaxTTL, Window, Durable and Cluster", i, n.Said())
			}
			// VotesIn is more than two windows only for a node that was restarted. As in production, its quarantine
			// is long, so do not wait for its end.
			waiting = waiting || !n.Votes() && s.up(i) && n.VotesIn <= 2*window
			last = append(last, n)
		}
		if !waiting {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("holdfasttest: the nodes do not vote: %v", last)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (s *Nodes) up(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[i] != nil
}

// Stop stops node i, counted from 0. Its connections break, and it refuses new ones. Stop panics if there is no node
// i.
func (s *Nodes) Stop(i int) {
	if err := s.known(i); err != nil {
		panic("holdfasttest: stop: " + err.Error())
	}
	s.stop(i)
}

func (s *Nodes) known(i int) error {
	if i < 0 || i >= len(s.addrs) {
		return fmt.Errorf("there is no node %d; there are %d, counted from 0", i, len(s.addrs))
	}
	return nil
}

func (s *Nodes) stop(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[i] != nil {
		s.running[i].Close()
		s.running[i] = nil
	}
}

// Restart starts node i, counted from 0, on its old port and without its data. Like any restarted server, the node
// votes only after its quarantine: MaxTTL + Window.
func (s *Nodes) Restart(tb testing.TB, i int) {
	tb.Helper()
	if err := s.known(i); err != nil {
		tb.Fatalf("holdfasttest: restart: %v", err)
	}
	s.stop(i)
	s.mu.Lock()
	defer s.mu.Unlock()
	node, err := embedded.Start(s.addrs[i], embedded.Restarted())
	if err != nil {
		tb.Fatalf("holdfasttest: restart node %d: %v", i, err)
	}
	s.running[i] = node
}

// thief is the owner that gets a lock by Lose. Errors and logs show its first part.
const thief = "holdfasttest.Lose~holdfasttest~1-1"

// Lose makes the client lose the lease: on all running nodes another owner gets the lock for a minute. This owner has
// the label "holdfasttest.Lose". The client logs the loss as a warning, as it does for any loss. Lose returns
// when lease.Context has ended with the cause [holdfast.ErrLost]. If the lease is shared, the other readers lose the
// lock with their next renewals. If the lease is released before or during the call, the test fails.
func (s *Nodes) Lose(tb testing.TB, lease *holdfast.Lease) {
	tb.Helper()
	defer func() {
		if err := context.Cause(lease.Context()); err != nil && !errors.Is(err, holdfast.ErrLost) {
			tb.Errorf("holdfasttest: the lease on %q is not lost: %v", lease.Name(), err)
		}
	}()
	if lease.Context().Err() != nil {
		return
	}
	had := 0
	s.mu.Lock()
	for _, n := range s.running {
		if n != nil && n.Steal(lease.Owner(), thief, time.Minute) {
			had++
		}
	}
	ttls := slices.Clone(s.ttls)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for lease.Context().Err() == nil {
		if ctx.Err() != nil {
			tb.Fatalf("holdfasttest: the lease on %q is not lost: %d of %d nodes had it, so it may belong to other nodes", lease.Name(), had, len(s.addrs))
		}
		// A renewal makes the client notice the loss at once. The loop uses the TTL of every client, because one of
		// them is the lease's own client.
		for _, ttl := range ttls {
			_ = lease.Extend(ctx, ttl)
		}
		time.Sleep(time.Millisecond)
	}
}

// Client starts one new node and returns a client of it. This is enough for most tests. Everything else is as for
// [Nodes.Client].
func Client(tb testing.TB, c holdfast.Config) *holdfast.Client {
	tb.Helper()
	return Start(tb, 1).Client(tb, c)
}
