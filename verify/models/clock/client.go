package clock

import "slices"

// These functions are the behaviour of a client: internal/core/waiting, internal/core/renewal, internal/core/quorum.

// draw begins a round: a stamp for all nodes.
func (m Model) draw(t *State, i int) {
	c := &t.Clients[i]
	stamp := t.Now + c.Lead
	if c.Rounds > 0 {
		stamp = max(stamp, c.Highest()+1) // never repeated
	}
	c.Phase, c.Stamps[c.Rounds], c.Sent, c.Given = Bidding, stamp, t.Now, 0
	if m.Given > 0 {
		c.Asked[c.Rounds] = t.Now
	}
	c.Rounds++
	if m.Follow == Settled && !m.Busy {
		c.Drawn = t.Now
	}
	c.Above = t.highestHeld()
	t.forgetYes(i, Granted)
}

// deadline returns the end of a client's belief, if its stamp was drawn at the instant sent.
func (m Model) deadline(sent int8) int8 { return sent + m.TTL - m.Margin }

// win turns a majority into a lease. It does nothing after the deadline.
func (m Model) win(t *State, i int) {
	c := &t.Clients[i]
	until := m.deadline(c.Sent)
	if !m.keeps(CountsFromSending) {
		until = m.deadline(t.Now)
	}
	if c.Given != 0 {
		until = m.givenUntil(t, i)
	}
	if t.Now >= until {
		return
	}
	c.Phase, c.Until, c.Held, c.Above = Holding, until, true, 0
	t.forgetYes(i, Granted)
	t.forgetGifts(i)
	m.drop(t, i)
}

// renew sends a renewal. stray is the error of its stamp that the client does not know.
func (m Model) renew(t *State, i int, stray int8) {
	c := &t.Clients[i]
	lead := c.Lead + stray
	c.At[c.Count], c.Stamp[c.Count], c.Last[c.Count] = t.Now, t.Now+lead, c.Until+lead+window
	c.Count++
	if m.Follow == Settled && !m.Busy {
		c.Drawn = t.Now
	}
}

// lastSent returns the time of the last message with a stamp.
func (c *Client) lastSent() int8 {
	if c.Count > 0 {
		return c.At[c.Count-1]
	}
	return c.Sent
}

// answers returns the answers that count for renewal k.
func (m Model) answers(k int) Yes {
	which := Extended(k)
	for earlier := 0; earlier < k && !m.keeps(MatchedReplies); earlier++ {
		which |= Extended(earlier)
	}
	return which
}

// late returns the time for which renewal k was late: the largest excess of the majority with the smallest ones.
func (m Model) late(t *State, i, k int) int8 {
	var all []int8
	for n := range t.Nodes {
		if t.Nodes[n].By[i]&m.answers(k) != 0 {
			all = append(all, t.Nodes[n].Excess[i][k])
		}
	}
	slices.Sort(all)
	switch {
	case !m.keeps(ExcessCounts):
		return 0
	case !m.keeps(LargestExcess):
		return all[0]
	}
	return all[m.need()-1]
}

// until returns the deadline that renewal k gives, if a majority granted it.
func (m Model) until(t *State, i, k int) int8 {
	return m.deadline(t.Clients[i].At[k]) - m.late(t, i, k)
}

// extended moves the deadline for renewal k forward, never back.
func (m Model) extended(t *State, i, k int) {
	c := &t.Clients[i]
	c.Phase = Holding // it already holds if the old deadline counts
	c.Until = max(c.Until, m.until(t, i, k))
}

// end ends an attempt or a lease, and sends releases for all its stamps.
func (m Model) end(t *State, i int) {
	c := &t.Clients[i]
	c.Phase, c.Until, c.Above = Over, 0, 0
	if m.Releases {
		c.Freed |= FreedAll
	}
	t.forgetYes(i, ^Yes(0))
	t.forgetGifts(i)
	m.drop(t, i)
}

// drop releases a lease that was passed to a client, after the client's round is decided.
func (m Model) drop(t *State, i int) {
	if h := t.Clients[i].From; h != 0 && t.Clients[h-1].Phase == Passed {
		m.end(t, int(h-1))
	}
}

// pass ends a lease in favour of a client, which then asks for it.
func (m Model) pass(t *State, i, next int) {
	t.Clients[i].Phase, t.Clients[i].Until = Passed, 0
	t.forgetYes(i, ^Yes(0))
	t.Clients[next].From = int8(i + 1)
	m.draw(t, next)
}

// highestHeld returns the highest token of all leases so far.
func (s *State) highestHeld() (top int8) {
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Held {
			top = max(top, c.Token())
		}
	}
	return top
}

// tick lets time pass. A lease ends when its deadline comes.
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
		case c.Phase == Bidding && t.Now >= m.deadline(c.Sent) && c.Rounds == m.rounds(i) && m.keeps(CountsFromSending) && m.givenOver(t, i):
			m.end(t, i) // it cannot win any more
		}
	}
}

// read reads the nodes' clocks, as quorum.Timebase.correct does.
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

// agreed finds the largest group of clocks that differ from each other by at most W. It returns the middle of the
// group, relative to the true time. If several groups are equally large, it takes the one whose middle is closest to
// lead, the client's present estimate.
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
