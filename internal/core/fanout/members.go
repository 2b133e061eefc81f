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

// members contains the servers behind this client's list, and the nodes' knowledge of these servers. Clients whose
// lists share only some nodes could have disjoint majorities. So each client reports to every node which servers it
// meets. A node keeps as many members as the set has nodes. It calls any other server a stranger, and clients do not
// count a stranger's vote. Two clients that reported to one common node then count the votes of the same N servers. Any
// two majorities of these servers have one server in common.
//
// A report counts for a limited time. A client at work repeats it before that time ends. A server that no client
// reports loses its place. No lock or unlock waits for a repeated report.
type members struct {
	round   longMutex     // held while a report is under way
	met     chan struct{} // receives a value when the client meets another server; it has room for one
	servers []membership
	known   []word      // by node: its last answer to a report
	timer   *time.Timer // starts the next report; nil: there was no report yet. Fanout.mu guards all fields but round
}

// membership is the client's knowledge of the server behind one node of the list.
type membership struct {
	id      string        // "": the client has not met the server, or the server has no id yet
	changes int           // the number of times that id changed
	blank   bool          // the client met the server, and the server had no id
	seen    clock.Instant // the server was alive at this instant
	against []objection   // by node: its objection to the server
	trusted atomic.Int64  // a clock.Instant: the vote counts until this instant
	counted bool          // the client counted the vote of the server under this id
}

// objection is a node's answer that a server is a stranger.
type objection struct {
	until clock.Instant
	gone  bool // the member that has the place seems gone, so the server gets the place at until
}

// word is a node's answer to a report. sent is the instant of the report. The client ignores an answer to an older
// report that comes later.
type word struct {
	sent    clock.Instant
	members []nodescript.Peer
}

// restWhen returns the time without work after which the client stops repeating its reports. The time is at least
// MaxTTL. A client renews a held lease more often than that, so reports continue while the client may hold a lease.
// This is necessary because a node that was away must hear of its holder's list before it accepts another list.
func (f *Fanout) restWhen() time.Duration { return max(time.Minute, f.config.Set.MaxTTL) }

func (f *Fanout) newMembers() *members {
	m := &members{round: newLongMutex(), met: make(chan struct{}, 1), servers: make([]membership, f.N()), known: make([]word, f.N())}
	for i := range m.servers {
		m.servers[i].against = make([]objection, f.N())
	}
	return m
}

// wakeMet wakes a goroutine that waits until the client meets another server. The caller holds Fanout.mu.
func (m *members) wakeMet() {
	select {
	case m.met <- struct{}{}:
	default:
	}
}

// lists reports whether two node lists can share only a part of their members. With one node, two lists are equal or
// disjoint.
func (f *Fanout) lists() bool { return f.N() > 1 }

// sawAlive notes which server the client met behind a node. asked is the instant of the question.
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

// becomes notes another server behind the node. Objections to the former server do not apply to the new server. The
// caller holds Fanout.mu.
func (m *membership) becomes(id string) {
	m.id, m.blank, m.counted = id, false, false
	m.changes++
	clear(m.against)
	m.trusted.Store(0)
}

// untrusted reports whether a server's vote does not count until the next report about the server.
func (f *Fanout) untrusted(node int) bool {
	return f.lists() && int64(f.Now()) >= f.members.servers[node].trusted.Load()
}

