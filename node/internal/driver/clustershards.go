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
	spares := c.spares(n, slots, of)
	for _, s := range spares {
		switch {
		case s.spare:
		case s.slots > 0: // the same master has had hash slots until now
			s.spare, s.firmed = true, s.since
		default:
			s.spare, s.firmed = true, now
		}
	}
	for _, s := range c.shards {
		if s.slots = 0; !slices.Contains(of, s) && !slices.Contains(spares, s) {
			s.spare = false
			s.lose(now)
		}
	}
	for _, s := range spares {
		s.left = now
		s.hear(r.asked, now, epochs[s.master.id], data[s.master.id])
	}
	for i, m := range owners {
		s := of[i]
		if s == nil {
			s = c.add(m.id)
			of[i] = s
		}
		if s.slots, s.left = slots[m.id], now; s.spare {
			// Others may have had its hash slots meanwhile. It is the newest one with slots now.
			s.spare, s.turn = false, s.turn+1
			c.shards = append(slices.DeleteFunc(c.shards, func(o *Shard) bool { return o == s }), s)
		}
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

// demoted is how long a majority must list a master without hash slots before it proves its memory. A master that was cut
// off, and has lost its slots to a replica, is listed as a working one for a moment, until it has become a replica.
const demoted = 2 * time.Second

// spares returns a shard for each master without hash slots that a majority lists as a working one. A shard of an owner
// does not count. It makes shards for new masters.
func (c *Cluster) spares(n count, slots map[string]int, of []*Shard) (spares []*Shard) {
	for _, m := range n.members {
		if !n.masters[m.id] || m.master != "" || m.state == node.Fail || slots[m.id] > 0 {
			continue
		}
		i := slices.IndexFunc(c.shards, func(s *Shard) bool { return s.master.id == m.id && !slices.Contains(of, s) })
		s := (*Shard)(nil)
		if i >= 0 {
			s = c.shards[i]
		} else {
			s = c.add(m.id)
		}
		s.master = m // the replicas stay: in a failover one of them may get the hash slots in the next round
		spares = append(spares, s)
	}
	return spares
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
			if s.spare {
				spare := &node.Shard{Name: s.name, Node: s.node, Master: public(s.master), Turn: s.turn}
				t.Spare = append(t.Spare, node.Spare{Shard: spare, Firm: steady().Sub(s.firmed) >= demoted})
			}
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
	alike := func(a, b *node.Shard) bool {
		return a.Name == b.Name && a.Node == b.Node && a.Master == b.Master && a.Slots == b.Slots && a.Turn == b.Turn && slices.Equal(a.Replicas, b.Replicas)
	}
	return a.Owner == b.Owner && a.Servers == b.Servers && a.Asked == b.Asked && a.Answered == b.Answered && slices.Equal(a.Former, b.Former) &&
		slices.EqualFunc(a.Shards, b.Shards, alike) &&
		slices.EqualFunc(a.Spare, b.Spare, func(a, b node.Spare) bool { return a.Firm == b.Firm && alike(a.Shard, b.Shard) })
}

// unsettle tells the shards that a round had no majority. The caller holds c.mu.
func (c *Cluster) unsettle() {
	now := steady()
	for _, s := range c.shards {
		s.lose(now)
	}
}
