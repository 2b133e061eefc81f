package waiting

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// Grant is a lease as it was won.
type Grant struct {
	Owner    string
	Token    int64         // T, the fencing token: µs of stamp time
	Sent     clock.Instant // when T was drawn: belief counts from here
	Deadline clock.Instant
	Others   bool // somebody stood in a queue behind it

	by     nodes // that granted it, before it was won
	passes int   // by which it came, in a row, since the nodes handed the name to this process
	waited bool  // it was handed over
	late   *late // nil if its bid has all answers
}

// refusal is what others of the process are told who want the lock meanwhile: what the nodes that granted it know.
func (g *Grant) refusal(n int, ttl time.Duration, now clock.Instant) *Refusal {
	answers := make([]nodescript.Answer, n)
	for i := range answers {
		if g.by.has(i) {
			answers[i] = nodescript.Answer{Verdict: nodescript.Held, Owner: g.Owner, Left: g.Sent.Add(ttl).Sub(now), Rank: -1}
		}
	}
	return refusal(answers, nil, true)
}

// late is a bid that was won before every node had answered.
type late struct{ bid atomic.Pointer[bid] } // nil when they have

// End says that the lease is over, before it is given back: a question of its bid that
// is still under way may come after that, and what it leaves is to be given back then.
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

// take ends a bid that was won, if its lease may still be believed in. b.mu is held.
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

// got reports whether the bid has the lock, or had it.
func (b *bid) got() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// quit leaves the queue of a node that did not grant, repeated for as long as that is kept without a
// question: the name would be handed to the owner again when the lease is long over. b.mu is held.
func (b *bid) quit(node int) {
	b.fan.SendTo(node, &fanout.Message{Call: nodescript.QuitCall(b.lock, b.owner), Persist: b.fan.Now().Add(nodescript.QueueKept)})
}

// giveUp ends the bid: whatever nodes hold of it, or will when a late command arrives,
// is released in the background. A release that overtakes its acquire leaves a
// tombstone that the acquire meets. No bid has nothing to end.
func (b *bid) giveUp() { b.endBid(true) }

// endBid is giveUp. drop keeps the current round from nodes it was not sent to yet; else their answers tell how they stand.
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

// release gives back what was granted to stamps that never won, repeated until it would be over on
// the nodes by itself. Of a lease it ends that, too. A bid that is over leaves the queues by it:
// who was cut off for longer than its TTL would otherwise come back as two, and the name would be
// reserved for the one that is over, a second for each bid that an outage cost. b.mu is held.
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
