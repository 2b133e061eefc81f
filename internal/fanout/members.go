package fanout

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// members are the servers behind this client's list, and what the nodes say of them. Clients whose lists share some
// nodes only could have disjoint majorities. So each tells every node which servers it meets; a node keeps as many
// as the set has nodes, and calls another one a stranger, whose vote does not count. Two clients that told one
// common node then count votes of the same N servers, of which two majorities have one in common.
//
// A report counts for a limited time. A client at work repeats it before that time ends. A server that nobody reports
// loses its place. No lock or unlock waits for a repeated report.
type members struct {
	round door          // held while a report is under way
	met   chan struct{} // another server was met; it has room for one
	seats []membership
	known []word      // by node: what it told last
	timer *time.Timer // has the next report sent; nil: there was none yet. The fan-out's lock is for all but round
}

// membership is what is known of the server behind one node of the list.
type membership struct {
	id      string        // "": it was not met, or has none yet
	seen    clock.Instant // it was alive then, or later
	against []objection   // by the node that calls it a stranger
	trusted atomic.Int64  // a clock.Instant: its vote counts until then
	counted bool          // its vote was counted, by this id
}

// objection is a node's word that a server is a stranger.
type objection struct {
	until clock.Instant
	gone  bool // nobody sees the member alive whose place the server gets then
}

// word is what a node answered to a report, and when that was sent: an older answer that comes later tells nothing.
type word struct {
	sent    clock.Instant
	members []nodescript.Peer
}

// restWhen is how long nobody was at work when reports are not repeated any more: not while a lease may be held, which is
// renewed more often. A node that was away must hear of its holder's list before it takes another one.
func (f *Fanout) restWhen() time.Duration { return max(time.Minute, f.config.Set.MaxTTL) }

func (f *Fanout) newMembers() *members {
	m := &members{round: newDoor(), met: make(chan struct{}, 1), seats: make([]membership, f.N()), known: make([]word, f.N())}
	for i := range m.seats {
		m.seats[i].against = make([]objection, f.N())
	}
	return m
}

// lists reports whether node lists can share a part of their members: one node alone is the same, or another.
func (f *Fanout) lists() bool { return f.N() > 1 }

// sawAlive notes which server was met behind a node, when it was asked.
func (f *Fanout) sawAlive(node int, id string, asked clock.Instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &f.members.seats[node]
	if m.id != id {
		m.id, m.seen, m.counted = id, asked, false
		clear(m.against)
		m.trusted.Store(0)
		select {
		case f.members.met <- struct{}{}:
		default:
		}
	}
	m.seen = max(m.seen, asked)
}

// untrusted reports whether a server's vote does not count until the nodes were told of it again.
func (f *Fanout) untrusted(node int) bool {
	return f.lists() && int64(f.Now()) >= f.members.seats[node].trusted.Load()
}

// member sees to it that the nodes know the server behind a node as a member. It returns Done, or why its vote does not
// count: Misconfigured; Quarantined, until its place is free; Failed, where no majority could be told.
func (f *Fanout) member(node int) nodescript.Answer {
	f.members.round.Lock()
	for began := f.Now(); f.untrusted(node); { // another seat's report may have told of it, too
		if again := f.report(); !again || f.Now().Sub(began) > f.config.Timeout {
			break
		}
		select {
		case <-f.members.met:
		case <-time.After(f.config.Set.Window/4 + f.seats[node].apart()):
		case <-f.ctx.Done():
		}
	}
	f.members.round.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &f.members.seats[node]
	if by := m.opposed(f.Now()); by >= 0 {
		if o := m.against[by]; o.gone {
			return nodescript.Answer{Verdict: nodescript.Quarantined, Cause: nodescript.PlaceTaken, Left: o.until.Sub(f.Now())}
		}
		return nodescript.Answer{Verdict: nodescript.Misconfigured, Cause: nodescript.Stranger, Evidence: f.bothLists(by)}
	}
	for i := range f.seats {
		if o := &f.members.seats[i]; i != node && o.counted && o.id == m.id && m.id != "" && !f.untrusted(i) && f.lives(i) {
			return nodescript.Answer{
				Verdict: nodescript.Misconfigured, Cause: nodescript.DataTwice, Evidence: &nodescript.Evidence{Value: f.Addr(i)},
			}
		}
	}
	if f.untrusted(node) {
		return failed(quorum.Unsettled{})
	}
	m.counted = true
	return nodescript.Answer{Verdict: nodescript.Done}
}

