package waiting

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// state is the state of a bid.
type state uint8

const (
	open   state = iota // the current round is not decided
	won                 // a majority granted the current stamp
	failed              // the current stamp has no majority
	idle                // failed, and the waiter has dealt with the failure
	over                // the bid has ended
)

// bid is one attempt of one owner to get a name. It has one or more rounds of one stamp each. A round goes to all
// nodes. After a hand-off it goes only to the nodes that may have reserved or granted the name. A bid receives the
// answers to its own messages.
type bid struct {
	fan    *fanout.Fanout
	lock   nodescript.Lock
	ttl    time.Duration
	owner  string
	ticket int64                             // 0: the bid joins no queue
	hears  func(owner string, node int) bool // reports whether a hand-off by node would be heard
	pauses int                               // pauses so far between questions to all; for the waiting goroutine only
	wake   chan struct{}                     // receives a value when the state changes

	mu      sync.Mutex
	state   state
	votes   quorum.Attempt
	message *fanout.Message // of the current round; nil: not needed yet, or not any more
	joins   *fanout.Message // the same with the ticket, for nodes whose hand-off would be heard
	tag     int             // of the current round
	stamp   int64           // of the current round, and so the highest stamp sent under owner; 0: no round began
	sent    clock.Instant
	claimed nodes         // have reserved the name for owner, and were not asked since
	part    nodes         // have granted the name, and did not get it back
	stands  nodes         // have the bid in their queues, or may have
	halved  clock.Instant // start of a partial grant that lasts longer than a moment; 0: there is none
	spare   spare         // nodes that the next rounds to all nodes leave out
	again   again         // nodes that the bid hears again, and has asked for that reason
	whole   bool          // the current round asks all nodes except spare
	taken   bool          // the caller has the lease: later grants need no release
	ended   bool          // the lease has ended
	late    *late         // the part of the lease that refers to this bid
	err     error         // the reason why no stamp could be drawn
	from    *handed       // the lease that is being passed to this owner; nil: none
	passes  int           // number of passes in a row, including the one that brings this lease
	waited  bool          // a node has reserved the name for owner
}

// again is the set of nodes that a bid has asked lately because it hears them again.
type again struct {
	nodes nodes
	since clock.Instant // the set counts for one second from then on
}

func newBid(f *fanout.Fanout, l nodescript.Lock, owner string, ttl time.Duration) *bid {
	return &bid{
		fan: f, lock: l, owner: owner, ttl: ttl, wake: make(chan struct{}, 1), votes: quorum.NewAttempt(f.N()),
	}
}

// askAll begins a round with all nodes.
func (b *bid) askAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.askNodes()
}

// askAgain begins another round with all nodes, except in three cases:
//
//   - A round with all nodes is open. Nodes may need longer to answer, or to time out, than a waiter pauses. If each
//     question ended the round before, no round would ever be decided.
//   - A node that granted the name owes an answer, and the last question is younger than askEvery. Otherwise the bid
//     would never know whether it still has its partial grant.
//   - The waiter asks more often than askEvery (see [Locker.askEvery]), only a minority has answered, and the last
//     question is younger than askEvery. Otherwise the bid would never learn that the other nodes do not answer.
func (b *bid) askAgain(every time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	few, all := b.few()
	owed := b.whole && b.fan.Now().Sub(b.sent) < askEvery &&
		(b.which(b.votes.Pending)&b.part != 0 || every < askEvery && few && !all)
	if b.state != open && !owed || !b.whole {
		b.askNodes()
	}
}

// heardAgain begins a round because a node is heard again. It does so at most once a second for one node: the bid asks
// once a second anyway, and a subscription that flaps is no reason to ask more often.
func (b *bid) heardAgain(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.fan.Now()
	if now.Sub(b.again.since) >= askEvery {
		b.again.nodes, b.again.since = 0, now
	}
	if !b.again.nodes.has(node) {
		b.again.nodes = b.again.nodes.with(node)
		b.askNodes()
	}
}

// askNodes is askAll with b.mu held.
func (b *bid) askNodes() {
	if b.state != over && b.state != won {
		b.ask(b.spare.leave(b.fan.Now()), false)
		b.whole = true
	}
}

// begin begins the first round. It does nothing if a pass to this owner began one before.
func (b *bid) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stamp == 0 {
		b.askNodes()
	}
}

// asking reports whether the current round is open: missing answers may still decide it.
func (b *bid) asking() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == open && b.stamp != 0
}

// undecided reports whether a round with all nodes is open. Such a round is always decided in the end.
func (b *bid) undecided() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == open && b.stamp != 0 && b.whole
}

// handing reports whether a round is open that asks only nodes with a hand-off. More hand-offs may follow, and such a
// round stays undecided until then.
func (b *bid) handing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == open && b.stamp != 0 && !b.whole
}

// ask begins a round: it sends a new stamp to some nodes. chase says that the only reason for the round is that nodes
// have seen a higher token. b.mu is held.
func (b *bid) ask(to nodes, chase bool) {
	stamp, sent, err := b.fan.Stamp()
	if err != nil {
		b.err = err
		b.become(failed)
		return
	}
	b.unsend() // the new round replaces it
	b.state, b.whole, b.err = open, false, nil
	b.stamp, b.sent = stamp, sent
	b.tag = b.votes.Begin(chase)
	for i := range b.fan.N() {
		if to.has(i) {
			b.askNode(i)
		}
	}
}

// unsend withdraws the current round from the nodes that did not get it yet. b.mu is held.
func (b *bid) unsend() {
	for _, m := range []*fanout.Message{b.message, b.joins} {
		if m != nil {
			m.Drop()
		}
	}
	b.message, b.joins = nil, nil
}

