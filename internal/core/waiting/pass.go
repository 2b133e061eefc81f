package waiting

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// handed is a lease that its owner has ended in favour of a waiter of the same process.
type handed struct {
	owner   string
	highest int64         // the highest stamp sent under owner
	over    clock.Instant // instant at which the lease has expired on the nodes
	passes  int           // passes in a row by which the lease came
}

// pass begins a round that takes the lease over from an owner of this process. It needs one round trip. A release, a
// hand-off and an acquire would need three. pass reports whether it began. If it did, this bid must release the remains
// of from.
func (b *bid) pass(from handed) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over || b.state == won || b.from != nil {
		return false
	}
	// This is also set for a pass that fails: it may leave a partial grant, and the lock then comes by a hand-off.
	b.from, b.passes = &from, from.passes+1
	b.ask(everyNode, false)
	b.whole = true
	if b.err != nil {
		b.from = nil
		return false
	}
	return true
}

// drop releases the passed lease on nodes where this owner did not take it over. b.mu is held.
func (b *bid) drop(where func(int) bool) {
	if b.from != nil {
		b.fan.Send(&fanout.Message{
			Call:    nodescript.ReleaseCall(b.lock, b.from.owner, b.from.highest),
			Persist: b.from.over.Add(b.fan.Set().Window),
		}, where)
	}
}
