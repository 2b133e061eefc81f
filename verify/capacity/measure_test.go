//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// measureTTL is the TTL of the small runs. The large ones have another.
var measureTTL = 10 * time.Second

// settled is longer than a client keeps connections that it used in a burst only.
var settled = 36 * time.Second

// fit is a measurement of costs on a cluster with one master and no replica. Each method measures some costs, and needs
// those before it.
type fit struct {
	t      *testing.T
	server *redistest.Server
	k      *Constants
	holder *process // one client
	waiter *process // one client
}

const (
	holds   = 6000
	waits   = 2000 // and fewWaits before, and holds after
	records = 16_000
	touches = 12 // names that each client of the crowd locks at once: on three shards, each has some of them
)

func urlOf(servers []*redistest.Server) string {
	url := "redis+cluster://"
	for i, s := range servers {
		if i > 0 {
			url += ","
		}
		url += s.Addr()
	}
	return url
}

// measure fills in all costs that do not depend on the number of servers.
func measure(t *testing.T, k *Constants) {
	f := &fit{t: t, server: redistest.StartCluster(t, 1, 0).Servers()[0], k: k}
	f.empty()
	f.admit()
	f.idle()
	f.leases()
	f.waiting()
	f.handoffs()
	f.cycles()
}

// during returns what the server and a process have used while the process works.
func (f *fit) during(p *process, word string, a, b int) (s slice) {
	f.t.Helper()
	before := tallyOf(f.t, f.server)
	s.usage = p.do(word, a, b)
	s.tally, s.seconds = tallyOf(f.t, f.server).since(before)
	return s
}

// look returns the cheapest slice in which a process only keeps what it has. count returns the pieces of work.
func (f *fit) look(p *process, d time.Duration, count func(slice) float64) slice {
	return cheapest(repeats, func() slice {
		s := f.during(p, "look", looking(d), 0)
		s.n = count(s)
		return s
	})
}

// background returns the CPU of the server for clients that do nothing.
func (f *fit) background(clients, seconds float64) float64 {
	return seconds * (f.k.ServerIdle + clients*(f.k.ServerWatch+f.k.Rounds*(f.k.ServerNodes+f.k.ServerNodesPer)))
}

// resting returns the CPU of a process with one client that does nothing.
func (f *fit) resting(seconds float64) float64 {
	return seconds * 1e6 * f.k.Cost(Load{Shards: 1, Clients: 1, TTL: measureTTL}).ClientCPU
}

// awake returns the same, with the most wakings.
func (f *fit) awake(seconds float64) float64 {
	return f.resting(seconds) + seconds*f.k.ClientWakes*f.k.ClientWake
}

func (f *fit) empty() {
	best := cheapest(repeats, func() slice {
		before := tallyOf(f.t, f.server)
		time.Sleep(2 * time.Second)
		after := tallyOf(f.t, f.server)
		d, seconds := after.since(before)
		f.k.MemoryEmpty = after.Memory
		return slice{tally: d, n: seconds}
	})
	f.k.ServerIdle = best.tally.CPU / best.n
}

// admit measures the first use of hash slots: of all slots by the first client, and of some by another client.
func (f *fit) admit() {
	f.holder = f.client()
	f.holder.do("hold", 0, 1) // waits for its quarantine
	f.holder.do("release", 0, 1)
	redistest.Eventually(f.t, time.Minute, "a guard, an admission and kept in each slot", func() bool {
		return f.server.MustDo(f.t, "DBSIZE").(int64) >= 3*node.Slots
	})
	time.Sleep(2 * time.Second)
	before := tallyOf(f.t, f.server)
	f.k.MemorySlot = (before.Memory - f.k.MemoryEmpty) / node.Slots
	p := f.client()
	first := f.pass(p, waits)
	slots := map[int]bool{}
	for i := range waits {
		slots[redistest.Slot(name(i))] = true
	}
	f.k.ServerAdmit = (first - f.pass(p, waits)) / float64(len(slots))
	// Many other names, because the tables of keys grow in steps.
	before = tallyOf(f.t, f.server)
	p.do("hold", holds, holds+records)
	p.do("release", holds, holds+records)
	time.Sleep(2 * time.Second)
	f.k.MemoryRecord = (tallyOf(f.t, f.server).Memory - before.Memory) / records
	p.child.Kill()
}

// client starts a process with one client.
func (f *fit) client() *process {
	return startWorker(f.t, role{URL: urlOf([]*redistest.Server{f.server}), Clients: 1, TTL: measureTTL})
}

// pass makes a process take and release names, and returns the CPU of the server.
func (f *fit) pass(p *process, names int) float64 {
	before := tallyOf(f.t, f.server)
	p.do("hold", 0, names)
	p.do("release", 0, names)
	d, _ := tallyOf(f.t, f.server).since(before)
	return d.CPU
}

// paces returns the time for n renewals of each lease.
func paces(n int, ttl time.Duration) time.Duration {
	return time.Duration(n) * time.Duration(float64(time.Second)/Load{Names: 1, TTL: ttl}.renewals())
}

func (f *fit) leases() {
	f.holder.do("look", 100, 0)
	before, base := tallyOf(f.t, f.server), f.holder.memory()
	f.holder.do("hold", 0, holds)
	f.holder.do("look", int(settled.Milliseconds()), 0)
	s := f.look(f.holder, paces(2, measureTTL), func(s slice) float64 { return s.Calls["evalsha"] })
	f.k.ServerRenewal = (s.tally.CPU - f.background(1, s.seconds)) / s.n
	f.k.ClientRenewal = (s.usage.CPU - f.resting(s.seconds)) / s.n
	f.k.ClientLease = (f.holder.memory() - base) / holds
	fresh := f.k.MemoryRecord * (holds - waits) // the others were used before
	f.k.MemoryName = (tallyOf(f.t, f.server).Memory - before.Memory - fresh) / holds
}

// handoffs measures two processes that take turns at some names.
func (f *fit) handoffs() {
	s := cheapest(repeats, func() (s slice) {
		before := tallyOf(f.t, f.server)
		f.holder.begin("swap", 32, 3000)
		s.usage = f.waiter.do("swap", 32, 3000)
		s.usage.CPU += f.holder.hear().CPU
		s.tally, s.seconds = tallyOf(f.t, f.server).since(before)
		s.n = s.Calls["publish"]
		return s
	})
	f.k.ServerHandoff = (s.tally.CPU - f.background(2, s.seconds)) / s.n
	f.k.HandoffCalls = s.Calls["evalsha"] / s.n
	f.k.ClientHandoff = (s.usage.CPU - 2*f.resting(s.seconds)) / s.n
}

// cycle returns the cheapest slice of cycles of free names.
func (f *fit) cycle(p *process) slice {
	return cheapest(repeats, func() slice {
		s := f.during(p, "cycle", 64, 3000)
		s.n = float64(s.Done)
		return s
	})
}

func (f *fit) cycles() {
	f.holder.do("cycle", 64, 4000) // the first use of the slots of these names
	s := f.cycle(f.holder)
	f.k.ServerCycle = (s.tally.CPU - f.background(2, s.seconds)) / s.n
	f.k.CycleCalls = s.Calls["evalsha"] / s.n
	f.k.ClientCycle = (s.usage.CPU - f.awake(s.seconds)) / s.n
}
