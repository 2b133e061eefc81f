package fanout

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// reporting is one report to all nodes. It lists the servers that this client has met, the members. It keeps what the
// client knew when the report began, so that its end can see what has changed meanwhile. Only the goroutine that
// reports uses the second group of fields.
type reporting struct {
	fan     *Fanout
	sent    clock.Instant
	list    []nodescript.Peer // the servers that the client has met
	listed  []nodescript.Peer // the same by node; no id: the client has not met the server
	changes []int             // by node: the number of changes of the server's id so far
	until   []clock.Instant   // by node: if the report succeeds, the client trusts the server until this instant
	begins  bool              // the vote of some server does not count now, and may count after this report
	wait    time.Duration     // the time for further answers after a majority has answered

	answers  chan answered
	silent   []bool // by node: the client has not met it lately
	expected int    // the number of answers that are still to come from nodes that answered recently
	said     int    // the number of servers that answered
}

// answered is the result of a report at one node.
type answered struct {
	node   int
	yes    bool // the node keeps the report
	unkept bool // the node answered, but does not keep the report
	said   bool // the server answered; it may have refused the report
}

// report tells every node which servers are behind the list, and handles the answers. It returns when all nodes have
// answered. Because a node may hang, it also returns when a majority has answered and the other nodes had enough time.
//
// again is true if the caller must report again soon, because a node answered but did not keep the report. The client
// is greeting such a node, and the vote of some server cannot count before the node keeps the report. The caller holds
// members.round.
func (f *Fanout) report() (again bool) {
	f.Suspect()
	r := f.beginReport()
	if r == nil {
		return false
	}
	yes, again := r.await()
	if yes < quorum.Majority(f.N()) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.members.few = r.said < quorum.Majority(f.N())
		return again
	}
	r.trust(again)
	return again && r.begins
}

// beginReport sends a report to every node. It returns nil if the client is closed, or knows no time for a stamp.
func (f *Fanout) beginReport() *reporting {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || !f.time.Known() {
		return nil
	}
	n := f.N()
	r := &reporting{
		fan: f, sent: f.Now(), listed: make([]nodescript.Peer, n), changes: make([]int, n), until: make([]clock.Instant, n),
		wait: f.config.Set.Window / 8, answers: make(chan answered, n), silent: make([]bool, n),
	}
	for i := range f.members.servers {
		if m := &f.members.servers[i]; m.id != "" {
			r.listed[i] = nodescript.Peer{ID: m.id, Addr: f.Addr(i), Seen: f.time.StampAt(m.seen)}
			r.changes[i] = m.changes
			r.until[i] = m.seen.Add(f.config.Set.Trusted())
			r.list = append(r.list, r.listed[i])
			r.begins = r.begins || f.untrusted(i, f.Now())
		}
	}
	// When a vote begins to count, it may complete a majority at once, and the client may rely on that majority for a
	// whole TTL. An objection after that would come too late. So the client gives each node as much time as the longest
	// useful round trip takes. It does so also for nodes that it did not meet lately: after an idle time these are all
	// nodes.
	if r.begins {
		// The timer fires after the calls have timed out.
		r.wait = min(f.config.Timeout, 2*f.config.Set.Window)*17/16 + f.Delay()
	}
	for i, v := range f.voters {
		r.ask(i, v)
	}
	return r
}

// ask sends the report to one node, on a goroutine of its own. The caller holds f.mu.
func (r *reporting) ask(i int, v *voter) {
	f, m := r.fan, &r.fan.members.servers[i]
	met := m.id
	if r.silent[i] = met != "" && r.sent.Sub(m.seen) > f.config.Set.ReportEvery()*3/2; !r.silent[i] {
		r.expected++
	}
	ctx, end := v.beginReport()
	f.wait.Go(func() {
		defer end()
		a := answered{node: i}
		a.yes, a.unkept, a.said = f.reportTo(ctx, i, v, met, r.list)
		r.answers <- a
	})
}

// await waits for the answers. yes is the number of nodes that keep the report. again is true if a node answered, but
// does not keep it.
func (r *reporting) await() (yes int, again bool) {
	patience := time.NewTimer(r.wait)
	defer patience.Stop()
	n, need, late := r.fan.N(), quorum.Majority(r.fan.N()), false
	for got := 0; got < n && !((late || r.expected == 0 && !r.begins) && yes >= need); {
		select {
		case a := <-r.answers:
			if got++; a.yes {
				yes++
			}
			if a.said {
				r.said++
			}
			if !r.silent[a.node] {
				r.expected--
			}
			again = again || a.unkept
		case <-patience.C:
			late = true
		}
	}
	return yes, again
}

// trust makes the votes of the reported servers count, because a majority keeps the report. again says that a node does
// not keep it.
func (r *reporting) trust(again bool) {
	f := r.fan
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, t := range r.listed {
		if again && f.untrusted(i, f.Now()) {
			continue // the node that did not keep the report may still accept another list
		}
		// If a server left and came back during the report, objections from that time may be lost, so the vote does
		// not count yet. An objection in this report counts even if it has ended by now. Only the next report shows
		// which server got the place.
		if m := &f.members.servers[i]; t.ID != "" && t.ID == m.id && r.changes[i] == m.changes && m.opposed(r.sent) < 0 {
			m.trusted.Store(max(m.trusted.Load(), int64(r.until[i])))
		}
	}
	f.reportAgain(max(f.config.Set.ReportEvery()-f.Now().Sub(r.sent), 0))
}
