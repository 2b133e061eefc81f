package bids

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostPasses is the number of times in a row that a client passes the lock while others wait, as in package waiting.
const mostPasses = 8

// waiter is one wait for the lock. It makes one bid after the other, until one wins or the waiter gives up.
type waiter struct {
	c      *client
	ticket int64
	reader bool
	bid    *bidding
	done   bool          // it gave up, or got the lock
	asks   clock.Instant // the instant from which it is the first in its line; 0: it is not the first
	timer  int           // the number of the timer that counts
	looks  bool          // it was woken
}

// bidding is one bid of a waiter.
type bidding struct {
	of      *waiter
	machine bid.Machine
	message *message // the message of the current round
	joins   *message // the same message with the ticket
	number  int
}

// enter adds another waiter to the client.
func (c *client) enter() {
	wt := &waiter{c: c, reader: c.w.readers && c.w.chance(2)}
	wt.ticket, _, _ = c.draw()
	wt.begin()
	c.line = append(c.line, wt)
	if len(c.line) == 1 {
		wt.first(false)
	}
	if c.w.chance(3) {
		c.w.after(c.w.below(trouble), wt.giveUp)
	}
}

// begin makes a new bid.
func (wt *waiter) begin() {
	c := wt.c
	c.owners++
	owner := nodescript.NewOwner("bid", c.id, wt.ticket, []byte(fmt.Sprintf("random%03d", c.owners)))
	if wt.reader {
		owner = nodescript.ReaderOwner(owner)
	}
	wt.bid = &bidding{of: wt, number: c.owners, machine: bid.New(bid.Config{
		N: len(c.w.servers), Window: window, MaxTTL: c.w.set.MaxTTL, TTL: c.w.ttl, Ticket: wt.ticket, Owner: owner,
		Slots: int16(c.slots()), First: int16(c.prefers()),
	})}
}

// first makes the waiter the first in its line. near says that the lock will probably be passed to it.
func (wt *waiter) first(near bool) {
	b := wt.bid
	wt.asks = wt.c.w.now
	wt.c.expect(b)
	if near && wt.c.slots() == 0 {
		wt.pause(bid.Gather)
		return
	}
	wt.pause(bid.AskEvery)
	b.do(b.machine.Join(wt.c.w.now))
}

// expect registers a bid for its hand-offs.
func (c *client) expect(b *bidding) {
	c.bids[b.machine.Owner] = b
	c.decline(b, c.past.Take(b.machine.Ticket))
}

func (c *client) forget(b *bidding) {
	if _, there := c.bids[b.machine.Owner]; !there {
		return
	}
	delete(c.bids, b.machine.Owner)
	if b.machine.Got() {
		c.past.Won(b.machine.Owner, c.w.now)
	}
}

// pause makes the waiter ask again after d.
func (wt *waiter) pause(d time.Duration) {
	wt.timer++
	timer, b := wt.timer, wt.bid
	wt.c.w.after(d+wt.c.w.below(16*time.Microsecond), func() {
		if wt.timer == timer && wt.bid == b && !wt.done {
			wt.pause(bid.AskEvery)
			b.do(b.machine.AskAgain(wt.c.w.now, bid.AskEvery))
		}
	})
}

// woken makes the waiter look at its bid, if the wait goes on.
func (b *bidding) woken() {
	wt := b.of
	if wt.looks || wt.done || wt.bid != b || wt.c.line[0] != wt {
		return
	}
	wt.looks = true
	wt.c.w.after(wt.c.w.below(50*time.Microsecond), wt.look)
}

// look carries out the bid's decision after the waiter was woken.
func (wt *waiter) look() {
	wt.looks = false
	c, b := wt.c, wt.bid
	if wt.done || b == nil {
		return
	}
	t, actions := b.machine.Next(c.w.now, 300*time.Millisecond, bid.AskEvery)
	if t.Won {
		c.w.cutOff()
	}
	b.do(actions)
	switch {
	case t.Won:
		wt.got(t.Lease)
	case t.Refusal != nil && t.Refusal.Kind == bid.Unavailable:
		wt.again()
	default:
		wt.pause(t.Pause.Length(c.w.below))
	}
}

// again ends the bid of a wait that found no quorum, and makes another one.
func (wt *waiter) again() {
	c, b := wt.c, wt.bid
	wt.timer++
	b.do(b.machine.End(c.w.now, true))
	c.forget(b)
	wt.bid = nil
	c.past.WaitGoesOn(wt.ticket)
	c.w.after(c.w.below(time.Second), func() {
		if !wt.done {
			wt.begin()
			wt.first(false)
		}
	})
}

// giveUp ends the wait. The lock may be passed to the waiter, or won by it, at the same moment.
func (wt *waiter) giveUp() {
	c, b := wt.c, wt.bid
	if wt.done {
		return
	}
	if b != nil {
		l, refusal, actions := b.machine.Outcome(c.w.now, true)
		b.do(actions)
		if refusal == nil {
			wt.got(l)
			return
		}
		b.do(b.machine.End(c.w.now, true))
		c.forget(b)
	}
	wt.leave(false)
}

