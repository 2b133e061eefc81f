//go:build linux

package main

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// crowd is the number of clients of a process with many. One on some more shards separates the cost of a client from
// that of its shards.
const crowd, someShards = 50, 6

// rest is how long the many clients are looked at. They began in the same moment, so all of them may ask once more in a
// time that is a little longer. What they ask once a second would be a sixth more in six seconds.
const rest = 24 * time.Second

// idle measures clients that do nothing: one in a process, many, and many on more shards.
func (f *fit) idle() {
	seconds := func(s slice) float64 { return s.seconds }
	one := f.look(f.holder, 6*time.Second, seconds)

	p := startWorker(f.t, role{URL: urlOf([]*redistest.Server{f.server}), Clients: crowd, TTL: measureTTL})
	before := p.memory()
	p.do("touch", 0, touches)
	more := redistest.StartCluster(f.t, someShards, 0).Servers()
	other := startWorker(f.t, role{URL: urlOf(more), Clients: crowd, TTL: measureTTL})
	other.visit() // the first crowd rests meanwhile, too
	s := f.look(p, rest, seconds)
	now := tallyOf(f.t, f.server)
	const clients = crowd + 1
	nodes := s.Calls["cluster|nodes"]
	f.k.Rounds = nodes / s.seconds / clients
	f.k.Watches = (s.Messages - nodes) / s.seconds / clients
	f.k.LinksPerShard = now.Links/clients - 1
	f.k.MemoryLink = now.Clients / now.Links
	f.k.ServerWatch = (s.tally.CPU/s.seconds-f.k.ServerIdle)/clients - f.k.Rounds*(f.k.ServerNodes+f.k.ServerNodesPer)
	// A process has some memory of its own, which is divided by the number of its clients.
	f.k.ClientEmpty = before / crowd
	f.k.ClientShard = (p.memory() - before) / crowd
	p.child.Kill()

	// Without answers, since their cost is known, and depends on the number of servers.
	answers := func(shards int) float64 {
		return f.k.Rounds * float64(shards) * f.k.Cost(Load{Shards: shards, Clients: 1, TTL: measureTTL}).ClientAnswer
	}
	process, client := line([2]float64{1, crowd}, [2]float64{one.usage.CPU / one.seconds, s.usage.CPU / s.seconds})
	s = f.look(other, 6*time.Second, seconds)
	other.child.Kill()
	for _, server := range more {
		server.Kill()
	}
	wide := s.usage.CPU/s.seconds/crowd - process/crowd
	f.k.ClientProcess = max(process, 0)
	f.k.ClientIdle, f.k.ClientWatch = line([2]float64{1, someShards},
		[2]float64{client - answers(1), wide - answers(someShards)})
}
