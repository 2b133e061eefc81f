package waiting

import (
	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// handed is a lease whose owner has ended it in favour of a waiter in its process.
type handed struct {
	owner   string
	highest int64         // the highest stamp sent under it
	over    clock.Instant // when it has expired on the nodes
	passes  int           // that it came by, in a row
}

// pass begins a round that takes the lease over from an owner in this process: one round
// trip, where a release, the news of it and an acquire would be three. It reports
// whether it did; if so, what remains of from is this bid's to release.
func (b *bid) pass(from handed) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over || b.state == won || b.from != nil {
		return false
	}
	// Also where the pass fails and the lock comes by a hand-off: a failed one may leave a part with this bid.
	b.from, b.passes = &from, from.passes+1
	b.ask(everyNode, false)
	b.whole = true
	if b.err != nil {
		b.from = nil
		return false
	}
	return true
}

// drop releases what was passed to this owner where it did not take it. b.mu is held.
func (b *bid) drop(where func(int) bool) {
	if b.from != nil {
		b.fan.Send(&fanout.Message{
			Call:    nodescript.ReleaseCall(b.lock, b.from.owner, b.from.highest),
			Persist: b.from.over.Add(b.fan.Set().Window),
		}, where)
	}
}
