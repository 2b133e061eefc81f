package driver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// This file finds the shards of a topology.

// parted is how long a shard without hash slots keeps its node. It may get slots again.
const parted = time.Minute

// settle takes over the answers of a majority. The caller holds c.mu.
func (c *Cluster) settle(r *round, n count) {
	slots, epochs, data := map[string]int{}, map[string]uint64{}, map[string]string{} // by the id of the owner
	for _, s := range n.spans {
		slots[s.owner] += s.to - s.from + 1
		epochs[s.owner] = max(epochs[s.owner], s.epoch)
	}
	for _, v := range r.views {
		data[v.self] = v.data
		epochs[v.self] = max(epochs[v.self], v.epoch) // other servers learn of it later
	}
	at := func(id string) (m member, found bool) {
		i, found := slices.BinarySearchFunc(n.members, id, func(m member, id string) int { return strings.Compare(m.id, id) })
		if found {
			m = n.members[i]
		}
		return m, found
	}
	var owners []member // the one with most slots first
	for id := range slots {
		if m, found := at(id); found {
			owners = append(owners, m)
		}
	}
	slices.SortFunc(owners, func(a, b member) int {
		return cmp.Or(slots[b.id]-slots[a.id], strings.Compare(a.id, b.id))
	})
	of := c.match(owners)
	now := steady()
	for _, s := range c.shards {
		if s.slots = 0; !slices.Contains(of, s) {
			s.lose(now)
		}
	}
	for i, m := range owners {
		s := of[i]
		if s == nil {
			s = c.add(m.id)
			of[i] = s
		}
		s.slots, s.left = slots[m.id], now
		s.master, s.replicas = m, s.replicas[:0]
		for _, r := range n.members {
			if r.master == m.id {
				s.replicas = append(s.replicas, r)
			}
		}
		s.hear(r.asked, now, epochs[m.id], data[m.id])
	}
	c.shards = slices.DeleteFunc(c.shards, func(s *Shard) bool {
		if s.slots > 0 || now.Sub(s.left) < parted {
			return false
		}
		c.wg.Go(s.node.Close) // it waits for goroutines that may wait for c.mu
		return true
	})
	c.publish(r, n)
}

// match returns the shard of each owner: the shard whose master it was, else the shard whose replica it was. The result
// is nil for the owner of a new shard.
func (c *Cluster) match(owners []member) []*Shard {
	of := make([]*Shard, len(owners))
	taken := func(s *Shard) bool { return slices.Contains(of, s) }
	for i, m := range owners {
		for _, s := range c.shards {
			if s.master.id == m.id && !taken(s) {
				of[i] = s
			}
		}
	}
	for i, m := range owners {
		for _, s := range c.shards {
			if of[i] == nil && !taken(s) && slices.ContainsFunc(s.replicas, func(r member) bool { return r.id == m.id }) {
				of[i] = s
			}
		}
	}
	return of
}

// add makes a new shard, with the id of its first master as its name. A former shard with the same first master
// may still have that name.
func (c *Cluster) add(id string) *Shard {
	taken := func(name string, n int) bool {
		return slices.ContainsFunc(c.shards, func(s *Shard) bool { return s.name[:min(n, len(s.name))] == name[:min(n, len(name))] })
	}
	s := &Shard{cluster: c, name: id}
	for i := 2; taken(s.name, len(s.name)); i++ {
		s.name = id + "-" + strconv.Itoa(i)
	}
	shown := 8
	for shown < len(s.name) && taken(s.name, shown) {
		shown++
	}
	first, _, _ := strings.Cut(c.name, ",") // the whole list would hide the rest
	s.addr = first + "/" + s.name[:shown]
	s.node = c.c.Node(s)
	c.shards = append(c.shards, s)
	return s
}

// publish makes the topology public. It keeps the present one if nothing has changed.
func (c *Cluster) publish(r *round, n count) {
	public := func(m member) node.ClusterServer { return node.ClusterServer{ID: m.id, Addr: m.addr, State: m.state} }
	t := &node.Topology{Servers: len(n.members), Asked: len(n.asked)}
	for _, m := range n.asked {
		if w := c.witnesses[m.addr]; w != nil && w.answers {
			t.Answered++
		}
	}
	var shards []*Shard
	for _, s := range c.shards {
		if s.slots == 0 {
			t.Former = append(t.Former, s.node)
			continue
		}
		shards = append(shards, s)
		shard := &node.Shard{Name: s.name, Node: s.node, Master: public(s.master), Slots: s.slots, Turn: s.turn}
		for _, r := range s.replicas {
			shard.Replicas = append(shard.Replicas, public(r))
		}
		t.Shards = append(t.Shards, shard)
	}
	for i := range t.Owner {
		t.Owner[i] = -1
	}
	for _, span := range n.spans {
		i := slices.IndexFunc(shards, func(s *Shard) bool { return s.master.id == span.owner })
		for slot := span.from; slot <= span.to; slot++ {
			t.Owner[slot] = int16(i)
		}
	}
	if last := c.now.Load(); last != nil && same(last.topology, t) {
		t = last.topology
	}
	c.now.Store(&settled{t, shards, r.asked})
}

// same reports whether two topologies have the same content.
func same(a, b *node.Topology) bool {
	return a.Owner == b.Owner && a.Servers == b.Servers && a.Asked == b.Asked && a.Answered == b.Answered && slices.Equal(a.Former, b.Former) &&
		slices.EqualFunc(a.Shards, b.Shards, func(a, b *node.Shard) bool {
			return a.Name == b.Name && a.Node == b.Node && a.Master == b.Master && a.Slots == b.Slots && a.Turn == b.Turn && slices.Equal(a.Replicas, b.Replicas)
		})
}

// unsettle tells the shards that a round had no majority. The caller holds c.mu.
func (c *Cluster) unsettle() {
	now := steady()
	for _, s := range c.shards {
		s.lose(now)
	}
}
