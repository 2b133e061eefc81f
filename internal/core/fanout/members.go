package fanout

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// members contains the servers behind this client's list, and what each node answered about these servers.
//
// Two clients whose lists share only some nodes could have majorities without a common server. Both could then hold
// the same lock. So each client reports to every node which servers it meets. A node keeps as many members as the set
// has nodes, and calls all other servers strangers. Clients do not count a stranger's vote. So if two clients have
// reported to one common node, they count the votes of the same N servers. Two majorities of N servers have a server
// in common.
//
// A report counts for a limited time, and a client at work repeats it before that time ends. A server that no client
// reports any more loses its place. Locks and unlocks do not wait for repeated reports.
type members struct {
	round   longMutex     // held while a report is under way
	met     chan struct{} // receives a value when the client meets another server; its capacity is one
	servers []membership
	known   []word      // by node: its last answer to a report
	few     bool        // less than a majority answered the last report that failed
	timer   *time.Timer // starts the next report; nil: no report was sent yet. Fanout.mu guards all fields except round.
}

// membership is the client's knowledge about the server behind one node of its list.
type membership struct {
	id      string        // "": the client did not meet the server, or the server has no id yet
	changes int           // the number of times that id changed
	blank   bool          // the client met the server when it had no id
	seen    clock.Instant // the server was alive at this instant
	against []objection   // by node: whether that node calls the server a stranger
	trusted atomic.Int64  // a clock.Instant: the server's vote counts until then
	counted bool          // the client has counted the vote of the server with this id
}

// objection is a node's answer that a server is a stranger. Its zero value means that the node did not say so.
type objection struct {
	until clock.Instant
	gone  bool // the member that has the place seems to be gone, so the server gets the place at until
}

// word is a node's last answer to a report, and the instant at which the client sent that report. With sent, the
// client ignores a late answer to an older report.
type word struct {
	sent    clock.Instant
	members []nodescript.Peer
}

// restWhen is the time without work after which the client stops repeating its reports. It is at least MaxTTL: a
// client renews its leases more often than that, so reports continue while the client may hold a lease. They must
// continue, because a node that was away has to get the report of such a client before it accepts another list.
func (f *Fanout) restWhen() time.Duration { return max(time.Minute, f.config.Set.MaxTTL) }

func (f *Fanout) newMembers() *members {
	m := &members{round: newLongMutex(), met: make(chan struct{}, 1), servers: make([]membership, f.N()), known: make([]word, f.N())}
	for i := range m.servers {
		m.servers[i].against = make([]objection, f.N())
	}
	return m
}

// wakeMet wakes a goroutine that waits until the client has met another server. The caller holds Fanout.mu.
func (m *members) wakeMet() {
	select {
	case m.met <- struct{}{}:
	default:
	}
}

// lists reports whether lists of nodes can overlap in part. With one node they cannot: two lists are equal, or they
// have no node in common.
func (f *Fanout) lists() bool { return f.N() > 1 }

// sawAlive notes which server the client met behind a node. asked is the instant at which the client asked.
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

// becomes notes that another server is behind the node. It removes the objections to the former server. The caller
// holds Fanout.mu.
func (m *membership) becomes(id string) {
	m.id, m.blank, m.counted = id, false, false
	m.changes++
	clear(m.against)
	m.trusted.Store(0)
}

// untrusted reports whether a server's vote does not count until a report names that server again.
func (f *Fanout) untrusted(node int, now clock.Instant) bool {
	return f.lists() && int64(now) >= f.members.servers[node].trusted.Load()
}