// askNode sends the current stamp to a node. b.mu is held.
func (b *bid) askNode(i int) {
	b.claimed = b.claimed.without(i)
	b.votes.Ask(i)
	m := &b.message
	joins := b.ticket != 0 && b.from == nil && b.hears(b.owner, i)
	if joins {
		m = &b.joins
	}
	if *m == nil {
		*m = &fanout.Message{Call: b.call(joins), To: b, Tag: b.tag, SendBy: b.fan.SendBy(b.sent)}
	}
	b.fan.SendTo(i, *m)
}

// call returns the call of the current round. b.mu is held.
func (b *bid) call(joins bool) nodescript.Call {
	switch {
	case joins:
		return nodescript.QueueCall(b.lock, b.owner, b.stamp, b.ttl, b.ticket)
	case b.from != nil:
		return nodescript.PassCall(b.lock, b.owner, b.stamp, b.ttl, b.from.owner)
	}
	return nodescript.AcquireCall(b.lock, b.owner, b.stamp, b.ttl)
}

// mine returns the nodes that have a claim or a grant for this owner, or may have. b.mu is held.
func (b *bid) mine() nodes { return b.claimed | b.which(b.votes.Kept) }

// which returns the nodes for which is returns true.
func (b *bid) which(is func(node int) bool) (n nodes) {
	for i := range b.fan.N() {
		if is(i) {
			n = n.with(i)
		}
	}
	return n
}

// handed takes a hand-off: a node has reserved the name for this owner. One release causes hand-offs of all nodes
// within a moment. The first one draws a stamp, and the other nodes are asked with the same stamp.
func (b *bid) handed(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over || b.state == won {
		return
	}
	b.waited = true
	b.halved = 0 // hand-offs of other nodes may follow
	if b.state == open && !b.votes.Asked(node) && b.fan.Now().Sub(b.sent) < b.fan.Set().Window/2 {
		b.askNode(node)
		return
	}
	b.claimed = b.claimed.with(node)
	b.ask(b.mine(), false)
	b.notify()
}

// Answered takes a node's answer to the stamp of round tag.
func (b *bid) Answered(node, tag int, ans nodescript.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.votes.Answer(node, tag, ans)
	b.learn(node, ans)
	joined := ans.Verdict == nodescript.Held && ans.Rank >= 0
	if joined || b.ticket != 0 && ans.MayHaveRun() {
		b.stands = b.stands.with(node)
	}
	if ans.Verdict == nodescript.Stale {
		b.fan.Raise(ans.Seen)
	}
	switch {
	case b.state == over:
		switch {
		case joined && (b.ended || !b.taken), !b.taken && ans.MayHaveRun():
			// The bid's release may have reached the node before this acquire. The node may even have reserved the name
			// for this owner since then. So the release is sent again.
			b.release(nodes(0).with(node).has)
		case b.taken && b.stands.has(node) && ans.Verdict != nodescript.Granted:
			b.quit(node) // also if an earlier question joined the queue and this one was not sent
		}
		if b.taken && ans.Verdict != nodescript.Granted {
			b.drop(func(i int) bool { return i == node })
		}
		b.notify() // an attempt may wait for the reason of its failure
	case b.state != open:
		// This answer was missing when next looked at the other answers.
		switch now := b.state == idle && b.whole && tag == b.tag; {
		case now && b.alone():
			b.become(failed) // a minority has answered that the name is held, and the other nodes have not answered
		case now && b.split():
			b.notify()
		}
	case tag != b.tag && ans.Verdict == nodescript.Granted && !b.votes.Asked(node):
		b.askNode(node) // this grant is for an earlier stamp: only the current stamp counts
	case ans.Verdict == nodescript.Held && ans.Owner == b.owner:
		// The waiters before us in the queue were gone, so the node reserved the name for the owner of this question.
		b.waited = true
		b.claimed = b.claimed.with(node)
		b.ask(b.mine(), false)
		b.notify()
	case out == quorum.Open && ans.Verdict == nodescript.Granted && b.spare.nodes != 0:
		b.askSpared()
	case out == quorum.Again:
		whole := b.whole
		b.ask(b.which(b.votes.Asked), true)
		b.whole = whole // a round that follows a question to all nodes counts as one
	case out == quorum.Won:
		b.become(won)
	case out == quorum.Failed:
		b.drop(nil)
		b.from = nil
		b.become(failed)
	}
	b.rest()
}

// rest drops the round's messages when the round is decided and every node has answered. A waiter does not need them
// until it asks again. b.mu is held.
func (b *bid) rest() {
	if b.state == open {
		return
	}
	for i := range b.fan.N() {
		if b.votes.Pending(i) {
			return
		}
	}
	b.message, b.joins = nil, nil
	if b.late != nil {
		b.late.bid.Store(nil)
	}
}

// become sets the state and wakes the waiter. b.mu is held.
func (b *bid) become(s state) {
	b.state = s
	b.notify()
}

func (b *bid) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// outcome returns the grant, or the reason why there is none. It looks at the bid once for both: with two looks the bid
// could be won in between, and the caller would give up the lock as one that came too late.
func (b *bid) outcome(cut bool) (Grant, *Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g, ok := b.take(); ok {
		return g, nil
	}
	return Grant{}, b.refused(cut)
}

// refused returns the reason why the current round has no majority. cut says that the wait ended before the decision.
// b.mu is held.
func (b *bid) refused(cut bool) *Refusal {
	r := refusal(b.votes.Answers(), b.err, cut && b.state == open)
	if r.asked = b.sent; b.state == won {
		r.late()
	}
	return r
}
