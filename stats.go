package holdfast

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/verdict"
)

// Stats is a client's knowledge at one moment. It needs no question to the nodes.
type Stats struct {
	// Waiting has the number of calls that wait for each name, without [Config.Prefix]. A call counts from its first
	// question on, also if the lock is free. A name without waiters is not in the map.
	Waiting map[string]int

	// Held has the number of leases that this client has of each name. Readers that share a lease count once.
	Held map[string]int

	// Delay is the time for which a goroutine of this process waited for a processor in the last seconds. It is
	// measured while the client keeps a lease, and 0 below 10 ms. Renewals and [context.Context.Done] of leases are as
	// late.
	Delay time.Duration

	Nodes   []NodeStats   // in the order of [Config.Nodes], or one for each shard of a Redis Cluster that is known
	Window  time.Duration // the client's [Config.Window]
	Cluster string        // the client's [Config.Cluster]
}

// NodeStats is a client's knowledge of one node.
type NodeStats struct {
	// Answer is the state of the node when this client last used it. Its Reason is [verdict.ReasonVotes], or the reason
	// why the node does not vote. It is [verdict.ReasonUnanswered] if the client has not asked for the node's vote yet.
	// An idle client notices no change: [admin.Nodes] asks the nodes. VotesIn, Version, RunID and Loss are not set.
	verdict.Answer

	RoundTrip       time.Duration // the last round trip that was measured; 0 if there is none
	PendingReleases int           // the number of releases that the node could not get yet; the client repeats them
}

// Stats returns the client's present knowledge. It does not use the network. Its time grows with the number of leases.
func (c *Client) Stats() *Stats {
	s := &Stats{Waiting: map[string]int{}, Held: map[string]int{}, Window: c.config.Window, Cluster: c.config.Cluster, Delay: c.keeper.Delay()}
	for name, n := range c.locker.Waiting() {
		s.Waiting[c.unprefixed(name)] += n
	}
	for _, l := range c.keeper.Held() {
		if l.End() == nil { // a lost lease stays for a moment, until its release was sent to the nodes
			s.Held[c.unprefixed(l.Name())]++
		}
	}
	for _, set := range c.sets.present() {
		for i := range set.fan.N() {
			r := set.fan.Report(i)
			offset, known := set.fan.Offset(i)
			n := NodeStats{Answer: answers.Vote(set.said.Of(i, r.Last, offset)), RoundTrip: r.Trip, PendingReleases: r.Parked}
			n.OffsetKnown = known
			n.VotesIn = 0
			s.Nodes = append(s.Nodes, n)
		}
	}
	return s
}
