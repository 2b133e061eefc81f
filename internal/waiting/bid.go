package waiting

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// state is how a bid stands.
type state uint8

const (
	open   state = iota // answers are missing
	won                 // a majority granted the current stamp
	failed              // the current stamp has no majority
	idle                // failed, and that was dealt with
	over                // nobody bids any more
)

// bid is one owner's try to get a name: rounds of one stamp each, to all nodes or, after
// a hand-off, to those that are free for it. It is the receiver of its own messages.
type bid struct {
	fan    *fanout.Fanout
	lock   nodescript.Lock
	ttl    time.Duration
	owner  string
	ticket int64                             // 0: does not queue
	hears  func(owner string, node int) bool // whether a hand-off by node would be heard
	pauses int                               // it has made between questions to all; of the goroutine that waits
	wake   chan struct{}                     // the state changed

	mu      sync.Mutex
	state   state
	votes   quorum.Attempt
	message *fanout.Message // of the current round; nil: not needed yet, or not any more
	joins   *fanout.Message // the same with the ticket, for nodes whose hand-off would be heard
	tag     int             // of the current round
	stamp   int64           // of the current round: the highest sent under owner; 0: none began
	sent    clock.Instant
	claimed nodes         // handed to owner, and not asked since
	part    nodes         // granted it, and were not given back
	stands  nodes         // it has a place in their queues, or may have
	halved  clock.Instant // since when it has a minority of the nodes, if for longer than a moment; 0: it has none
	spare   spare         // nodes that the next rounds of all leave out
	again   again         // because it hears them again
	whole   bool          // the current round asks all nodes, but for those
	taken   bool          // the lease went to the caller: what comes later is not for us
	ended   bool          // and is over
	late    *late         // what the lease knows of it
	err     error         // no stamp could be drawn
	from    *handed       // what is being passed to this owner; nil: nothing
	passes  int           // by which the lease will have come, in a row, if it does
	waited  bool          // the name was handed to owner
}

// again are nodes for which a bid has asked lately because it hears them again.
type again struct {
	nodes nodes
	since clock.Instant // within a second from then on
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

// askAgain begins another round with all nodes unless one is under way: where they take
// longer to answer, or to be given up, than a waiter to ask again, none would ever end. Nor, for as
// long as other waiters pause, while a node of which it has a part owes an answer: nothing would be known of the part.
// A waiter that asks more often, see [Locker.askEvery], does not do so either while only a minority has answered: it
// would never know that the others do not.
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

// heardAgain begins a round because a node is heard again. Not a second time within a second for the
// same node: it asks once a second anyway, and a subscription that flaps is no reason to ask more often.
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

// begin begins the first round, if nothing was passed to this owner before.
func (b *bid) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stamp == 0 {
		b.askNodes()
	}
}

// asking reports whether answers are missing that may still decide.
func (b *bid) asking() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == open && b.stamp != 0
}

// undecided is asking, of a question to all nodes: it will be decided.
func (b *bid) undecided() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == open && b.stamp != 0 && b.whole
}

// handing reports whether only nodes that handed the name over are being asked: more may, and
// until then nothing is decided.
func (b *bid) handing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == open && b.stamp != 0 && !b.whole
}

// ask begins a round: a fresh stamp for some nodes. chase says that it only follows the
// last one because nodes had seen a higher token. b.mu is held.
func (b *bid) ask(to nodes, chase bool) {
	stamp, sent, err := b.fan.Stamp()
	if err != nil {
		b.err = err
		b.become(failed)
		return
	}
	b.unsend() // this one takes its place
	b.state, b.whole, b.err = open, false, nil
	b.stamp, b.sent = stamp, sent
	b.tag = b.votes.Begin(chase)
	for i := range b.fan.N() {
		if to.has(i) {
			b.askNode(i)
		}
	}
}

// unsend keeps the current round from nodes it was not sent to yet. b.mu is held.
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

// call is what the current round asks the nodes. b.mu is held.
func (b *bid) call(joins bool) nodescript.Call {
	switch {
	case joins:
		return nodescript.QueueCall(b.lock, b.owner, b.stamp, b.ttl, b.ticket)
	case b.from != nil:
		return nodescript.PassCall(b.lock, b.owner, b.stamp, b.ttl, b.from.owner)
	}
	return nodescript.AcquireCall(b.lock, b.owner, b.stamp, b.ttl)
}

// mine are the nodes that have something for this owner, or may. b.mu is held.
func (b *bid) mine() nodes { return b.claimed | b.which(b.votes.Kept) }

// which are the nodes for which is is true.
func (b *bid) which(is func(node int) bool) (n nodes) {
	for i := range b.fan.N() {
		if is(i) {
			n = n.with(i)
		}
	}
	return n
}

// handed takes a node's news that the name is reserved there for this owner. The hand-offs
// of one release come from all nodes within a moment: all are asked with one stamp,
// drawn at the first.
func (b *bid) handed(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over || b.state == won {
		return
	}
	b.waited = true
	b.halved = 0 // the others may follow
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
			// The release was sent before, and may have come there before. By now the name may
			// even have been handed to this owner.
			b.release(nodes(0).with(node).has)
		case b.taken && b.stands.has(node) && ans.Verdict != nodescript.Granted:
			b.quit(node) // also where it joined with an earlier question, and this one was not sent
		}
		if b.taken && ans.Verdict != nodescript.Granted {
			b.drop(func(i int) bool { return i == node })
		}
		b.notify() // an attempt may wait to know why it failed
	case b.state != open:
		// What was not there when the others' answers were looked at.
		switch now := b.state == idle && b.whole && tag == b.tag; {
		case now && b.alone():
			b.become(failed) // a minority had said that the name is held, and nobody else answered
		case now && b.split():
			b.notify()
		}
	case tag != b.tag && ans.Verdict == nodescript.Granted && !b.votes.Asked(node):
		b.askNode(node) // granted to an earlier stamp: only the current one counts
	case ans.Verdict == nodescript.Held && ans.Owner == b.owner:
		// Those before us in the queue were gone, so this very question was handed the name.
		b.waited = true
		b.claimed = b.claimed.with(node)
		b.ask(b.mine(), false)
		b.notify()
	case out == quorum.Open && ans.Verdict == nodescript.Granted && b.spare.nodes != 0:
		b.askSpared()
	case out == quorum.Again:
		whole := b.whole
		b.ask(b.which(b.votes.Asked), true)
		b.whole = whole // what fails in the end is the question to all, if it was one
	case out == quorum.Won:
		b.become(won)
	case out == quorum.Failed:
		b.drop(nil)
		b.from = nil
		b.become(failed)
	}
	b.rest()
}

// rest lets the round's messages go when it is decided and every node has answered: a
// waiter has no use for them until it asks again. b.mu is held.
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

// become sets the state and wakes whoever waits. b.mu is held.
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

// outcome is what was won, or why nothing was. Both in one: between two looks it may be won, and who
// gave that up as if it had come too late would lose its turn.
func (b *bid) outcome(cut bool) (Grant, *Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g, ok := b.take(); ok {
		return g, nil
	}
	return Grant{}, b.refused(cut)
}

// refused is why the current round has no majority. cut says that it was ended before. b.mu is held.
func (b *bid) refused(cut bool) *Refusal {
	r := refusal(b.votes.Answers(), b.err, cut && b.state == open)
	if r.asked = b.sent; b.state == won {
		r.late()
	}
	return r
}
