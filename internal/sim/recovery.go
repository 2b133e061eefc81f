package sim

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// What is promised for the time after the last fault. A name that somebody wants is his within recoversIn, as
// soon as
//
//   - what the dead left on it is over: the longest TTL after the healing, at the latest, and
//   - a majority of the nodes votes. One that lost its memory does so a quarantine after somebody found out, which
//     is within noticesIn where that majority takes it.
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
			if u.calls == 0 {
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
			default:
				return s.w.now() + min(max(left, 0), s.w.plan.quarantine()), false
			}
		}
	}
	return unnoticed, false
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
	since := now
	for _, n := range w.names {
		for _, o := range n.waits {
			since = min(since, max(o.wanted, w.since))
		}
	}
	if needed := w.open() == unnoticed; needed {
		w.result.Tally.NoticedM = max(w.result.Tally.NoticedM, (now - since).Milliseconds())
		if now-since > noticesIn {
			w.violated(-1, "node%d had forgotten, and nobody found out for %s although somebody wanted a name; at most %s would do", s.index, now-since, noticesIn)
		}
	}
	w.votes[s.index] = now
	if answer[0] == 'Q' {
		w.votes[s.index] += w.plan.quarantine()
	}
	w.forgot = w.forgot || w.open() > w.since
}

// open is when a majority votes. w.mu is held.
func (w *world) open() time.Duration {
	return slices.Sorted(slices.Values(w.votes))[w.plan.majority()-1]
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
	t, calm := &w.result.Tally, max(w.since+longest(w.plan), w.open())
	gap, most := now-max(free, calm), wakesIn
	if free <= calm {
		r := &t.Recoveries[0]
		if w.forgot {
			r = &t.Recoveries[1]
		}
		r.add(now-max(free, w.since), gap, spent > 0)
		most = recoversIn
	} else {
		t.Waits++
		t.LongestM = max(t.LongestM, gap.Milliseconds())
	}
	if most += spent; gap > most {
		w.violated(x.name, "name%d was free for %s while somebody waited, before client%d/%d got it; at most %s would do",
			x.name, gap, x.h.slot, x.actor, most)
	}
}

// handed notes a hand-off to an owner. One for a bid that is over costs those who wait a round trip, in which it
// is declined: nodes that lost a part of their memory, or were away when the bid ended, may have it in a queue
// still, and a question of it that comes twice joins once more. While there are faults, or where it got the lock a
// moment ago, or its process is gone, it costs the claim.
func (w *world) handed(h *host, news string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Tally.Outcomes[HandedOff]++
	of, _ := nodescript.ParseHandoff(news)
	b := h.owners[of.Owner]
	if b == nil || !b.ended && !h.dead {
		return
	}
	w.result.Tally.Spent++
	cost := nodescript.Claim
	if w.over && !h.dead && !h.closing && (b.won == 0 || w.now()-b.won > nodescript.Claim+w.plan.Slow) {
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