// opposed is a node that calls the server a stranger, -1: none does. The fan-out's lock is held.
func (m *membership) opposed(now clock.Instant) int {
	return slices.IndexFunc(m.against, func(o objection) bool { return now < o.until })
}

// bothLists returns the members that a node knows and the servers behind this client's list, without the times of their last
// sight. f.mu is held.
func (f *Fanout) bothLists(by int) *nodescript.Evidence {
	e := &nodescript.Evidence{Value: f.Addr(by), Kept: f.config.Set.MemberKept()}
	for _, m := range f.members.known[by].members {
		e.Theirs = append(e.Theirs, nodescript.Peer{ID: m.ID, Addr: m.Addr})
	}
	for i := range f.seats {
		e.Ours = append(e.Ours, nodescript.Peer{ID: f.members.seats[i].id, Addr: f.Addr(i)})
	}
	return e
}

// report tells every node of the servers behind the list, and takes what they say. It returns when all have answered or,
// since one may hang, a majority has and the others had the time. It returns true if no other vote counts after it
// than before, because a node answered that has not kept the report: that node is being met, and must be told again.
// The round's door is held.
func (f *Fanout) report() (again bool) {
	f.mu.Lock()
	sent := f.Now()
	if f.closed || !f.time.Known() {
		f.mu.Unlock()
		return false
	}
	var list []nodescript.Peer
	told := make([]nodescript.Peer, f.N())
	until := make([]clock.Instant, f.N()) // they are trusted
	wait := f.config.Set.Window / 8       // for the answers after those of a majority
	begins := false                       // a vote that does not count now may count after this report
	for i := range f.members.seats {
		if m := &f.members.seats[i]; m.id != "" {
			told[i] = nodescript.Peer{ID: m.id, Addr: f.Addr(i), Seen: f.time.StampAt(m.seen)}
			until[i] = m.seen.Add(f.config.Set.Trusted())
			list = append(list, told[i])
			begins = begins || f.untrusted(i)
		}
	}
	// A vote that begins to count is relied on for a whole TTL, and other votes make a majority with it at once. So no
	// objection may come later: every node has the longest round trip of a vote, or until the call to it ends. Nodes that
	// were not seen lately are waited for, too: after a rest all of them look like that.
	if begins {
		wait = min(f.config.Timeout, 2*f.config.Set.Window) * 17 / 16 // not in the instant in which calls time out
	}
	answers := make(chan answered, f.N())
	expected := 0 // of those that were not silent lately
	silent := make([]bool, f.N())
	for i, s := range f.seats {
		call := nodescript.PeersCall(f.config.Set, f.time.StampAt(sent), f.members.seats[i].id, list)
		m := &f.members.seats[i]
		if silent[i] = m.id != "" && sent.Sub(m.seen) > f.config.Set.ReportEvery()*3/2; !silent[i] {
			expected++
		}
		f.wait.Go(func() {
			a := answered{node: i}
			a.yes, a.unkept = f.ask(i, s, told[i].ID, call)
			answers <- a
		})
	}
	f.mu.Unlock()

	patience := time.NewTimer(wait)
	defer patience.Stop()
	need, yes, late := quorum.Majority(f.N()), 0, false
	for got := 0; got < f.N() && !((late || expected == 0 && !begins) && yes >= need); {
		select {
		case a := <-answers:
			if got++; a.yes {
				yes++
			}
			if !silent[a.node] {
				expected--
			}
			again = again || a.unkept
		case <-patience.C:
			late = true
		}
	}
	if yes < need {
		return again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, t := range told {
		if again && f.untrusted(i) {
			continue // another list may yet be told to the node that kept nothing
		}
		if m := &f.members.seats[i]; t.ID != "" && t.ID == m.id && m.opposed(f.Now()) < 0 {
			m.trusted.Store(max(m.trusted.Load(), int64(until[i])))
		}
	}
	f.reportAgain(max(f.config.Set.ReportEvery()-f.Now().Sub(sent), 0))
	return again && begins
}

// answered is that a node answered to a report, or did not.
type answered struct {
	node   int
	yes    bool // it keeps the report
	unkept bool // it answered, and keeps nothing of it
}

// ask sends a report to one node that was met by an id, and takes its answer, also a late one.
func (f *Fanout) ask(i int, s *seat, id string, call node.Call) (yes, unkept bool) {
	ctx, cancel := context.WithTimeout(f.hear, f.config.Timeout)
	defer cancel()
	sent := f.Now()
	p, err := nodescript.ParsePeers(s.node.Eval(ctx, nodescript.PeersText(), call))
	if err != nil || p.Other {
		return false, false
	}
	f.mu.Lock()
	me := &f.members.seats[i]
	met := id == p.ID                 // by what the report said; the node may have been met since
	if me.id != p.ID && me.id != "" { // what is gone is not reported again
		me.id, me.counted = "", false
		clear(me.against)
		me.trusted.Store(0)
		f.mu.Unlock()
		s.doubt() // it lost its memory, or the address leads elsewhere
		f.wait.Go(func() { s.admitted() }) // the other votes wait until it keeps a report
		return false, true
	}
	defer f.mu.Unlock()
	if met {
		me.seen = max(me.seen, sent)
	} else if me.id == "" { // it was away, and keeps what it is told from when it was met
		f.wait.Go(func() { s.admitted() })
	}
	if sent >= f.members.known[i].sent {
		f.members.known[i] = word{sent, p.Members}
		for j := range f.members.seats {
			m := &f.members.seats[j]
			switch {
			case slices.Contains(p.Strangers, m.id):
				m.against[i] = f.objection(p)
				m.trusted.Store(0)
			case slices.ContainsFunc(p.Members, func(p nodescript.Peer) bool { return p.ID == m.id }):
				m.against[i] = objection{}
			}
		}
	}
	return met, !met // one that was not greeted yet keeps nothing of it, but its objections count
}

// objection is what a node's answer comes to for a stranger.
func (f *Fanout) objection(p nodescript.Peers) objection {
	set, oldest := f.config.Set, p.Time
	for _, m := range p.Members {
		oldest = min(oldest, m.Seen)
	}
	unseen := time.Duration(p.Time-oldest) * time.Microsecond
	if unseen <= set.Trusted() {
		return objection{until: f.Now().Add(set.MemberKept())}
	}
	return objection{f.Now().Add(max(set.MemberKept()-unseen, time.Millisecond)), true}
}

// reportAgain has the next report sent. f.mu is held.
func (f *Fanout) reportAgain(in time.Duration) {
	switch {
	case f.closed:
	case f.members.timer == nil:
		f.members.timer = time.AfterFunc(in, f.reportSoon)
	default:
		f.members.timer.Reset(in)
	}
}

// reportSoon sends a report in the background, unless nobody was at work for long.
func (f *Fanout) reportSoon() {
	now, last := f.Now(), clock.Instant(0)
	for _, s := range f.seats {
		s.mu.Lock()
		last = max(last, s.worked)
		s.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || now.Sub(last) > f.restWhen() {
		return
	}
	f.reportAgain(f.config.Set.ReportEvery() / 4) // where this one fails
	f.wait.Go(func() {
		select {
		case f.members.round <- struct{}{}:
			f.report()
			f.members.round.Unlock()
		default: // one is under way
		}
	})
}