// member tries to make the server behind a node a member for the nodes. It returns Done if the server's vote counts.
// Otherwise it returns the reason. Misconfigured: a node has other members. Quarantined: the server waits until its
// place is free. Failed: no majority took a report.
func (f *Fanout) member(node int) nodescript.Answer {
	if f.untrusted(node) { // otherwise the vote counts already, and no caller waits for a report
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

// reportUntilTrusted sends reports until a node's vote counts, or until more reports do not help.
func (f *Fanout) reportUntilTrusted(node int) {
	f.members.round.Lock()
	defer f.members.round.Unlock()
	for began := f.Now(); f.untrusted(node); { // a report for another node may also have named this node's server
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

// opposed returns a node that calls the server a stranger, -1 if no node does. The caller holds Fanout.mu.
func (m *membership) opposed(now clock.Instant) int {
	return slices.IndexFunc(m.against, func(o objection) bool { return now < o.until })
}

// bothLists returns the members that a node knows and the servers behind this client's list, without the times at which
// clients last saw them. The caller holds f.mu.
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

// report tells every node which servers are behind the list, and processes the answers. It returns when all nodes have
// answered. A node may hang, so report also returns when a majority has answered and the other nodes had enough time.
//
// again is true if a vote could not begin to count because a node answered but did not keep the report. The client
// meets that node now, and the node needs the report again. The caller holds members.round.
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
	until := make([]clock.Instant, f.N()) // the servers are trusted until these instants
	wait := f.config.Set.Window / 8       // the time for answers that come after a majority's answers
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
	// If a vote begins to count after this report, it may complete a majority at once, and the client relies on that
	// majority for a whole TTL. An objection after that would be too late. So the client waits for each node as long as
	// the longest round trip of a vote takes, or until the call ends. It also waits for nodes that it has not seen
	// lately, because after a rest it has seen none.
	if begins {
		// The timer ends later than the instant at which calls time out.
		wait = min(f.config.Timeout, 2*f.config.Set.Window) * 17 / 16
	}
	answers := make(chan answered, f.N())
	expected := 0 // the number of answers from nodes that were not silent lately
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
			continue // the node that did not keep the report may still get another list
		}
		// A server may have left and come back during the report. Then objections from that time may be lost. An objection
		// of this report counts even if it has ended by now: only the next report shows who got the place.
		if m := &f.members.servers[i]; t.ID != "" && t.ID == m.id && changes[i] == m.changes && m.opposed(sent) < 0 {
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

// reportTo sends a report to one node and processes its answer, even a late answer. id is the id under which the client
// met the node.
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
	met := id == p.ID                 // compare the report's id, because the client may have met the node since
	if me.id != p.ID && me.id != "" { // a server that is gone is not reported again
		me.becomes("")
		f.mu.Unlock()
		v.doubt()                          // the server lost its memory, or the address leads to another server
		f.wait.Go(func() { v.admitted() }) // other votes begin to count only after the new server keeps a report
		return false, true
	}
	defer f.mu.Unlock()
	if met {
		me.seen = max(me.seen, sent)
		// Admission gave the server its id; the server keeps only reports that come with this id.
	} else if me.id == "" && me.blank && !p.Late {
		me.becomes(p.ID)
		me.seen = sent
		f.members.wakeMet()
	} else if me.id == "" { // it was away; the server keeps reports only after the client met it
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
	// A node that the client has not greeted yet keeps no report, but its objections count. The same is true for a node
	// that got the report late. The client does not repeat the report for a late node, because the next report may be
	// as late. A node that the client cannot greet, for example because it refuses INFO, must not stop the votes of the
	// other nodes.
	return met && !p.Late, !met && !v.unmet.Load()
}

// objection converts a node's answer about a stranger.
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

// reportAgain schedules the next report. The caller holds f.mu.
func (f *Fanout) reportAgain(in time.Duration) {
	switch {
	case f.closed:
	case f.members.timer == nil:
		f.members.timer = time.AfterFunc(in, f.reportSoon)
	default:
		f.members.timer.Reset(in)
	}
}

// reportSoon sends a report in the background. It does nothing if the client has had no work for the time restWhen.
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
	f.reportAgain(f.config.Set.ReportEvery() / 4) // this timer matters if the report fails
	f.wait.Go(func() {
		if f.members.round.TryLock() { // if the mutex is not free, a report is under way
			f.report()
			f.members.round.Unlock()
		}
	})
}
