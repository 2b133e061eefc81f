package redistest

import "slices"

// Shard is a master with its replicas and its slots.
type Shard struct {
	Master   *Server
	Replicas []*Server
	Slots    []int // in order; none for a master without slots
}

// Shards returns the shards as the servers themselves see their roles, in the order of [Cluster.Servers]. A server that
// does not answer soon belongs to none. If two masters claim a slot, it belongs to that with the higher epoch, as in
// the protocol of the cluster: the other one has not yet heard of its successor.
func (c *Cluster) Shards() (shards []Shard) {
	views := c.views()
	own := map[*Server]member{}
	var owners [Slots]*Server
	for s, v := range views {
		m, ok := v.own()
		if !ok {
			continue
		}
		own[s] = m
		for _, r := range m.ranges {
			for slot := r[0]; slot <= r[1]; slot++ {
				if o := owners[slot]; o == nil || own[o].epoch < m.epoch {
					owners[slot] = s
				}
			}
		}
	}
	for _, s := range c.Servers() {
		m, answers := own[s]
		if !answers || m.master != "" {
			continue
		}
		shard := Shard{Master: s}
		for slot, o := range owners {
			if o == s {
				shard.Slots = append(shard.Slots, slot)
			}
		}
		for _, r := range c.Servers() {
			if o, ok := own[r]; ok && o.master == m.id {
				shard.Replicas = append(shard.Replicas, r)
			}
		}
		shards = append(shards, shard)
	}
	return shards
}

// MasterOf returns the master of a slot. It is nil if no server that answers is the master now.
func (c *Cluster) MasterOf(slot int) *Server {
	for _, shard := range c.Shards() {
		if _, found := slices.BinarySearch(shard.Slots, slot); found {
			return shard.Master
		}
	}
	return nil
}

// ReplicasOf returns the servers that answer and call this server their master. It may be killed.
func (c *Cluster) ReplicasOf(master *Server) (replicas []*Server) {
	id, views := c.ID(master), c.views()
	for _, s := range c.Servers() {
		if m, ok := views[s].own(); ok && m.master == id {
			replicas = append(replicas, s)
		}
	}
	return replicas
}
