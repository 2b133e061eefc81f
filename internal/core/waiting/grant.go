package waiting

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Grant is a lease that was won.
type Grant struct {
	Owner    string
	Token    int64         // the fencing token: µs of stamp time
	Sent     clock.Instant // instant at which Token was drawn: the validity counts from here
	Deadline clock.Instant
	Others   bool // a node had another waiter in its queue

	by     nodes // nodes that granted it before it was won
	passes int   // passes in a row since the nodes handed the name to this process
	waited bool  // the name came by a hand-off
	late   *late // nil if its bid has all answers
}

// refusal returns the refusal for the other waiters of this process. It contains the knowledge of the nodes that
// granted the lease.
func (g *Grant) refusal(n int, ttl time.Duration, now clock.Instant) *Refusal {
	answers := make([]nodescript.Answer, n)
	for i := range answers {
		if g.by.has(i) {
			answers[i] = nodescript.Answer{Verdict: nodescript.Held, Owner: g.Owner, Left: g.Sent.Add(ttl).Sub(now), Rank: -1}
		}
	}
	return refusal(answers, nil, true)
}

// late refers to a bid that was won before every node had answered.
type late struct{ bid atomic.Pointer[bid] } // nil when every node has answered

// End marks the lease as over. The caller calls it before it releases the lease. A question of the bid that is still
// under way may reach a node after the release. The bid then releases the grant or the place that the question leaves.
func (g *Grant) End() {
	if g.late == nil {
		return
	}
	if b := g.late.bid.Load(); b != nil {
		b.mu.Lock()
		b.ended = true
		b.mu.Unlock()
	}
}

// take ends a bid that was won and returns its lease. It reports false if the bid is not won or the lease's deadline is
// over. b.mu is held.
func (b *bid) take() (Grant, bool) {
	deadline := quorum.Deadline(b.sent, b.ttl, b.fan.Set().Window)
	if b.state != won || b.fan.Now() >= deadline {
		return Grant{}, false
	}
	b.state, b.taken = over, true
	g := Grant{Owner: b.owner, Token: b.stamp, Sent: b.sent, Deadline: deadline, Others: b.votes.Waiting(), waited: b.waited, passes: b.passes}
	for i := range b.fan.N() {
		if b.votes.Pending(i) {
			if b.late == nil {
				b.late = &late{}
				b.late.bid.Store(b)
			}
			continue
		}
		if b.votes.Granted(i) {
			g.by = g.by.with(i)
			continue
		}
		if b.stands.has(i) {
			b.quit(i)
		}
		b.drop(func(node int) bool { return node == i })
	}
	g.late = b.late
	return g, true
}

// got reports whether the bid has the lock or had it.
func (b *bid) got() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// quit removes the owner from the queue of a node that did not grant. It repeats the request for as long as a node
// keeps a waiter that asks nothing. Without it the node would reserve the name for this owner long after the end of the
// lease. b.mu is held.
func (b *bid) quit(node int) {
	b.fan.SendTo(node, &fanout.Message{Call: nodescript.QuitCall(b.lock, b.owner), Persist: b.fan.Now().Add(nodescript.QueueKept)})
}

// giveUp ends the bid. It releases in the background what the nodes have granted, and what they grant when a late
// command arrives. If the release overtakes its acquire, the acquire finds a tombstone. giveUp does nothing for a nil
// bid.
func (b *bid) giveUp() { b.endBid(true) }

// endBid ends the bid as giveUp does. If drop is true, it withdraws the current round from nodes that did not get it
// yet. Otherwise those nodes get it, and their answers show whether somebody has the name.
func (b *bid) endBid(drop bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over {
		return
	}
	b.state = over
	if b.stamp == 0 {
		return
	}
	if drop {
		b.unsend()
	}
	b.drop(nil)
	where := b.votes.Touched
	if b.ticket != 0 {
		where = nil // it may stand in every queue
	}
	b.release(where)
}

// release gives back the grants of stamps that never won. It repeats the request until those grants have expired on the
// nodes. If the bid has become a lease, the release ends the lease too. b.mu is held.
//
// If the bid is over, the release also removes it from the queues. Those releases are repeated for as long as a node
// keeps a queue. Otherwise a waiter that was cut off for longer than its TTL would come back with two places in a
// queue. A node would then reserve the name for bids that are over: for a second for each bid that the outage ended.
func (b *bid) release(where func(int) bool) {
	call := nodescript.AbortCall
	if b.taken {
		call = nodescript.ReleaseCall
	}
	send := func(until clock.Instant, to func(int) bool) {
		b.fan.Send(&fanout.Message{Call: call(b.lock, b.owner, b.stamp), Persist: until}, to)
	}
	until := b.sent.Add(b.ttl + b.fan.Set().Window)
	if b.state != over || b.stands == 0 {
		send(until, where)
		return
	}
	in := func(stands bool) func(int) bool {
		return func(i int) bool { return b.stands.has(i) == stands && (where == nil || where(i)) }
	}
	send(until, in(false))
	send(max(until, b.fan.Now().Add(nodescript.QueueKept)), in(true))
}
