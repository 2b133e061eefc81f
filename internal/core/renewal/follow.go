package renewal

import "github.com/holdfast-go/holdfast/internal/core/fanout"

// In a client of several node sets, a name can move to another set while it is locked: a Redis Cluster moves hash slots
// from shard to shard, with the records in them. The lease then goes on there.

// Serve makes the keeper end the leases of a node set when its nodes leave their servers: see [Keeper.left]. Call it
// once for each further node set.
func (k *Keeper) Serve(f *fanout.Fanout) { f.WhenLeft(k.left) }

// follow returns the node set that has the lease now.
func (e *Lease) follow() *fanout.Fanout {
	if e.keeper.Route == nil {
		return e.grant.Fan
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.followLocked()
}

// followLocked does the work of follow. The caller holds e.mu.
func (e *Lease) followLocked() *fanout.Fanout {
	if e.keeper.Route == nil {
		return e.grant.Fan
	}
	if f := e.keeper.Route(e.lock.Name()); f != nil && f != e.grant.Fan {
		// The record has moved with its slot. So a server that the nodes of the new set left before does not matter.
		e.grant.Fan, e.bySent = f, e.keeper.fan.Now()
	}
	return e.grant.Fan
}
