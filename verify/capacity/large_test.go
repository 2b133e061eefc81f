//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// largeTTL is the TTL of the larger runs: another one than that of the costs.
var largeTTL = 30 * time.Second

// large makes larger runs, and compares the model with them.
type large struct {
	t       *testing.T
	servers []*redistest.Server
	load    Load // what goes on at present
	into    *Measured
	keep    func()
}

// size is how large the runs are.
type size struct{ names, waiters, processes, clients int }

// compare runs all larger runs. It adds the comparisons to the measurements one by one, and calls keep after each. The
// clients are in processes.
func compare(t *testing.T, m *Measured, s size, keep func()) {
	l := &large{t: t, into: m, keep: keep, servers: redistest.StartCluster(t, 3, 0).Servers()}
	l.load = Load{Shards: 3, TTL: largeTTL}
	l.manyClients(s)
	l.manyNames(s)
	l.replicas()
	l.manyServers(m.Constants.ServerIdle)
	l.manyShards(s)
}

// check adds a comparison with the present load.
func (l *large) check(what, figure string, measured float64) {
	l.checkLoad(what, figure, l.load, measured)
}

// checkLoad adds a comparison with another load.
func (l *large) checkLoad(what, figure string, load Load, measured float64) {
	l.into.Checks = append(l.into.Checks, Check{what, figure, load, measured})
	l.keep()
}

func (l *large) begin() []tally { return tallies(l.t, l.servers) }

// since returns the mean of the masters. The memory and the connections are those of now.
func (l *large) since(before []tally) (s slice) {
	n := float64(len(before))
	s.Calls = map[string]float64{}
	for i, after := range l.begin() {
		d, seconds := after.since(before[i])
		s.seconds += seconds / n
		s.tally.CPU, s.Messages, s.Bus = s.tally.CPU+d.CPU/n, s.Messages+d.Messages/n, s.Bus+d.Bus/n
		s.tally.Memory, s.Clients = s.tally.Memory+after.Memory/n, s.Clients+after.Clients/n
		s.Links += after.Links / n
		for c, k := range d.Calls {
			s.Calls[c] += k / n
		}
	}
	s.n = s.seconds
	return s
}

// during returns the cheapest slice while processes do the same.
func (l *large) during(word string, a, b int, all ...*process) slice {
	return cheapest(repeats, func() slice {
		before := l.begin()
		u := together(word, a, b, all...)
		s := l.since(before)
		if s.usage = u; word == "cycle" {
			s.n = float64(u.Done)
		}
		if word == "swap" {
			s.n = s.Calls["publish"]
		}
		return s
	})
}

// rates adds the comparisons of CPU and messages.
func (l *large) rates(what string, s slice) {
	nodes := s.Calls["cluster|nodes"]
	l.check(what, "CPU of a shard", s.tally.CPU/1e6/s.seconds)
	l.check(what, "messages to a shard", (s.Messages-nodes)/s.seconds)
}

// manyClients measures clients that do nothing.
func (l *large) manyClients(s size) {
	var all []*process
	for range s.processes {
		all = append(all, startWorker(l.t, role{URL: urlOf(l.servers), Clients: s.clients / s.processes, TTL: largeTTL}))
		if len(all) == 1 { // waits for the quarantines, and begins before the others come
			all[0].do("touch", 0, touches)
		}
	}
	together("touch", 0, touches, all...)
	together("look", int(settled.Milliseconds()), 0, all...)
	d := l.during("look", looking(6*time.Second), 0, all...)
	l.load.Clients, l.load.Together, l.load.Used = s.clients, s.clients/s.processes, float64(s.clients*touches)
	const what = "clients"
	l.rates(what, d)
	n := float64(s.clients)
	l.check(what, "questions for the topology", d.Calls["cluster|nodes"]/d.seconds)
	l.check(what, "connections of a shard", d.Links)
	l.check(what, "memory of a shard", d.tally.Memory+d.Clients)
	l.check(what, "CPU of a client", d.usage.CPU/1e6/n/d.seconds)
	memory := 0.0
	for _, p := range all {
		memory += p.memory()
		p.child.Kill()
	}
	l.check(what, "memory of a client", memory/n)
}

