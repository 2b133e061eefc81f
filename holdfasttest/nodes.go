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
	"github.com/holdfast-go/holdfast/internal/core/embedded"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Window is the default window of clients of this package. The nodes have one clock, so
// it need only cover what a busy machine delays a command by; a new set votes after
// two of it. Where tests run on a very busy machine, set a larger one.
const Window = 100 * time.Millisecond

// patience bounds the wait for the nodes' first votes.
const patience = 20 * time.Second

// Nodes is a node set inside the test process. Its methods are safe for concurrent use.
type Nodes struct {
	addrs []string

	mu      sync.Mutex
	running []*embedded.Node // nil where stopped
	ttls    []time.Duration  // of the clients
}

// Start starts n nodes on free loopback ports, at least 1. They end with the test.
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

// URLs are what rueidisnode.Open and HOLDFAST_NODES take.
func (s *Nodes) URLs() []string {
	urls := slices.Clone(s.addrs)
	for i := range urls {
		urls[i] = "redis://" + urls[i]
	}
	return urls
}

// Open makes a driver's nodes, for [holdfast.Config]. A client closes its own; each
// needs others.
func (s *Nodes) Open(tb testing.TB) []node.Node {
	tb.Helper()
	nodes, err := rueidisnode.Open(s.URLs()...)
	if err != nil {
		tb.Fatalf("holdfasttest: %v", err)
	}
	return nodes
}

// Client returns a client of these nodes that is closed with the test; Nodes of c is
// not looked at. The default of its Window is [Window], its Logger is the test's log.
// All clients of a set need the same MaxTTL, Window, Durable and Cluster, in tests too:
// with another one the test fails at once.
func (s *Nodes) Client(tb testing.TB, c holdfast.Config) *holdfast.Client {
	tb.Helper()
	c.Nodes = s.Open(tb)
	if c.Window == 0 {
		c.Window = Window
		if c.MaxTTL > 0 {
			c.Window = min(Window, c.MaxTTL/8).Truncate(time.Millisecond)
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
	tb.Cleanup(func() { _ = client.Close() }) // a test may have taken its nodes away
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

// ready waits until all running nodes vote: at once, but for those that were restarted.
func (s *Nodes) ready(tb testing.TB, client *holdfast.Client, window time.Duration) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		waiting := false
		var last []holdfast.NodeAnswer
		for i, n := range client.Admin().Nodes(tb.Context()) {
			if n.Reason == holdfast.ReasonMisconfigured { // which no waiting mends
				tb.Fatalf("holdfasttest: node %d: %s; all clients of a set need the same MaxTTL, Window, Durable and Cluster", i, n.Said())
			}
			// One that was restarted sits out its quarantine, as in production.
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

// Stop takes node i, counted from 0, away: connections break, new ones are refused. It
// panics if there is no such node.
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

// Restart brings node i, counted from 0, back on its port, without what it kept. As a restarted server
// does, it sits out its quarantine before it votes: MaxTTL + Window.
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

// Lose makes lease a lost one, as if its nodes had forgotten it while its holder was away: another owner has the name on
// all nodes that run, for a minute. It returns when lease.Context has ended, with [holdfast.ErrLost] for its cause. The
// test fails if the lease was released instead, also before.
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
	s.mu.Lock()
	for _, n := range s.running {
		if n != nil && !n.Steal(lease.Owner(), "thief~holdfasttest~1-1", time.Minute) {
			tb.Logf("holdfasttest: node %s does not have the lease on %q", n.Addr(), lease.Name())
		}
	}
	ttls := slices.Clone(s.ttls)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for lease.Context().Err() == nil {
		if ctx.Err() != nil {
			tb.Fatalf("holdfasttest: the lease on %q is not lost: is it of these nodes?", lease.Name())
		}
		for _, ttl := range ttls { // a renewal, by which it learns of it at once; of its own client's is one
			_ = lease.Extend(ctx, ttl)
		}
		time.Sleep(time.Millisecond)
	}
}

// Client returns a client of one new node: what most tests need. See [Nodes.Client].
func Client(tb testing.TB, c holdfast.Config) *holdfast.Client {
	tb.Helper()
	return Start(tb, 1).Client(tb, c)
}
