package fanout

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// members are the servers behind this client's list, and the nodes' knowledge of them. Clients whose lists share only
// some nodes could have disjoint majorities. So each client reports to every node which servers it meets. A node keeps
// as many members as the set has nodes. It calls any other server a stranger, and clients do not count a stranger's
// vote. Two clients that reported to one common node then count the votes of the same N servers. Any two majorities of
// them have one server in common.
//
// A report counts for a limited time. A client at work repeats it before that time ends. A server that nobody reports
// loses its place. No lock or unlock waits for a repeated report.
type members struct {
	round   longMutex     // held while a report is under way
	met     chan struct{} // receives a value when another server was met; it has room for one
	servers []membership
	known   []word      // by node: its last answer to a report
	timer   *time.Timer // starts the next report; nil: there was no report yet. Fanout.mu guards all fields but round
}

// membership is the knowledge of the server behind one node of the list.
type membership struct {
	id      string        // "": the server was not met, or has no id yet
	changes int           // number of changes of id
	blank   bool          // the server was met, and had no id
	seen    clock.Instant // the server was alive at this instant
	against []objection   // by the node that calls the server a stranger
	trusted atomic.Int64  // a clock.Instant: the vote counts until then
	counted bool          // the vote was counted under this id
}

// objection is a node's answer that a server is a stranger.
type objection struct {
	until clock.Instant
	gone  bool // nobody sees the member alive that has the place: the server gets the place at until
}

// word is a node's answer to a report. sent is the instant of the report: an older answer that comes later is ignored.
type word struct {
	sent    clock.Instant
	members []nodescript.Peer
}

// restWhen returns the time without work after which the client stops to repeat its reports. It is at least MaxTTL: a
// held lease is renewed more often than that, so reports go on while there may be one. The reason: a node that was away
// must hear of its holder's list before it accepts another list.
func (f *Fanout) restWhen() time.Duration { return max(time.Minute, f.config.Set.MaxTTL) }

func (f *Fanout) newMembers() *members {
	m := &members{round: newLongMutex(), met: make(chan struct{}, 1), servers: make([]membership, f.N()), known: make([]word, f.N())}
	for i := range m.servers {
		m.servers[i].against = make([]objection, f.N())
	}
	return m
}

// wakeMet wakes a client that waits for another server to be met. The fan-out's lock is held.
func (m *members) wakeMet() {
	select {
	case m.met <- struct{}{}:
	default:
	}
}

// lists reports whether node lists can share a part of their members. With one node two lists are equal or disjoint.
func (f *Fanout) lists() bool { return f.N() > 1 }

// sawAlive notes which server was met behind a node. asked is the instant of the question.
func (f *Fanout) sawAlive(node int, id string, asked clock.Instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &f.members.servers[node]
	if m.id != id {
		m.becomes(id)
		m.seen = asked
		f.members.wakeMet()
	}
	m.blank = id == ""
	m.seen = max(m.seen, asked)
}

// becomes notes another server behind the node. What was said of the server before does not count for it. Fanout.mu is
// held.
func (m *membership) becomes(id string) {
	m.id, m.blank, m.counted = id, false, false
	m.changes++
	clear(m.against)
	m.trusted.Store(0)
}

// untrusted reports whether a server's vote does not count until the next report about it.
func (f *Fanout) untrusted(node int) bool {
	return f.lists() && int64(f.Now()) >= f.members.servers[node].trusted.Load()
}

