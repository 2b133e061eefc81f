package bids

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// client is a process with waiters for the lock. Only the first of them asks the nodes.
type client struct {
	w      *World
	lock   nodescript.Kind
	id     string
	ahead  time.Duration // how far its clock is ahead
	stamp  int64         // the last one, or a higher one that a node has seen
	owners int
	up     []bool
	bids   map[string]*bidding // by owner: the bids that expect hand-offs
	past   bid.Past
	line   []*waiter
	pieces [][]*message // by node: messages that go together; nil: each goes by itself
}

func (w *World) newClient(i int, lock nodescript.Kind) *client {
	id := fmt.Sprint("client", i)
	c := &client{
		w: w, lock: lock, id: id, ahead: w.below(window/4) - window/8, up: make([]bool, len(w.servers)), bids: map[string]*bidding{},
		past: bid.NewPast(id, w.set.Claim()),
	}
	for i, s := range w.servers {
		s.Subscribe(nodescript.Inbox(id), func(message string) { c.hand(i, message) })
		w.after(w.below(time.Second), func() { c.flap(i) })
	}
	return c
}

// slots returns the number of slots of the client's semaphore, 0 for a lock.
func (c *client) slots() int {
	if s, ok := c.lock.(*nodescript.Slot); ok {
		return s.Slots().K()
	}
	return 0
}

// prefers draws the slot that a bid asks for first.
func (c *client) prefers() int {
	if c.slots() == 0 {
		return 0
	}
	return c.w.rng.IntN(c.slots())
}

// at returns the kind of a slot, or of the lock.
func (c *client) at(slot, from int) nodescript.Kind {
	if s, ok := c.lock.(*nodescript.Slot); ok {
		return s.At(slot, from)
	}
	return c.lock
}

// clock is the client's clock in stamp time.
func (c *client) clock() int64 { return epoch + c.w.now.Add(c.ahead).Micros() }

// draw draws a stamp.
func (c *client) draw() (int64, clock.Instant, error) {
	c.stamp = max(c.stamp+1, c.clock())
	return c.stamp, c.w.now, nil
}

// raise makes the client's later stamps higher than a token that a node has seen.
func (c *client) raise(seen int64) {
	if seen-c.clock() < window.Microseconds() {
		c.stamp = max(c.stamp, seen)
	}
}

// flap makes a subscription break and work again.
func (c *client) flap(i int) {
	if c.w.calm {
		return
	}
	c.hear(i, c.w.chance(2) || !c.up[i])
	c.w.after(c.w.below(5*time.Second), func() { c.flap(i) })
}

// hear notes whether a subscription works. All bids ask again when it works again.
func (c *client) hear(i int, up bool) {
	was := c.up[i]
	c.up[i] = up
	if was || !up {
		return
	}
	for _, b := range c.expecting() {
		b.do(b.machine.HeardAgain(c.w.now, i))
	}
}

// expecting returns the bids that expect hand-offs, in an order that does not depend on chance.
func (c *client) expecting() (all []*bidding) {
	for _, b := range c.bids {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *bidding) int { return a.number - b.number })
	return all
}

// hand takes a node's hand-off: it may be lost, late or repeated.
func (c *client) hand(i int, text string) {
	h, ok := nodescript.ParseHandoff(text)
	if !ok || h.Wanted {
		return // there are no renewals
	}
	if c.w.calm || !c.w.chance(10) {
		c.w.after(c.w.trip(), func() { c.handed(i, h) })
	}
	if !c.w.calm && c.w.chance(10) {
		c.w.after(c.w.below(time.Second), func() { c.handed(i, h) })
	}
}

func (c *client) handed(i int, h nodescript.Handoff) {
	if !c.up[i] {
		return
	}
	c.w.Handoffs++
	if b := c.bids[h.Owner]; b != nil {
		c.raise(h.Seen)
		b.machine.Offered(i, h.Slot)
		b.do(b.machine.Handed(c.w.now, i))
		return
	}
	kept := bid.Kept{Node: i, Of: h}
	switch c.past.Fate(h.Owner, c.w.now) {
	case bid.Declined:
		c.decline(nil, []bid.Kept{kept})
	case bid.GoesOn:
		ticket, _ := nodescript.Ticket(h.Owner)
		for _, b := range c.expecting() {
			if b.machine.Ticket == ticket {
				c.decline(b, []bid.Kept{kept})
				return
			}
		}
		c.past.Keep(kept)
	}
}

// decline declines hand-offs. Before that, next, the present bid of the wait, asks again, so that it joins the queues.
func (c *client) decline(next *bidding, all []bid.Kept) {
	if len(all) == 0 {
		return
	}
	c.together(func() {
		placed := next == nil
		if next != nil {
			placed = next.joinFirst() || next.machine.Got()
		}
		for _, k := range all {
			if placed || !c.past.Keep(k) {
				c.send(bid.One(k.Node), &message{
					call: nodescript.Decline(k.Of), sendBy: c.w.now.Add(c.w.set.Claim()),
				})
			}
		}
	})
}

// send sends a message to nodes.
func (c *client) send(to bid.Nodes, m *message) {
	for i := range c.w.servers {
		switch {
		case !to.Has(i):
		case c.pieces != nil:
			c.pieces[i] = append(c.pieces[i], m)
		default:
			c.w.send(i, m)
		}
	}
}

// together makes the messages of send go to each node in one piece, with the releases last.
func (c *client) together(send func()) {
	c.pieces = make([][]*message, len(c.w.servers))
	send()
	pieces := c.pieces
	c.pieces = nil
	for i, piece := range pieces {
		slices.SortStableFunc(piece, func(a, b *message) int { return order(a) - order(b) })
		if len(piece) > 0 {
			c.w.send(i, piece...)
		}
	}
}

func order(m *message) int {
	if m.call.Op.HandsOn() {
		return 1
	}
	return 0
}
