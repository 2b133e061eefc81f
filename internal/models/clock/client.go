package clock

import "slices"

// What a client does: internal/waiting, internal/renewal, internal/quorum.

// draw begins a round: a stamp for all nodes.
func (m Model) draw(t *State, i int) {
	c := &t.Clients[i]
	stamp := t.Now + c.Lead
	if c.Rounds > 0 {
		stamp = max(stamp, c.Token()+1) // never repeated
	}
	c.Phase, c.Stamps[c.Rounds], c.Sent = Bidding, stamp, t.Now
	c.Rounds++
	if m.Follow == Settled && !m.Busy {
		c.Drawn = t.Now
	}
	c.Above = t.highestHeld()
	t.forgetYes(i, Granted)
}

// deadline is until when a client believes, from the instant a stamp was drawn.
func (m Model) deadline(sent int8) int8 { return sent + m.TTL - m.Margin }

// win makes a majority a lease; it does nothing if its deadline has passed.
func (m Model) win(t *State, i int) {
	c := &t.Clients[i]
	until := m.deadline(c.Sent)
	if !m.keeps(CountsFromSending) {
		until = m.deadline(t.Now)
	}
	if t.Now >= until {
		return
	}
	c.Phase, c.Until, c.Held, c.Above = Holding, until, true, 0
	t.forgetYes(i, Granted)
	m.drop(t, i)
}

// renew sends a renewal.
func (m Model) renew(t *State, i int) {
	c := &t.Clients[i]
	c.At[c.Count], c.Stamp[c.Count], c.Last[c.Count] = t.Now, t.Now+c.Lead, c.Until+c.Lead+window
	c.Count++
	if m.Follow == Settled && !m.Busy {
		c.Drawn = t.Now
	}
}

// lastSent is when the last message with a stamp was sent.
func (c *Client) lastSent() int8 {
	if c.Count > 0 {
		return c.At[c.Count-1]
	}
	return c.Sent
}

// answers are the answers that count for renewal k.
func (m Model) answers(k int) Yes {
	which := Extended(k)
	for earlier := 0; earlier < k && !m.keeps(MatchedReplies); earlier++ {
		which |= Extended(earlier)
	}
	return which
}

// extended moves the deadline for renewal k, never back.
func (m Model) extended(t *State, i, k int) {
	c := &t.Clients[i]
	c.Phase = Holding // it still is, if the old deadline counts
	c.Until = max(c.Until, m.deadline(c.At[k]))
}

// end ends a bid or a lease, and sends releases for all that was sent under it.
func (m Model) end(t *State, i int) {
	c := &t.Clients[i]
	c.Phase, c.Until, c.Above = Over, 0, 0
	if m.Releases {
		c.Freed |= FreedAll
	}
	t.forgetYes(i, ^Yes(0))
	m.drop(t, i)
}

// drop releases what was passed to a client, once its round is decided.
func (m Model) drop(t *State, i int) {
	if h := t.Clients[i].From; h != 0 && t.Clients[h-1].Phase == Passed {
		m.end(t, int(h-1))
	}
}

// pass ends a lease in favour of a client that then asks for it.
func (m Model) pass(t *State, i, next int) {
	t.Clients[i].Phase, t.Clients[i].Until = Passed, 0
	t.forgetYes(i, ^Yes(0))
	t.Clients[next].From = int8(i + 1)
	m.draw(t, next)
}

// highestHeld is the highest token of all leases so far.
func (s *State) highestHeld() (top int8) {
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Held {
			top = max(top, c.Token())
		}
	}
	return top
}

// tick lets time pass: leases whose deadline has come are over.
func (m Model) tick(t *State) {
	t.Now++
	for i := range t.Clients {
		c := &t.Clients[i]
		switch {
		case c.Phase == Holding && t.Now >= c.Until:
			if m.keeps(OldDeadline) {
				m.end(t, i)
			} else {
				c.Phase = Lapsed
			}
		case c.Phase == Bidding && t.Now >= m.deadline(c.Sent) && c.Rounds == max(m.Rounds, 1) && m.keeps(CountsFromSending):
			m.end(t, i) // it cannot win any more
		}
	}
}

// read reads the nodes' clocks: quorum.Timebase.correct.
func (m Model) read(t *State, i int) {
	c := &t.Clients[i]
	middle, ok := t.agreed(c.Lead)
	if !ok {
		return
	}
	idle := m.Follow == Settled && !m.Busy && t.Now-c.Drawn >= m.settle()
	switch {
	case m.Follow == AtOnce, idle:
		c.Lead, c.Moved, c.Moving, c.Noted = middle, false, 0, 0
	case abs(middle-c.Lead) <= window:
		c.Lead, c.Moved, c.Moving, c.Noted = middle, false, 0, 0
	case !c.Moved || abs(middle-c.Moving) > window:
		c.Moved, c.Moving, c.Noted = true, middle, t.Now
	case t.Now-c.Noted >= m.settle():
		c.Lead, c.Moved, c.Moving, c.Noted = middle, false, 0, 0
	}
}

// agreed is the middle of the nodes' clocks that agree, against the true time: the most that lie within
// W; of as many those that are closest to lead.
func (s *State) agreed(lead int8) (middle int8, ok bool) {
	offs := []int8{s.Nodes[0].Off, s.Nodes[1].Off, s.Nodes[2].Off}
	slices.Sort(offs)
	if offs[2]-offs[0] <= window {
		return (offs[0] + offs[2]) / 2, true
	}
	for i := range 2 {
		m := (offs[i] + offs[i+1]) / 2
		if offs[i+1]-offs[i] <= window && (!ok || abs(m-lead) < abs(middle-lead)) {
			middle, ok = m, true
		}
	}
	return middle, ok
}
