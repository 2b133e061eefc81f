package sim

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// What is promised for the time after the last fault. A name that somebody wants is his within recoversIn, as
// soon as
//
//   - what the dead left on it is over: the longest TTL after the healing, at the latest, and
//   - a majority of the nodes votes. One that lost its memory does so a quarantine after somebody found out, which
//     is within noticesIn where that majority takes it; and not before the places of servers that are gone are free.
//
// So where a majority kept its memory, a name is granted within TTL + 1 s after the healing. On top come a claim
// of a second for each hand-off to a bid that was over, and what others do with the name who are alive.
const (
	recoversIn = time.Second
	noticesIn  = time.Second
	// wakesIn is how soon a name that became free later is granted to somebody who waits, at the latest: it
	// asks once a second, and where several ask at once they may have to give parts of their votes back.
	wakesIn = time.Second + 200*time.Millisecond
)

// unnoticed is when a node votes of which nobody has found out yet that it may have forgotten.
const unnoticed = time.Duration(math.MaxInt64)

// heal notes which nodes vote, now that all faults are over.
func (w *world) heal() {
	votes, doubtful := make([]time.Duration, len(w.servers)), make([]bool, len(w.servers))
	for i, s := range w.servers {
		votes[i], doubtful[i] = s.votesFrom()
		votes[i] = max(votes[i], w.placeOf(s))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("all faults are over", -1, -1, -1, 0, 0)
	w.over, w.since, w.votes, w.doubtful = true, w.now(), votes, doubtful
	w.forgot = w.open() > w.since
	for _, n := range w.names {
		n.free, n.spent, n.spentUntil = 0, 0, 0 // from here on it is told by those who are alive
	}
	for _, h := range w.all {
		for name, u := range h.uses {
			if u.calls == 0 && u.until > 0 {
				w.willLook(h, name, u.until)
			}
		}
	}
}

// votesFrom is when a node votes by what it keeps: not later than a quarantine from now. A doubtful one
// votes for names that have a record, and evicted others since it was admitted.
func (s *server) votesFrom() (from time.Duration, doubtful bool) {
	config := s.w.configs()[0]
	keys := s.model.Keys()
	evicted := true // since it was admitted, or what tells is gone
	for _, k := range keys {
		if k.Name == nodescript.AdmissionKey {
			evicted = fields(k)["evicted"] != strconv.FormatInt(s.model.EvictedKeys(), 10)
		}
	}
	for _, k := range keys {
		switch k.Name {
		case nodescript.GuardKey:
			if k.Text == config.String()+" "+s.run() {
				return s.w.now(), evicted
			}
		case nodescript.AdmissionKey: // behind the guard
			a := fields(k)
			until, _ := strconv.ParseInt(a["until"], 10, 64)
			left := time.Duration(until-s.clock()) * time.Microsecond
			switch {
			case a["run"] != s.run() || a["config"] != config.String() || until == 0:
			case evicted: // it begins another quarantine
			case left > s.w.plan.quarantine() && s.liar.Load(): // its clock went back: likewise
			case left > s.w.plan.MaxTTL*1000: // nobody has answered its challenge
			default:
				return s.w.now() + min(max(left, 0), s.w.plan.quarantine()), false
			}
		}
	}
	return unnoticed, false
}

// id is what a node is known by; "" before its first admission.
func (s *server) id() string {
	for _, k := range s.model.Keys() {
		if k.Name == nodescript.AdmissionKey {
			return fields(k)["id"]
		}
	}
	return ""
}

// placeOf is when each node has a place for a server: those that lost their memory have another id than before, and the
// old ones keep theirs for a while.
func (w *world) placeOf(s *server) (at time.Duration) {
	alive, id, config := map[string]bool{}, s.id(), w.configs()[0]
	for _, o := range w.servers {
		alive[o.id()] = true
	}
	for _, o := range w.servers[:w.plan.N] {
		for _, k := range o.model.Keys() {
			if k.Name != nodescript.PeersKey || strings.Contains(k.Text, " "+id+" ") {
				continue
			}
			for line := range strings.Lines(k.Text) {
				f := strings.Fields(line)
				if seen, err := strconv.ParseInt(f[0], 10, 64); err == nil && !alive[f[1]] {
					at = max(at, w.now()+time.Duration(seen-o.clock())*time.Microsecond+config.MemberKept())
				}
			}
		}
	}
	return at
}

// reported takes a node's answer to a report of members. A client that has met one node that lost its memory, and not
// yet another, reports the other one by its old id. The old id then has a place until nobody saw it for long, as
// docs/limits.md says.
func (w *world) reported(s *server, answer node.Reply) {
	p, err := nodescript.ParsePeers(answer)
	if err != nil || p.Other {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.known = p.ID
	has := func(id string) bool {
		return slices.ContainsFunc(p.Members, func(m nodescript.Peer) bool { return m.ID == id })
	}
	var at time.Duration
	for _, m := range p.Members {
		if !slices.ContainsFunc(w.servers, func(o *server) bool { return o.known == m.ID || o.known == "" }) {
			at = max(at, w.now()+time.Duration(m.Seen-p.Time)*time.Microsecond+w.configs()[0].MemberKept())
		}
	}
	for i, o := range w.servers {
		if w.over && w.votes[i] != unnoticed && !has(o.known) {
			w.votes[i] = max(w.votes[i], at)
		}
	}
}

// fields are those of a hash.
func fields(k nodemodel.Key) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(k.Fields); i += 2 {
		all[k.Fields[i]] = k.Fields[i+1]
	}
	return all
}

// admits takes a node's answer to admit. A quarantine that begins after the healing is as long as the plan
// says, whatever the node does, and nobody promised a second one.
func (w *world) admits(s *server, answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over || w.votes[s.index] != unnoticed && !w.doubtful[s.index] || answer == "" || answer[0] != 'Q' && answer[0] != 'R' {
		return
	}
	w.doubtful[s.index] = false
	now := w.now()
	since, most := now, noticesIn
	for _, n := range w.names {
		most = max(most, noticesIn+w.pauses(n))
		for _, o := range n.waits {
			since = min(since, max(o.wanted, w.since))
		}
	}
	if needed := w.open() == unnoticed; needed {
		if most == noticesIn {
			w.result.Tally.NoticedM = max(w.result.Tally.NoticedM, (now - since).Milliseconds())
		}
		if now-since > most {
			w.violated(nobodyFoundOut, -1, "node%d had forgotten, and nobody found out for %s although somebody wanted a name; at most %s would do", s.index, now-since, most)
		}
	}
	w.votes[s.index] = now
	if answer[0] == 'Q' {
		w.votes[s.index] += w.plan.quarantine()
	}
	w.votes[s.index] = max(w.votes[s.index], w.placeOf(s))
	w.forgot = w.forgot || w.open() > w.since
}

// open is when a majority votes. w.mu is held.
func (w *world) open() time.Duration {
	return slices.Sorted(slices.Values(w.votes[:w.plan.N]))[w.plan.majority()-1]
}

// served checks that nobody had to wait for a name that was free, once all faults are over. w.mu is held.
func (w *world) served(n *name, x *wait, now time.Duration) {
	spent := n.spent
	n.spent, n.spentUntil = 0, 0
	if !w.over || len(n.waits) == 0 {
		return
	}
	free := n.free
	for i, o := range n.waits {
		if wanted := max(n.free, o.wanted); i == 0 || wanted < free {
			free = wanted
		}
	}
	pauses := w.pauses(n)
	t, calm := &w.result.Tally, max(w.since+longest(w.plan), w.open())
	gap, most := now-max(free, calm), wakesIn
	switch {
	case pauses > 0: // not as prompt
	case free <= calm:
		r := &t.Recoveries[0]
		if w.forgot {
			r = &t.Recoveries[1]
		}
		r.add(now-max(free, w.since), gap, spent > 0)
		most = recoversIn
	default:
		t.Waits++
		t.LongestM = max(t.LongestM, gap.Milliseconds())
	}
	if most += spent + pauses; gap > most {
		w.violated(freeWhileWaited, x.name, "name%d was free for %s while somebody waited, before client%d/%d got it; at most %s would do",
			x.name, gap, x.h.slot, x.actor, most)
	}
}

// pauses is what those who wait for a name may pause for longer than usual, where no quorum answered: nodes
// that were away tell nobody that they are back. w.mu is held.
func (w *world) pauses(n *name) (d time.Duration) {
	for _, x := range n.waits {
		if retry := w.plan.Clients[x.h.slot].Retry; retry > usualRetry {
			d = max(d, 3*retry/2)
		}
	}
	return d
}

// usualRetry is the longest RetryDelay of which recovery is as prompt as promised.
const usualRetry = 100 * time.Millisecond

// handed notes a hand-off to an owner. One for a bid that is over costs those who wait a round trip, in which it
// is declined: nodes that lost a part of their memory, or were away when the bid ended, may have it in a queue
// still, and a question of it that comes twice joins once more. While there are faults, or where it got the lock a
// moment ago, or its process is gone, it costs the claim.
func (w *world) handed(h *host, news string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, _ := nodescript.ParseHandoff(news)
	if of.Wanted {
		w.result.Tally.Wanted++
		return
	}
	w.result.Tally.Outcomes[HandedOff]++
	b := h.owners[of.Owner]
	if b == nil || !b.ended && !h.dead {
		return
	}
	w.result.Tally.Spent++
	cost := w.configs()[0].Claim()
	if w.over && !h.dead && !h.closing && (b.won == 0 || w.now()-b.won > w.configs()[0].Claim()+w.plan.Slow) {
		w.result.Tally.Declined++
		cost = 4 * w.plan.Slow
	}
	for _, n := range w.names {
		if n.record == b.name {
			until := w.now() + cost
			n.spent += max(until-max(n.spentUntil, w.now()), 0)
			n.spentUntil = max(n.spentUntil, until)
		}
	}
}
