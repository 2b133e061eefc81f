package waiting

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// bidder runs one bid. It passes the events to a [bid.Machine], one at a time, and does the actions that the machine
// returns. It receives the answers to its own messages.
type bidder struct {
	fan   *fanout.Fanout
	lock  nodescript.Kind
	inbox *Inbox        // receives its hand-offs; nil: it joins no queue
	wake  chan struct{} // receives a value when the state changes

	mu      sync.Mutex
	machine bid.Machine
	message *fanout.Message // the message with the question of the current round; nil: not made, or no longer needed
	joins   *fanout.Message // the same question with the ticket. Nodes that get it put the bid into their queues. See [Inbox.wouldAccept].
	late    *late           // the link from the lease of this bid back to this bid
	drawn   clock.Instant   // when the ticket was drawn, if the next stamp may be the ticket; otherwise 0: see first
}

// newBidder returns a bidder that has not asked any node yet. With a ticket of 0 the bid joins no queue.
func newBidder(f *fanout.Fanout, l nodescript.Kind, owner string, ttl time.Duration, ticket int64) *bidder {
	c := bid.Config{N: f.N(), Window: f.Set().Window, MaxTTL: f.Set().MaxTTL, Owner: l.Owner(owner), TTL: ttl, Ticket: ticket}
	if s, ok := l.(*nodescript.Slot); ok {
		c.Slots, c.First = int16(s.Slots().K()), int16(s.Slots().Prefer(owner))
	}
	return &bidder{fan: f, lock: l, wake: make(chan struct{}, 1), machine: bid.New(c)}
}

func (b *bidder) owner() string { return b.machine.Owner }
func (b *bidder) ticket() int64 { return b.machine.Ticket }

// do does the actions that an event of the machine returned. The caller holds b.mu.
func (b *bidder) do(actions []bid.Action) {
	for i := range actions {
		switch a := &actions[i]; a.Do {
		case bid.Draw: // Draw is always the last action. Stamped overwrites the slice of actions.
			b.do(b.machine.Stamped(b.stamp()))
		case bid.Acquire, bid.Queue, bid.Pass:
			b.ask(a)
		case bid.Withdraw:
			b.withdraw()
		case bid.Keep:
			b.message, b.joins = nil, nil
		case bid.Raise:
			b.fan.Raise(a.Stamp)
		case bid.Move:
			b.giveBack(b.at(a).(*nodescript.Slot).Move(a.Owner, a.Stamp), a)
		case bid.Abort:
			b.giveBack(b.at(a).Abort(a.Owner, a.Stamp), a)
		case bid.Release:
			b.giveBack(b.at(a).Release(a.Owner, a.Stamp), a)
		case bid.Quit:
			b.giveBack(b.lock.Quit(a.Owner), a)
		case bid.Wake:
			b.notify()
			if b.machine.Won() { // the waiter may still be sending an earlier question in Carry. It must not wait for that question's answer.
				b.fan.Interrupt(b)
			}
		case bid.Rest:
			b.rest()
		}
	}
}

// fresh is the time after its draw for which a ticket is a good stamp, because the validity begins when the stamp was
// drawn. A bid has later stamps for all questions but the first: they must be higher than the tokens of all leases that
// this process had before, and higher than each other.
const fresh = time.Millisecond

// stamp returns the stamp of a question: the ticket, or a new one. The caller holds b.mu.
func (b *bidder) stamp() (int64, clock.Instant, error) {
	at := b.drawn
	if b.drawn = 0; at != 0 {
		return b.ticket(), at, nil
	}
	return b.fan.Stamp()
}

// ask sends the question of the current round to the nodes in a.To. The caller holds b.mu.
func (b *bidder) ask(a *bid.Action) {
	for i := range b.fan.N() {
		if !a.To.Has(i) {
			continue
		}
		m := &b.message
		joins := a.Do == bid.Queue && b.inbox.wouldAccept(b.owner(), i)
		if joins {
			m = &b.joins
		}
		if *m == nil {
			*m = &fanout.Message{Call: b.call(a, joins), To: b, Tag: int(a.Tag), SendBy: b.fan.SendBy(a.At)}
		}
		b.fan.SendTo(i, *m)
	}
}

// call returns the script call for the question of the current round.
func (b *bidder) call(a *bid.Action, joins bool) nodescript.Call {
	lock := b.at(a)
	switch {
	case joins:
		return lock.Queue(b.owner(), a.Stamp, b.machine.TTL, b.ticket())
	case a.Do == bid.Pass:
		return lock.Pass(b.owner(), a.Stamp, b.machine.TTL, a.Owner)
	}
	return lock.Acquire(b.owner(), a.Stamp, b.machine.TTL)
}

// at returns the lock that an action refers to. For a semaphore this is the action's slot.
func (b *bidder) at(a *bid.Action) nodescript.Kind {
	if s, ok := b.lock.(*nodescript.Slot); ok {
		return s.At(int(a.Slot), b.machine.From())
	}
	return b.lock
}

func (b *bidder) giveBack(c nodescript.Call, a *bid.Action) {
	b.fan.Send(&fanout.Message{Call: c, Persist: a.At}, a.To.Has)
}

