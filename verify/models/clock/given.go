package clock

import (
	"slices"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// These functions are about given leases. The releases of a lease carry one stamp, which the client draws for the next
// owner. A node that ends the lease grants this stamp to a waiter at once, for Given, and sends it a message. The waiter
// counts the node as if it had asked with this stamp.
//
// The waiter did not send that stamp, so it counts from its latest question that the node answered "held" before the
// release. The node's seen in the answer shows the order: a given lease raises it.
//
// With Pings it counts from the latest ping on the connection of its subscription that the node answered before the
// message. The order of the connection shows that the ping came before the release, also if the node loses its memory.
// Here a ping was sent and answered at the instant of the release: an earlier ping only shortens the lease.

// begin makes the first client the holder from the start. It drew its stamp one W earlier.
func (m Model) begin(s *State) {
	c := &s.Clients[0]
	c.Phase, c.Rounds, c.Stamps[0], c.Sent, c.Held = Holding, 1, start-1+c.Lead, start-1, true
	c.Until = m.deadline(c.Sent)
	for n := range s.Nodes {
		if m.open(s, n, c.Stamps[0]+1) { // in time when it was drawn
			m.acquire(&s.Nodes[n], s.Clock(n)-1, 1, c.Stamps[0], 0)
		}
	}
}

// offer ends a lease. Its releases carry a stamp for the next owner, which is drawn now. stray is the error of this stamp
// beyond that of the client.
func (m Model) offer(t *State, i int, stray int8) {
	c := &t.Clients[i]
	c.Next, c.Before = max(t.Now+c.Lead+stray, c.Highest()+1), t.highestHeld()
	m.end(t, i)
	c.Freed |= FreedAll
}

// givenSteps are the steps in which a node executes the release of a client and gives its lease to another, and those
// in which the client hears that the node gave it a lease.
func (m Model) givenSteps(s *State, i, n int, visit func(explore.Step, State)) {
	c := &s.Clients[i]
	for j := range m.Clients {
		t := *s
		if waits := s.Clients[j].Rounds > 0 && s.Clients[j].Phase != Over; c.Next != 0 && j != i && waits && m.grant(&t, i, j, n) {
			visit(explore.Step{Rule: grants, Who: int8(i), Node: int8(n), X: int8(j)}, t)
		}
	}
	for j := range m.Clients {
		t := *s
		if s.Nodes[n].Heard[i].Gifts>>j&1 == 0 {
			continue
		}
		if m.hear(&t, i, j, n); t != *s {
			visit(explore.Step{Rule: hears, Who: int8(i), Node: int8(n), X: int8(j)}, t)
		}
	}
}

// grant does release.lua with a stamp for the next owner: it ends the lease of client i on a node, and grants the stamp
// to client j. It reports false if the node only releases.
func (m Model) grant(t *State, i, j, n int) bool {
	c, node, clock := &t.Clients[i], &t.Nodes[n], t.Clock(n)
	mine := node.Owner == int8(i+1) && node.Token <= c.Highest()
	if !mine || node.Away != Votes || abs(clock-c.Next) > window && m.keeps(GivenInWindow) {
		return false
	}
	m.release(node, clock, int8(i+1), c.Highest(), true)
	if 2*c.Next <= node.Seen {
		return false
	}
	node.Owner, node.Token, node.Expiry, node.Seen = int8(j+1), c.Next, c.Next+m.Given, 2*c.Next
	if p := t.Clients[j].Phase; p == Bidding || p == Between {
		h := &node.Heard[j]
		if h.Gifts |= 1 << i; m.Pings {
			h.Ping = t.Now
		}
	}
	return true
}

// answer notes the answer "held" to a question that was sent at an instant, unless a later one or this one was answered
// before. The client learns from the answer whether the node has lost its memory. Then older messages do not count.
func (m Model) answer(h *Heard, sent, seen int8) {
	if sent <= h.At {
		return
	}
	h.At, h.Seen = sent, seen
	if m.keeps(GivenOneMemory) {
		h.Gifts, h.Older = h.Gifts&^h.Older, 0
	}
}

// hear does what client i does when it hears that a node gave it the lease of client j. The message may come at any
// time and again. The client counts the node for the round of that stamp, whatever it asked.
func (m Model) hear(t *State, i, j, n int) {
	c, stamp, node := &t.Clients[i], t.Clients[j].Next, &t.Nodes[n]
	h := &node.Heard[i]
	since := h.At
	if m.Pings {
		since = h.Ping
	}
	switch {
	case c.Phase != Bidding,
		stamp <= c.Back && m.keeps(GivenNotReturned),
		stamp < c.Given,
		since == 0,
		2*stamp <= h.Seen && m.keeps(GivenSeen):
		return
	}
	if c.Given != stamp {
		c.Given, c.Above = stamp, t.Clients[j].Before
		t.forgetYes(i, Granted)
	}
	if node.By[i]&Granted != 0 {
		return
	}
	node.By[i] |= Granted
	h.Since = since
	if !m.keeps(GivenFromQuestion) {
		h.Since = t.Now
	}
}

// givenDeadline returns the end of a client's belief, if a given lease counts from an instant.
func (m Model) givenDeadline(since int8) int8 { return since + m.Given - m.Margin + m.Shorter }

// givenUntil returns the deadline of a given lease: the majority with the latest questions decides, and in it the
// earliest one.
func (m Model) givenUntil(t *State, i int) int8 {
	var since []int8
	for n := range t.Nodes {
		if t.Nodes[n].By[i]&Granted != 0 {
			since = append(since, t.Nodes[n].Heard[i].Since)
		}
	}
	slices.Sort(since)
	slices.Reverse(since)
	if !m.keeps(GivenFirstQuestion) {
		return m.givenDeadline(since[0])
	}
	return m.givenDeadline(since[m.need()-1])
}

// givenOver reports whether a client without further rounds cannot win a given lease any more: none counts from later
// than its last question.
func (m Model) givenOver(t *State, i int) bool {
	return m.Given == 0 || !m.Pings && t.Now >= m.givenDeadline(t.Clients[i].Sent) && m.keeps(GivenFromQuestion)
}

// forgetGifts forgets what a client heard, at the end of its bid.
func (s *State) forgetGifts(i int) {
	s.Clients[i].Asked = [rounds]int8{}
	for n := range s.Nodes {
		s.Nodes[n].Heard[i] = Heard{}
	}
}