// member makes the nodes know the server behind a node as a member. It returns Done if the server's vote counts.
// Otherwise it returns the reason: Misconfigured; Quarantined, until its place is free; Failed, if no majority took a
// report.
func (f *Fanout) member(node int) nodescript.Answer {
	if f.untrusted(node) { // otherwise nobody waits for reports of others
		f.reportUntilTrusted(node)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &f.members.servers[node]
	if by := m.opposed(f.Now()); by >= 0 {
		if o := m.against[by]; o.gone {
			return nodescript.Answer{Verdict: nodescript.Quarantined, Cause: nodescript.PlaceTaken, Left: o.until.Sub(f.Now())}
		}
		return nodescript.Answer{Verdict: nodescript.Misconfigured, Cause: nodescript.Stranger, Evidence: f.bothLists(by)}
	}
	for i := range f.N() {
		if o := &f.members.servers[i]; i != node && o.counted && o.id == m.id && m.id != "" && !f.untrusted(i) && f.lives(i) {
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

// reportUntilTrusted reports until a node's vote counts, or until more reports do not help.
func (f *Fanout) reportUntilTrusted(node int) {
	f.members.round.Lock()
	defer f.members.round.Unlock()
	for began := f.Now(); f.untrusted(node); { // the report of another node may have named it too
		if again := f.report(); !again || f.Now().Sub(began) > f.config.Timeout {
			return
		}
		select {
		case <-f.members.met:
		case <-time.After(f.config.Set.Window/4 + apart(node)):
		case <-f.ctx.Done():
		}
	}
}

// opposed returns a node that calls the server a stranger, or -1 if none does. Fanout.mu is held.
func (m *membership) opposed(now clock.Instant) int {
	return slices.IndexFunc(m.against, func(o objection) bool { return now < o.until })
}

// bothLists returns the members that a node knows and the servers behind this client's list, without the times of their
// last sight. f.mu is held.
func (f *Fanout) bothLists(by int) *nodescript.Evidence {
	e := &nodescript.Evidence{Value: f.Addr(by), Kept: f.config.Set.MemberKept()}
	for _, m := range f.members.known[by].members {
		e.Theirs = append(e.Theirs, nodescript.Peer{ID: m.ID, Addr: m.Addr})
	}
	for i := range f.N() {
		e.Ours = append(e.Ours, nodescript.Peer{ID: f.members.servers[i].id, Addr: f.Addr(i)})
	}
	return e
}

// report tells every node which servers are behind the list, and takes the answers. It returns when all nodes have
// answered. As a node may hang, it also returns when a majority has answered and the others had enough time.
//
// It returns true if no additional vote counts after it, because a node answered but did not keep the report. That node
// is being met, and needs the report again. members.round is held.
func (f *Fanout) report() (again bool) {
	f.mu.Lock()
	sent := f.Now()
	if f.closed || !f.time.Known() {
		f.mu.Unlock()
		return false
	}
	var list []nodescript.Peer
	listed := make([]nodescript.Peer, f.N())
	changes := make([]int, f.N())
	until := make([]clock.Instant, f.N()) // until then the servers are trusted
	wait := f.config.Set.Window / 8       // for the answers that come after a majority's
	begins := false                       // a vote that does not count yet may count after this report
	for i := range f.members.servers {
		if m := &f.members.servers[i]; m.id != "" {
			listed[i] = nodescript.Peer{ID: m.id, Addr: f.Addr(i), Seen: f.time.StampAt(m.seen)}
			changes[i] = m.changes
			until[i] = m.seen.Add(f.config.Set.Trusted())
			list = append(list, listed[i])
			begins = begins || f.untrusted(i)
		}
	}
	// A vote that begins to count makes a majority with other votes at once, and a client relies on it for a whole TTL.
	// So no objection may come later. Every node therefore gets the time of the longest round trip of a vote, or until
	// its call ends. This includes nodes that were not seen lately, because all nodes look like that after a rest.
	if begins {
		// The timer ends later than the instant in which calls time out.
		wait = min(f.config.Timeout, 2*f.config.Set.Window) * 17 / 16
	}
	answers := make(chan answered, f.N())
	expected := 0 // answers of the nodes that were not silent lately
	silent := make([]bool, f.N())
	for i, v := range f.voters {
		call := nodescript.PeersCall(f.config.Set, f.time.StampAt(sent), f.members.servers[i].id, list)
		m := &f.members.servers[i]
		if silent[i] = m.id != "" && sent.Sub(m.seen) > f.config.Set.ReportEvery()*3/2; !silent[i] {
			expected++
		}
		f.wait.Go(func() {
			a := answered{node: i}
			a.yes, a.unkept = f.reportTo(i, v, listed[i].ID, call)
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
	for i, t := range listed {
		if again && f.untrusted(i) {
			continue // the node that kept nothing may yet get another list
		}
		// A server that left and came back meanwhile may have lost objections that came in between.
		if m := &f.members.servers[i]; t.ID != "" && t.ID == m.id && changes[i] == m.changes && m.opposed(f.Now()) < 0 {
			m.trusted.Store(max(m.trusted.Load(), int64(until[i])))
		}
	}
	f.reportAgain(max(f.config.Set.ReportEvery()-f.Now().Sub(sent), 0))
	return again && begins
}

// answered is the result of a report at one node.
type answered struct {
	node   int
	yes    bool // the node keeps the report
	unkept bool // the node answered, but does not keep the report
}

// reportTo sends a report to one node and takes its answer, also a late one. id is the id under which the node was met.
func (f *Fanout) reportTo(i int, v *voter, id string, call node.Call) (yes, unkept bool) {
	ctx, cancel := context.WithTimeout(f.hear, f.config.Timeout)
	defer cancel()
	sent := f.Now()
	p, err := nodescript.ParsePeers(v.node.Eval(ctx, nodescript.PeersText(), call))
	if err != nil || p.Other {
		return false, false
	}
	f.mu.Lock()
	me := &f.members.servers[i]
	met := id == p.ID                 // compared with the report's id, because the node may have been met since
	if me.id != p.ID && me.id != "" { // a server that is gone is not reported again
		me.becomes("")
		f.mu.Unlock()
		v.doubt()                          // it lost its memory, or the address leads to another server
		f.wait.Go(func() { v.admitted() }) // other votes begin to count only after it keeps a report
		return false, true
	}
	defer f.mu.Unlock()
	if met {
		me.seen = max(me.seen, sent)
	} else if me.id == "" && me.blank && !p.Late { // it got its id when it was admitted, and keeps only what comes with that
		me.becomes(p.ID)
		me.seen = sent
		f.members.wakeMet()
	} else if me.id == "" { // it was away, and keeps reports only after it was met
		f.wait.Go(func() { v.admitted() })
	}
	if sent >= f.members.known[i].sent {
		f.members.known[i] = word{sent, p.Members}
		for j := range f.members.servers {
			m := &f.members.servers[j]
			switch {
			case slices.Contains(p.Strangers, m.id):
				m.against[i] = f.objection(p)
				m.trusted.Store(0)
			case slices.ContainsFunc(p.Members, func(p nodescript.Peer) bool { return p.ID == m.id }):
				m.against[i] = objection{}
			}
		}
	}
	// A node that was not greeted yet keeps no report, but its objections count. The same is true for a node that the
	// report reached late: it gets the next report in time, or not either. A node that cannot be greeted, for example
	// because it refuses INFO, must not stop the votes of the others.
	return met && !p.Late, !met && !v.unmet.Load()
}

// objection returns the meaning of a node's answer for a stranger.
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

// reportAgain schedules the next report. f.mu is held.
func (f *Fanout) reportAgain(in time.Duration) {
	switch {
	case f.closed:
	case f.members.timer == nil:
		f.members.timer = time.AfterFunc(in, f.reportSoon)
	default:
		f.members.timer.Reset(in)
	}
}

// reportSoon sends a report in the background. It does nothing if the client has had no work for restWhen.
func (f *Fanout) reportSoon() {
	now, last := f.Now(), clock.Instant(0)
	for _, s := range f.senders {
		s.mu.Lock()
		last = max(last, s.worked)
		s.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || now.Sub(last) > f.restWhen() {
		return
	}
	f.reportAgain(f.config.Set.ReportEvery() / 4) // for the case that this report fails
	f.wait.Go(func() {
		if f.members.round.TryLock() { // otherwise a report is under way
			f.report()
			f.members.round.Unlock()
		}
	})
}