// withdraw cancels the current question for the nodes to which it was not sent yet. The caller holds b.mu.
func (b *bidder) withdraw() {
	for _, m := range []*fanout.Message{b.message, b.joins} {
		if m != nil {
			m.Drop()
		}
	}
	b.message, b.joins = nil, nil
}

// rest frees the messages of a round that every node has answered. The next round makes new messages. The caller holds
// b.mu.
func (b *bidder) rest() {
	b.message, b.joins = nil, nil
	if b.late != nil {
		b.late.bidder.Store(nil)
	}
}

func (b *bidder) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Answered passes a node's answer to the machine. tag is the tag of the round that asked.
func (b *bidder) Answered(node, tag int, ans nodescript.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do(b.machine.Answered(b.fan.Now(), node, tag, ans))
}

// event passes an event to the machine that has no argument except the present instant.
func (b *bidder) event(of func(m *bid.Machine, now clock.Instant) []bid.Action) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do(of(&b.machine, b.fan.Now()))
}

// begin asks all nodes, without a place in their queues. join asks them for a place. drawn is the instant at which the
// ticket was drawn, or 0 if the ticket may not be the stamp of the first question.
func (b *bidder) begin(drawn clock.Instant) { b.first((*bid.Machine).Begin, drawn) }
func (b *bidder) join(drawn clock.Instant)  { b.first((*bid.Machine).Join, drawn) }

func (b *bidder) first(of func(m *bid.Machine, now clock.Instant) []bid.Action, drawn clock.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.fan.Now()
	if b.machine.Stamp() == 0 && now.Sub(drawn) <= fresh {
		b.drawn = drawn
	}
	b.do(of(&b.machine, now))
	b.drawn = 0
}

func (b *bidder) askAll() { b.event((*bid.Machine).AskAll) }

// askAgain asks all nodes once more. It does nothing if it is too early for that: see [bid.Machine.AskAgain].
func (b *bidder) askAgain(every time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do(b.machine.AskAgain(b.fan.Now(), every))
}

func (b *bidder) heardAgain(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do(b.machine.HeardAgain(b.fan.Now(), node))
}

// offered notes that a node has reserved a slot for this bid. The caller calls handed next.
func (b *bidder) offered(node, slot int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.machine.Offered(node, slot)
}

func (b *bidder) handed(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do(b.machine.Handed(b.fan.Now(), node))
}

func (b *bidder) wanted(node int, stamp int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do(b.machine.Wanted(b.fan.Now(), node, stamp))
}

// asksFor reports whether the bid still asks for the lock or the slot of this message. If it reports false, the bid
// has moved to another slot. Then it gives back the grants of the earlier slot without this message.
func (b *bidder) asksFor(h nodescript.Handoff) bool {
	return b.askMachine(func(m *bid.Machine) bool { return !h.OfSlot || h.Slot == m.Slot() })
}

// pass offers the bid a lease that another owner of this process has ended. It reports whether the bid takes the lease
// over. A bid that takes the lease over also releases the old owner on the nodes.
func (b *bidder) pass(from bid.Passed) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	actions := b.machine.Passed(from)
	b.do(actions)
	return actions != nil && b.machine.Passing()
}

// joinFirst sends a question that joins the nodes' queues. The caller sends a release right after it, in the same
// piece: see [fanout.Fanout.Together] and [bid.Machine.JoinFirst]. joinFirst returns false if the bid has ended or won.
func (b *bidder) joinFirst() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	actions, ok := b.machine.JoinFirst(b.fan.Now())
	b.do(actions)
	return ok
}

// askMachine returns the machine's answer to a question about the bid.
func (b *bidder) askMachine(of func(m *bid.Machine) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return of(&b.machine)
}

func (b *bidder) undecided() bool { return b.askMachine((*bid.Machine).Undecided) }
func (b *bidder) handing() bool   { return b.askMachine((*bid.Machine).Handing) }
func (b *bidder) got() bool       { return b.askMachine((*bid.Machine).Got) }

// giveUp ends the bid. In the background it gives back the grants that the bid has, and those that may still arrive. A
// nil bidder is a no-op.
func (b *bidder) giveUp() { b.end(true) }

// end ends the bid. If withdraw is true, the current question is not sent to further nodes. A nil bidder is a no-op.
func (b *bidder) end(withdraw bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.machine.Over() { // most callers end a bid twice: once early, and once with a defer
		b.do(b.machine.End(b.fan.Now(), withdraw))
	}
}

// refused returns the reason why the current round has no majority yet.
func (b *bidder) refused() *Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.machine.Refused(false)
}

// outcome returns the grant if the bid is won, otherwise the refusal. cut says that the wait ended before the nodes'
// answers decided the round.
func (b *bidder) outcome(cut bool) (Grant, *Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, r, actions := b.machine.Outcome(b.fan.Now(), cut)
	b.do(actions)
	if r != nil {
		return Grant{}, r
	}
	return b.grant(l), nil
}

// next returns the grant if the bid is won. Otherwise it returns the pause before the next question to all nodes. r is
// the refusal if a round with all nodes has failed since the last call, otherwise nil.
func (b *bidder) next(retry, every time.Duration) (g Grant, won bool, r *Refusal, pause time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, actions := b.machine.Next(b.fan.Now(), retry, every)
	b.do(actions)
	if t.Won {
		return b.grant(t.Lease), true, nil, 0
	}
	return g, false, t.Refusal, t.Pause.Length(b.fan.Draw)
}
