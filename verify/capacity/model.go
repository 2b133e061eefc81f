package main

import "github.com/holdfast-go/holdfast/node"

// Cost is what a load costs, as the model says. CPU is in cores: 1 is one processor, always busy. Memory is in bytes.
type Cost struct {
	// The master of a shard. Above nine servers, clients ask only nine of them for the topology.
	ShardCPU    float64 // of a master that clients do not ask, if there is one
	AskedCPU    float64 // of a master that clients ask
	Messages    float64 // that clients send to a master each second, without questions for the topology
	Questions   float64 // for the topology, to a server that clients ask, each second
	Bus         float64 // messages of hand-offs that a server gets from others, each second
	ShardMemory float64
	Queues      float64 // the part of ShardMemory for places in queues
	Connections float64 // of a master that clients ask
	Burst       float64 // the same, at most, while clients use many hash slots for the first time

	// Each client.
	ClientCPU         float64
	ClientMemory      float64
	ClientConnections float64
	ClientMessages    float64 // each second, to all servers

	// One hand-off, in µs, for the messages between the servers alone.
	Sending float64 // on its shard
	Hearing float64 // on each other server

	// An answer to CLUSTER NODES, in µs.
	Answer       float64 // of a server
	ClientAnswer float64 // of a client

	// The first use of all hash slots by all clients, after a start of all of them, or of the servers.
	AdmitCPU float64 // seconds of one processor, for each shard
}

// Cost returns what a load costs.
func (k Constants) Cost(l Load) (c Cost) {
	shards, servers, clients := float64(l.Shards), l.servers(), float64(l.Clients)
	renewals, asks := l.renewals()/shards, l.Waiters*k.Asks/shards
	cycles, handoffs := l.Cycles/shards, l.Handoffs/shards
	writes := cycles*k.ServerCycle + renewals*k.ServerRenewal + asks*k.ServerAsk + handoffs*k.ServerHandoff
	c.Sending, c.Hearing = (servers-1)*k.ServerBusOut, k.ServerBusIn
	bus := handoffs*c.Sending + (l.Handoffs-handoffs)*c.Hearing
	rounds := k.Rounds * clients
	c.Answer = k.ServerNodes + servers*k.ServerNodesPer
	c.ClientAnswer = k.ClientAnswer + servers*k.ClientListed + servers*servers*k.ClientListed2

	c.ShardCPU = (k.ServerIdle + writes + bus + clients*k.ServerWatch) / 1e6
	c.AskedCPU = c.ShardCPU + rounds*c.Answer/1e6
	if l.asked() == servers {
		c.ShardCPU = c.AskedCPU
	}
	c.Messages = cycles*k.CycleCalls + renewals + asks + handoffs*k.HandoffCalls + clients*k.Watches
	c.Questions = rounds
	c.Bus = l.Handoffs - handoffs
	links := k.LinksPerShard + l.listens()
	c.Connections = clients * (links + 1)
	c.Burst = clients * (node.MaxCalls + l.listens() + 1)
	c.Queues = l.Waiters * k.MemoryWaiter / shards
	names := max(l.Used, l.Names)*k.MemoryRecord + l.Names*k.MemoryName
	c.ShardMemory = k.MemoryEmpty + (l.slots()*k.MemorySlot+names)/shards +
		c.Queues + c.Connections*k.MemoryLink
	c.AdmitCPU = clients * l.slots() / shards * k.ServerAdmit / 1e6

	work := l.Cycles*k.ClientCycle + l.renewals()*k.ClientRenewal + l.Waiters*k.Asks*k.ClientAsk +
		l.Handoffs*k.ClientHandoff
	alone := l.Cycles*k.CycleCalls + l.Waiters*k.Asks // renewals come many at once
	wakes := min(alone/clients, k.ClientWakes)
	c.ClientCPU = (work/clients + wakes*k.ClientWake + k.ClientProcess/l.together() + k.ClientIdle +
		shards*k.ClientWatch + k.Rounds*l.asked()*c.ClientAnswer) / 1e6
	c.ClientMemory = k.ClientEmpty + shards*k.ClientShard + (l.Names*k.ClientLease+l.Waiters*k.ClientWaiter)/clients
	c.ClientConnections = shards*links + l.asked()
	c.ClientMessages = c.Messages*shards/clients + k.Rounds*l.asked()
	return c
}
