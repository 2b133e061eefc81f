package renewal

import (
	"container/heap"
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
)

// In a client of several node sets, a name can move to another set while it is locked: a Redis Cluster moves hash slots
// from shard to shard, with the records in them. The lease then goes on there.

// Serve makes the keeper end the leases of a node set when its nodes leave their servers: see [Keeper.left]. Call it
// once for each further node set.
func (k *Keeper) Serve(f *fanout.Fanout) { f.WhenLeft(k.left) }

// Serves reports whether a node set has a lease. A lease whose name has moved may count until its next renewal.
func (k *Keeper) Serves(f *fanout.Fanout) bool {
	return slices.ContainsFunc(k.Held(), func(e *Lease) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.grant.Fan == f
	})
}

// moved renews the leases at once whose names have moved to another node set since the last call. The first renewal after
// a move makes sure that the new set has the lease, and may need several round trips for that. So a lease has all of its
// time left for it, and the server that had the lease before is needed for a moment only.
func (k *Keeper) moved() {
	if k.Routes == nil {
		return
	}
	last := k.routes
	if k.routes = k.Routes(); k.routes == last {
		return
	}
	for _, e := range k.Held() {
		if f := e.moved(); f != nil {
			k.hurry(e, f)
		}
	}
}

// moved returns the node set to which the name of the lease has moved, or nil if a renewal to it was sent before. A
// downgrade does not count: a further request would make the answers to the last one void.
func (e *Lease) moved() *fanout.Fanout {
	f := e.keeper.Route(e.lock.Name())
	e.mu.Lock()
	defer e.mu.Unlock()
	if f == e.grant.Fan || e.end != nil || e.former != nil {
		return nil
	}
	return f
}

// hurry makes the lease due now in the lane of a node set. The scheduler calls it before it looks for leases that are
// due.
func (k *Keeper) hurry(e *Lease, f *fanout.Fanout) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.index >= 0 {
		k.place(e, f)
		e.due = min(e.due, k.fan.Now())
		heap.Fix(&e.lane.heap, int(e.index))
	}
}

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