// leave ends the wait. near says that the client has the lock, and will pass it on.
func (wt *waiter) leave(near bool) {
	c := wt.c
	wt.done, c.w.unused = true, c.w.now
	was := c.line[0] == wt
	c.line = slices.DeleteFunc(c.line, func(o *waiter) bool { return o == wt })
	c.decline(nil, c.past.WaitEnded(wt.ticket))
	if was && len(c.line) > 0 {
		c.line[0].first(near)
	}
}

// got holds the lock for a while.
func (wt *waiter) got(l bid.Lease) {
	c, b := wt.c, wt.bid
	c.forget(b)
	c.w.overtakes(wt)
	h := c.w.holds(b, l)
	wt.leave(true)
	for_ := c.w.below(100 * time.Millisecond)
	if c.w.chance(6) && !c.w.calm {
		for_ = l.Deadline.Sub(c.w.now) // until its end
	}
	if c.w.crashes && !c.w.calm && c.w.chance(4) {
		return
	}
	c.w.after(min(for_, l.Deadline.Sub(c.w.now)), func() {
		c.w.lets(h)
		b.machine.LeaseEnded()
		c.release(b, l)
	})
}

// release releases a lease, or passes it to the next waiter of the client.
func (c *client) release(b *bidding, l bid.Lease) {
	over := l.Sent.Add(c.w.ttl)
	var next *bidding
	if len(c.line) > 0 {
		next = c.line[0].bid
	}
	// Readers do not pass their lease: others may have the name, too. See Locker.Pass in package waiting.
	passes := next != nil && !c.w.quiet && c.w.chance(2) && !nodescript.IsReader(l.Owner)
	if passes && !(l.Others && l.Passes >= mostPasses) {
		from := bid.Passed{Owner: l.Owner, Highest: l.Token, Over: over, Passes: l.Passes, Slot: int16(l.Slot)}
		if actions := next.machine.Passed(from); actions != nil {
			next.do(actions)
			c.w.Passed++
			return
		}
	}
	c.together(func() {
		if next != nil {
			c.expect(next)
			if !next.joinFirst() {
				c.forget(next)
			}
		}
		c.send(bid.Every, &message{call: c.at(l.Slot, -1).Release(l.Owner, l.Token), persist: over.Add(window)})
	})
}

func (b *bidding) joinFirst() bool {
	actions, ok := b.machine.JoinFirst(b.of.c.w.now)
	b.do(actions)
	return ok
}

// do carries out the actions of an event.
func (b *bidding) do(actions []bid.Action) {
	c := b.of.c
	for _, a := range actions {
		switch a.Do {
		case bid.Draw:
			b.do(b.machine.Stamped(c.draw()))
		case bid.Acquire, bid.Queue, bid.Pass:
			b.ask(a)
		case bid.Withdraw:
			for _, m := range []*message{b.message, b.joins} {
				if m != nil {
					m.dropped = true
				}
			}
			b.message, b.joins = nil, nil
		case bid.Keep:
			b.message, b.joins = nil, nil
		case bid.Raise:
			c.raise(a.Stamp)
		case bid.Move:
			c.w.Moved++
			c.send(a.To, &message{call: c.at(int(a.Slot), -1).(*nodescript.Slot).Move(a.Owner, a.Stamp), persist: a.At})
		case bid.Abort:
			c.send(a.To, &message{call: c.at(int(a.Slot), -1).Abort(a.Owner, a.Stamp), persist: a.At})
		case bid.Release:
			c.send(a.To, &message{call: c.at(int(a.Slot), -1).Release(a.Owner, a.Stamp), persist: a.At})
		case bid.Quit:
			c.send(a.To, &message{call: c.at(int(a.Slot), -1).Quit(a.Owner), persist: a.At})
		case bid.Wake:
			b.woken()
		}
	}
}

// ask sends the current question.
func (b *bidding) ask(a bid.Action) {
	c, m := b.of.c, &b.machine
	for i := range c.w.servers {
		if !a.To.Has(i) {
			continue
		}
		at := &b.message
		lock := c.at(int(a.Slot), m.From())
		call := lock.Acquire(m.Owner, a.Stamp, m.TTL)
		switch {
		case a.Do == bid.Pass:
			call = lock.Pass(m.Owner, a.Stamp, m.TTL, a.Owner)
		case a.Do == bid.Queue && c.up[i] && c.bids[m.Owner] == b:
			at = &b.joins
			call = lock.Queue(m.Owner, a.Stamp, m.TTL, m.Ticket)
		}
		if *at == nil {
			*at = &message{call: call, sendBy: a.At.Add(min(timeout, window)), answer: func(node int, ans nodescript.Answer) {
				b.do(m.Answered(c.w.now, node, int(a.Tag), ans))
			}}
		}
		c.send(bid.One(i), *at)
	}
}