// member tries to make the server behind a node a member, and returns Done if its vote counts. Otherwise the answer
// has one of these verdicts. Misconfigured: a node already has other members, or two nodes share an id. Quarantined:
// the server gets a place later. Failed: a majority did not accept a report.
func (f *Fanout) member(node int) nodescript.Answer {
	if f.untrusted(node, f.Now()) { // otherwise the vote counts already, and no caller waits for a report
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
		if o := &f.members.servers[i]; i != node && o.counted && o.id == m.id && m.id != "" && !f.untrusted(i, f.Now()) && f.hasServer(i) {
			return nodescript.Answer{
				Verdict: nodescript.Misconfigured, Cause: nodescript.DataTwice, Evidence: &nodescript.Evidence{Value: f.Addr(i)},
			}
		}
	}
	if f.untrusted(node, f.Now()) {
		return failed(quorum.Unsettled{Few: f.members.few, Unkept: true})
	}
	m.counted = true
	return nodescript.Answer{Verdict: nodescript.Done}
}

// reportUntilTrusted repeats reports until the node's vote counts, or until more reports cannot help.
func (f *Fanout) reportUntilTrusted(node int) {
	f.members.round.Lock()
	defer f.members.round.Unlock()
	for began := f.Now(); f.untrusted(node, f.Now()); { // a report for another node may have named this node's server, too
		if again := f.report(); !again || f.Now().Sub(began) > f.patience() {
			return
		}
		select {
		case <-f.members.met:
		case <-time.After(f.config.Set.Window/4 + apart(node)):
		case <-f.ctx.Done():
		}
	}
}

// opposed returns a node that calls the server a stranger, or -1. The caller holds Fanout.mu.
func (m *membership) opposed(now clock.Instant) int {
	return slices.IndexFunc(m.against, func(o objection) bool { return now < o.until })
}

// bothLists returns the members that a node answered, and the servers behind this client's list. It leaves out when
// clients last saw the servers. The caller holds f.mu.
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

// reportTo sends a report to one node and handles the answer, even if it comes late. id is the id of the node's server
// when the report was made. The stamp shows the node how old the list is at most, so it is drawn here: this goroutine
// may have waited for a processor since the report was made.
func (f *Fanout) reportTo(ctx context.Context, i int, v *voter, id string, list []nodescript.Peer) (yes, unkept, said bool) {
	sent := f.Now()
	call := nodescript.PeersCall(f.config.Set, f.StampAt(sent), id, list)
	reply := v.node.Eval(ctx, nodescript.PeersText(), call)
	p, err := nodescript.ParsePeers(reply)
	if err != nil || p.Other {
		return false, false, !unanswered(reply)
	}
	f.mu.Lock()
	me := &f.members.servers[i]
	met := id == p.ID                 // uses the id of the report, because the client may have met another server since then
	if me.id != p.ID && me.id != "" { // another server answered: the one in the report is gone
		me.becomes("")
		f.mu.Unlock()
		v.doubt()                          // the server lost its memory, or the address leads to another server
		f.wait.Go(func() { v.admitted() }) // other votes can begin to count only after the new server keeps a report
		return false, true, true
	}
	defer f.mu.Unlock()
	if met {
		me.seen = max(me.seen, sent)
		// The server got its id in an admission. It keeps only reports that quote this id.
	} else if me.id == "" && me.blank && !p.Late {
		me.becomes(p.ID)
		me.seen = sent
		f.members.wakeMet()
	} else if me.id == "" { // it was away. The server keeps reports only after the client has met it.
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
	// A node without a greeting, or one that got the report late, does not keep the report. But its objections count.
	// The report is not repeated for a late node, because the next report may be as late. It is also not repeated for
	// a node that the client cannot greet, for example because the node refuses INFO. Otherwise such a node would keep
	// the votes of all other nodes from counting.
	return met && !p.Late, !met && !v.unmet.Load(), true
}

// objection converts a node's answer that a server is a stranger.
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
		f.members.timer = f.AfterFunc(in, f.reportSoon)
	default:
		f.members.timer.Reset(in)
	}
}

// reportSoon sends a report in the background, unless the client had no work for the time restWhen.
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
	f.reportAgain(f.config.Set.ReportEvery() / 4) // needed if this report fails
	f.wait.Go(func() {
		if f.members.round.TryLock() { // otherwise a report is under way
			f.report()
			f.members.round.Unlock()
		}
	})
}
