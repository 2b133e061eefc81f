package main

import "math"

// Limits are what a server and a client have.
type Limits struct {
	CPU         float64 // cores of a server: Redis runs commands on one, and a part of it must stay free
	Memory      float64 // bytes of a server
	Connections float64 // of a server: maxclients
	ClientCPU   float64 // cores of a client
	ClientBytes float64
}

// usual are the default limits. 10,000 is the default of maxclients.
var usual = Limits{CPU: 0.7, Memory: 4 << 30, Connections: 10_000, ClientCPU: 1, ClientBytes: 1 << 30}

// share is the part of a limit that a cost uses. Above 1 it is too much.
type share struct {
	of   string
	part float64
}

// shares returns the part of each limit that a cost uses, the largest first in the order of the list if several are
// equal.
func (m Limits) shares(c Cost) []share {
	return []share{
		{"CPU of a shard", c.ShardCPU / m.CPU},
		{"CPU of the servers that are asked for the topology", c.AskedCPU / m.CPU},
		{"memory of a shard", c.ShardMemory / m.Memory},
		{"connections of a shard", c.Connections / m.Connections},
		{"CPU of a client", c.ClientCPU / m.ClientCPU},
		{"memory of a client", c.ClientMemory / m.ClientBytes},
	}
}

// first returns the limit of which a cost uses the largest part.
func (m Limits) first(c Cost) share {
	all := m.shares(c)
	first := all[0]
	for _, s := range all[1:] {
		if s.part > first.part {
			first = s
		}
	}
	return first
}

// kind is a kind of load of which a cluster carries so much.
type kind struct {
	name string
	set  func(l *Load, n float64)
}

// kinds are those of which the command says the most that a cluster carries, each alone.
var kinds = []kind{
	{"leases held", func(l *Load, n float64) { l.Names = n }},
	{"names used within two hours", func(l *Load, n float64) { l.Used = n }},
	{"locks and unlocks a second", func(l *Load, n float64) { l.Cycles = n }},
	{"hand-offs a second", func(l *Load, n float64) { l.Handoffs = n }},
	{"waiters", func(l *Load, n float64) { l.Waiters, l.Names = n, n }},
	{"clients that are idle", func(l *Load, n float64) { l.Clients = max(int(n), 1) }},
}

// carries returns the most of a kind that a cluster carries beside a load, and the limit that comes first. It returns 0
// if the load alone is too much.
func (m Limits) carries(k Constants, l Load, of kind) (most float64, limit string) {
	fits := func(n float64) bool {
		more := l
		of.set(&more, n)
		return m.first(k.Cost(more)).part <= 1
	}
	low, high := 0.0, 1e12
	if fits(low) {
		for high-low > max(1, low/1e4) {
			if mid := math.Floor((low + high) / 2); fits(mid) {
				low = mid
			} else {
				high = mid
			}
		}
	} else {
		high = 0
	}
	of.set(&l, high)
	return low, m.first(k.Cost(l)).of
}
