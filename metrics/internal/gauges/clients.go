package gauges

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/verdict"
)

const (
	// freshFor is the time for which the answers of the nodes count. Several scrapers then ask the nodes once.
	freshFor = 5 * time.Second
	// patience bounds a question to the nodes, so that a hung node does not delay a scrape for long.
	patience = 2 * time.Second
)

// Clients has the clients whose gauges are read. It learns them from events. It is safe for concurrent use.
type Clients struct {
	Groups  *Groups
	Passive bool // read only what the clients know, and do not ask the nodes

	mu   sync.Mutex
	list []*client
}

// client is one client and the last answers of its nodes about their votes.
type client struct {
	*holdfast.Client
	cluster string

	mu      sync.Mutex
	answers []verdict.Answer
	asked   time.Time
}

// Observe takes the events about the beginning and the end of a client. It ignores other events.
func (c *Clients) Observe(e *holdfast.Event) {
	switch e.Kind {
	case holdfast.EventOpened:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = append(c.list, &client{Client: e.Client, cluster: e.Client.Stats().Cluster})
	case holdfast.EventClosed:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = slices.DeleteFunc(c.list, func(o *client) bool { return o.Client == e.Client })
	}
}

// NodeOf returns the cluster and the address of the node of an event.
func (c *Clients) NodeOf(e *holdfast.Event) (cluster, addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.list, func(o *client) bool { return o.Client == e.Client }); i >= 0 {
		cluster = c.list[i].cluster
	}
	return cluster, label(e.Node.Node)
}

// label makes an address a valid label.
func label(addr string) string { return strings.ToValidUTF8(addr, "\uFFFD") }

// Reading has the gauges of all clients together.
type Reading struct {
	Waiters map[string]int           // by group; every group that was seen has an entry
	Holders map[string]int           // by group
	Nodes   []Node                   // one per cluster and address
	Windows map[string]time.Duration // by cluster
	Delay   time.Duration            // of the goroutines of this process: see [holdfast.Stats]
}

// Node is the state of a node. If several clients use it, Node has the worst state.
type Node struct {
	Cluster, Addr string
	Master        string // the address of the present master of a shard of a Redis Cluster; "" for other nodes
	Known         bool   // a client has asked for the node's vote
	Up, Votes     bool
	Misfit        bool // the node refuses the settings or the list of nodes of a client
	Offset        time.Duration
	OffsetKnown   bool
	RoundTrip     time.Duration // 0: unknown
	Pending       int           // the releases of all clients
}

// Read returns the gauges. Unless the clients are passive, it asks their nodes for their votes first.
func (c *Clients) Read(ctx context.Context) Reading {
	c.mu.Lock()
	list := slices.Clone(c.list)
	c.mu.Unlock()
	stats := make([]*holdfast.Stats, len(list))
	var wait sync.WaitGroup
	for i, one := range list {
		wait.Go(func() { stats[i] = one.read(ctx, c.Passive) })
	}
	wait.Wait()
	r := Reading{Waiters: map[string]int{}, Holders: map[string]int{}, Windows: map[string]time.Duration{}}
	type key struct{ cluster, addr string }
	nodes := map[key]Node{}
	for _, s := range stats {
		for name, n := range s.Waiting {
			r.Waiters[c.Groups.Of(name)] += n
		}
		for name, n := range s.Held {
			r.Holders[c.Groups.Of(name)] += n
		}
		r.Windows[s.Cluster] = max(r.Windows[s.Cluster], s.Window)
		r.Delay = max(r.Delay, s.Delay)
		for _, n := range s.Nodes {
			k := key{s.Cluster, n.Node}
			one := nodeOf(s.Cluster, n, !c.Passive)
			if other, there := nodes[k]; there {
				one = one.worse(other)
			}
			nodes[k] = one
		}
	}
	for _, g := range c.Groups.Seen() {
		r.Waiters[g] += 0
		r.Holders[g] += 0
	}
	for _, n := range nodes {
		r.Nodes = append(r.Nodes, n)
	}
	slices.SortFunc(r.Nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Addr, b.Addr))
	})
	return r
}

// read returns the client's stats, with the nodes' present answers.
func (c *client) read(ctx context.Context, passive bool) *holdfast.Stats {
	if passive {
		return c.Stats()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil || time.Since(c.asked) >= freshFor {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		c.answers = admin.Nodes(bounded, c.Client)
		cancel()
		c.asked = time.Now()
	}
	s := c.Stats()
	for _, a := range c.answers { // the shards of a Redis Cluster may have changed meanwhile
		i := slices.IndexFunc(s.Nodes, func(n holdfast.NodeStats) bool { return n.Node == a.Node })
		if i < 0 {
			i, s.Nodes = len(s.Nodes), append(s.Nodes, holdfast.NodeStats{})
		}
		s.Nodes[i].Answer = a
	}
	return s
}

// nodeOf returns the state of a node. asked says that the node was asked just now.
func nodeOf(cluster string, n holdfast.NodeStats, asked bool) Node {
	return Node{
		Cluster: cluster, Addr: label(n.Node), Master: label(n.Master), Known: asked || n.Reason != verdict.ReasonUnanswered,
		Up: n.Reachable(), Votes: n.Votes(), Offset: n.Offset, OffsetKnown: n.OffsetKnown,
		RoundTrip: n.RoundTrip, Pending: n.PendingReleases,
		Misfit: n.Reason == verdict.ReasonMisconfigured || n.Reason == verdict.ReasonDuplicate,
	}
}

// worse returns the worst state of two.
func (n Node) worse(o Node) Node {
	switch {
	case !o.Known:
	case !n.Known:
		n.Known, n.Up, n.Votes = true, o.Up, o.Votes
	default:
		n.Up, n.Votes = n.Up && o.Up, n.Votes && o.Votes
	}
	if o.OffsetKnown && (!n.OffsetKnown || o.Offset.Abs() > n.Offset.Abs()) {
		n.Offset, n.OffsetKnown = o.Offset, true
	}
	n.Misfit = n.Misfit || o.Misfit
	n.RoundTrip, n.Pending = max(n.RoundTrip, o.RoundTrip), n.Pending+o.Pending
	return n
}
