package main

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// Load is what clients want from a cluster. Each client uses every shard, as it does if it locks many names. Names are
// spread evenly.
type Load struct {
	Shards, Replicas int     // the replicas of each shard
	Clients          int     // holdfast.Clients
	Together         int     // the clients of each process; 0: one
	Names            float64 // leases held at a time
	Used             float64 // different names used within two hours, if that is more than Names
	TTL              time.Duration
	Waiters          float64 // a client has one for each name that it waits for, however many goroutines wait
	Cycles           float64 // locks and unlocks of free names each second
	Handoffs         float64 // unlocks each second of names for which another client waits
	Slots            float64 // hash slots that were used; 0: all
	Listens          bool    // each client has waited once, and so has a subscription on each shard
}

// window is Config.Window, at its default.
const window = 250 * time.Millisecond

// check returns an error if the load makes no sense.
func (l Load) check() error {
	switch {
	case l.Shards < 1 || l.Shards > node.Slots:
		return errors.New("-shards: want numbers from 1 to 16384, with commas between them")
	case l.Replicas < 0 || l.Clients < 1:
		return errors.New("-replicas: want 0 or more; -clients: want 1 or more")
	case l.Names < 0 || l.Used < 0 || l.Waiters < 0 || l.Cycles < 0 || l.Handoffs < 0:
		return errors.New("-names, -used, -waiters, -cycles, -handoffs: want 0 or more")
	case l.TTL < 8*window:
		return errors.New("-ttl: want 2s or more, which is 8 windows")
	}
	return nil
}

// servers returns the number of servers of the cluster, and asked the number of those that each client asks for the
// topology. These are the same ones for all clients.
func (l Load) servers() float64 { return float64(l.Shards * (1 + l.Replicas)) }
func (l Load) asked() float64   { return min(l.servers(), 9) }

// renewals returns the renewals of all leases each second: see Keeper.pace.
func (l Load) renewals() float64 {
	return l.Names / (quorum.Validity(l.TTL, window).Seconds() / 3)
}

// listens returns 1 if each client has a subscription on each shard, else 0.
func (l Load) listens() float64 {
	if l.Listens || l.Waiters > 0 || l.Handoffs > 0 {
		return 1
	}
	return 0
}

// together returns the number of clients of a process.
func (l Load) together() float64 { return float64(max(l.Together, 1)) }

func (l Load) slots() float64 {
	if l.Slots > 0 {
		return l.Slots
	}
	return node.Slots
}