// manyNames measures many leases, then waiters beside them, hand-offs and cycles. It has two clients.
func (l *large) manyNames(s size) {
	holder := startWorker(l.t, role{URL: urlOf(l.servers), Clients: 1, TTL: largeTTL})
	waiter := startWorker(l.t, role{URL: urlOf(l.servers), Clients: 1, TTL: largeTTL})
	l.load.Clients, l.load.Together = 2, 1
	pass := func() (cpu float64) {
		before := l.begin()
		waiter.do("hold", 0, s.waiters)
		waiter.do("release", 0, s.waiters)
		return l.since(before).tally.CPU / 1e6
	}
	first := pass()
	slots := map[int]bool{}
	for i := range s.waiters {
		slots[redistest.Slot(name(i))] = true
	}
	l.checkLoad("first use of hash slots", "CPU of admission",
		Load{Shards: 3, TTL: largeTTL, Clients: 1, Slots: float64(len(slots))}, first-pass())

	holder.do("hold", 0, s.names)
	holder.do("look", int(settled.Milliseconds()), 0)
	pace := looking(paces(1, largeTTL))
	d := l.during("look", pace, 0, holder)
	l.load.Names, l.load.Used = float64(s.names), float64(s.names)
	l.rates("names", d)
	l.check("names", "memory of a shard", d.tally.Memory+d.Clients)
	// The other client uses nothing but its connections, so the CPU is that of the busy one.
	busy := l.load
	busy.Clients = 1
	l.checkLoad("names", "CPU of a client", busy, d.usage.CPU/1e6/d.seconds)
	l.checkLoad("names", "memory of a client", busy, holder.memory())

	waiter.do("wait", 0, s.waiters)
	waiter.do("look", 2000, 0)
	d = l.during("look", pace, 0, waiter)
	l.load.Waiters = float64(s.waiters)
	l.rates("names and waiters", d)
	l.check("names and waiters", "memory of a shard", d.tally.Memory+d.Clients)
	queues := 0.0
	for _, s := range l.servers {
		queues += queuesOf(l.t, s) / float64(len(l.servers))
	}
	l.check("names and waiters", "memory of queues on a shard", queues)
	busy = Load{Shards: 3, TTL: largeTTL, Clients: 1, Waiters: float64(s.waiters)}
	l.checkLoad("waiters", "CPU of a client", busy, d.usage.CPU/1e6/d.seconds)
	l.checkLoad("waiters", "memory of a client", busy, waiter.memory())
	waiter.do("leave", 0, 0)
	holder.do("release", 0, s.names)
	l.load.Names, l.load.Waiters, l.load.Listens = 0, 0, true

	together("swap", 60, 1000, holder, waiter)
	d = l.during("swap", 60, 3000, holder, waiter)
	l.load.Handoffs = 3 * d.Calls["publish"] / d.seconds
	l.rates("hand-offs", d)
	l.check("hand-offs", "hand-offs that a server hears of", d.Bus/d.seconds)
	l.check("hand-offs", "CPU of a client", d.usage.CPU/1e6/2/d.seconds)
	l.load.Handoffs = 0
	l.cycles("cycles", holder)
}

// cycles measures cycles of free names by one client.
func (l *large) cycles(what string, p *process) {
	p.do("cycle", 64, 4000)
	d := l.during("cycle", 64, 3000, p)
	l.load.Cycles = d.n / d.seconds
	l.rates(what, d)
	busy := l.load
	busy.Clients = 1
	l.checkLoad(what, "CPU of a client", busy, d.usage.CPU/1e6/d.seconds)
	l.load.Cycles = 0
}

// replicas measures cycles on masters that have a replica.
func (l *large) replicas() {
	c := redistest.StartCluster(l.t, 2, 1)
	l.servers = nil
	for _, shard := range c.Shards() {
		l.servers = append(l.servers, shard.Master)
	}
	l.load = Load{Shards: 2, Replicas: 1, TTL: measureTTL, Clients: 1}
	p := startWorker(l.t, role{URL: urlOf(c.Servers()), Clients: 1, TTL: measureTTL})
	p.do("cycle", 64, 2000+int((measureTTL+window).Milliseconds()))
	l.cycles("cycles with replicas", p)
}

// manyServers compares the costs that depend on the number of servers. Most of the servers exist in name only.
func (l *large) manyServers(idle float64) {
	check := func(shards, replicas int, figure string, measured float64) {
		load := Load{Shards: shards, Replicas: replicas, Clients: 1, TTL: measureTTL}
		l.checkLoad(number(load.servers())+" servers", figure, load, measured)
	}
	for _, shards := range []int{8, 300} {
		check(shards, 1, "CPU of an answer", answerCost(l.t, 2*shards))
		check(shards, 1, "CPU of a client for an answer", roundCost(l.t, 2*shards))
	}
	alone, _ := busCost(l.t, 1, idle)
	out, in := busCost(l.t, 12, idle)
	check(12, 0, "CPU of sending a hand-off", out-alone)
	check(12, 0, "CPU of hearing a hand-off", in)
}

// manyShards measures clients that do nothing on more shards.
func (l *large) manyShards(s size) {
	const shards = 16
	l.servers = redistest.StartCluster(l.t, shards, 0).Servers()
	l.load = Load{Shards: shards, TTL: largeTTL, Clients: s.clients / 10, Together: s.clients / 10}
	p := startWorker(l.t, role{URL: urlOf(l.servers), Clients: l.load.Clients, TTL: largeTTL})
	p.visit()
	d := l.during("look", looking(6*time.Second), 0, p)
	what := number(shards) + " shards"
	l.check(what, "messages to a shard", (d.Messages-d.Calls["cluster|nodes"])/d.seconds)
	l.check(what, "CPU of a client", d.usage.CPU/1e6/float64(l.load.Clients)/d.seconds)
}
