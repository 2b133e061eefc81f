package sim

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// These promises apply to the time after the last fault. A client that wants a name gets it within recoversIn after
// three conditions hold:
//
//   - No dead client has a lock on the name any more. This takes at most the longest TTL after the healing.
//   - An admission whose messages a fault lost has ended. An admission with scripts takes at most two node timeouts.
//   - A majority of the nodes votes. A node that lost its memory votes a quarantine after a client found the loss. If
//     the majority needs that node, a client finds the loss within noticesIn. The node also needs a free place: the
//     places of missing servers must be free again.
//
// So if a majority kept its memory, a name is granted within TTL + 1 s after the healing, or within two node timeouts
// + 1 s if these are longer. Two times are added to that. One is a claim of a second for each hand-off to an ended
// attempt. The other is the time for which live clients use the name.
const (
	recoversIn = time.Second
	noticesIn  = time.Second
	// wakesIn is the longest time until a waiter gets a name that becomes free after the recovery. A waiter asks once a
	// second. If several waiters ask at once, they may have to give back partial grants.
	wakesIn = time.Second + 200*time.Millisecond
)

// unnoticed is the voting time of a node that may have forgotten, until a client finds the loss.
const unnoticed = time.Duration(math.MaxInt64)

// heal notes which nodes vote after the end of all faults.
func (w *world) heal() {
	votes, doubtful := make([]time.Duration, len(w.servers)), make([]bool, len(w.servers))
	for i, s := range w.servers {
		votes[i], doubtful[i] = s.votesFrom()
		votes[i] = max(votes[i], w.placeOf(s))
		doubtful[i] = doubtful[i] || s.lostReaders()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("all faults are over", -1, -1, -1, 0, 0)
	w.over, w.since, w.votes, w.doubtful = true, w.now(), votes, doubtful
	w.forgot = w.open() > w.since
	for _, n := range w.names {
		n.free, n.spent, n.spentUntil = 0, 0, 0 // from now on, only the use by live clients decides when a name is free
	}
	for _, h := range w.all {
		for name, u := range h.uses {
			if u.calls == 0 && u.until > 0 {
				w.willLook(h, name, u.until)
			}
		}
	}
}

// votesFrom returns the time from which a node votes. It computes the time from the keys of the node. The time is at
// most a quarantine from now. doubtful is true if the node evicted keys since its admission: it then votes for names
// with a record, and not for other names.
func (s *server) votesFrom() (from time.Duration, doubtful bool) {
	config := s.w.configs()[0]
	keys := s.model.Keys()
	evicted := true // the node evicted keys since its admission, or the key that shows it is gone
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
		case nodescript.AdmissionKey: // Keys lists this key after the guard
			a := fields(k)
			until, _ := strconv.ParseInt(a["until"], 10, 64)
			left := time.Duration(until-s.clock()) * time.Microsecond
			switch {
			case a["run"] != s.run() || a["config"] != config.String() || until == 0:
			case evicted: // the node begins another quarantine
			// The node's clock went back, so the node also begins another quarantine.
			case left > s.w.plan.quarantine() && s.liar.Load():
			case left > s.w.plan.MaxTTL*1000: // no client has answered the node's challenge
			default:
				return s.w.now() + min(max(left, 0), s.w.plan.quarantine()), false
			}
		}
	}
	return unnoticed, false
}

// lostReaders reports whether the node has lost the readers of a name, but not its record. The node finds that out when
// a client asks for the name, also after its quarantine, and then begins another one.
func (s *server) lostReaders() bool {
	keys := map[string]string{}
	for _, k := range s.model.Keys() {
		keys[k.Name] = k.Text
	}
	for _, n := range s.w.names {
		r, err := nodescript.ParseRecord(keys[n.record])
		if _, has := keys[nodescript.ReadersKey(n.record)]; err == nil && r.Shared && !has {
			return true
		}
	}
	return false
}

// id returns the id of a node, "" before its first admission.
func (s *server) id() string {
	for _, k := range s.model.Keys() {
		if k.Name == nodescript.AdmissionKey {
			return fields(k)["id"]
		}
	}
	return ""
}

// placeOf returns the time from which each node has a place for a server. A server that lost its memory has a new id.
// Its old id keeps its place for a while.
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

// reported processes a node's answer to a report of members. Suppose that two nodes lost their memory and a client has
// met only one of them since then. The client still reports the other node by its old id. Then the old id keeps a place
// until no client saw it for long: see docs/guide/limits.md.
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

// fields returns the fields of a hash.
func fields(k nodemodel.Key) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(k.Fields); i += 2 {
		all[k.Fields[i]] = k.Fields[i+1]
	}
	return all
}

// admits notes a node's answer to admit. The judge gives a quarantine that begins after the healing the length of the
// plan, even if the node keeps another length. There is no promise about a second quarantine.
func (w *world) admits(s *server, answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over || answer == "" || answer[0] != 'Q' && answer[0] != 'R' {
		return
	}
	now, votes := w.now(), w.votes[s.index]
	if votes != unnoticed && (!w.doubtful[s.index] || now < votes) {
		return
	}
	w.doubtful[s.index] = s.lostReaders()
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

// skips notes an answer to a client that has found all nodes unused.
func (w *world) skips(c node.Call, answer string) {
	if len(c.Args) > 4 && c.Args[4] == "U" && answer != "" && answer[0] == 'R' {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.result.Tally.Outcomes[Skipped]++
	}
}

// open returns when a majority votes. The caller holds w.mu.
func (w *world) open() time.Duration {
	return slices.Sorted(slices.Values(w.votes[:w.plan.N]))[w.plan.majority()-1]
}

// calm returns the time from which the promises of recovery hold. The caller holds w.mu.
func (w *world) calm() time.Duration {
	return max(w.since+max(longest(w.plan), 2*w.plan.Timeout), w.open())
}

// served checks that no waiter waits for a free name after the end of all faults. The caller holds w.mu.
func (w *world) served(n *name, x *wait, now time.Duration) {
	spent := n.spent
	n.spent, n.spentUntil = 0, 0
	// A call that locks several names may already have this name while it waits for the others. It does not count as a
	// holder then, so worlds with sets skip this check.
	if !w.over || len(n.waits) == 0 || w.plan.Sets {
		return
	}
	free := now
	for _, o := range n.waits {
		free = min(free, max(w.freed(n, o, now), o.wanted))
	}
	pauses := w.pauses(n)
	t, calm := &w.result.Tally, w.calm()
	gap, most := now-max(free, calm), wakesIn
	switch {
	case pauses > 0: // a name whose waiters pause is granted less promptly
	case w.plan.Spare != 0: // clients with different lists get their names later: see holdsForSpares
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

// letIn checks that no reader waits beside readers, if no writer has or wants the name. x is a reader that got the name
// beside others. The caller holds w.mu.
func (w *world) letIn(n *name, x *wait, now time.Duration) {
	if !w.over || w.plan.Sets || w.plan.Spare != 0 || w.pauses(n) > 0 {
		return
	}
	if slices.ContainsFunc(n.waits, func(o *wait) bool { return !o.op.Shared }) {
		return
	}
	calm := max(w.calm(), n.barred)
	for _, o := range n.waits {
		from := max(o.wanted, calm)
		w.result.Tally.LetIn++
		if most := wakesIn + n.spent; now-from > most {
			w.violated(freeWhileWaited, x.name, "client%d/%d waited %s for name%d as a reader, beside readers and without a writer, when client%d/%d got it; at most %s would do",
				o.h.slot, o.actor, now-from, x.name, x.h.slot, x.actor, most)
		}
	}
}

// pauses returns the extra time for which waiters of a name may pause after an error without a quorum. They pause
// because a node that comes back does not announce itself. The caller holds w.mu.
func (w *world) pauses(n *name) (d time.Duration) {
	for _, x := range n.waits {
		if retry := w.plan.Clients[x.h.slot].Retry; retry > usualRetry {
			d = max(d, 3*retry/2)
		}
	}
	return d
}

// usualRetry is the longest RetryDelay for which recovery is as prompt as promised.
const usualRetry = 100 * time.Millisecond

// handed notes a hand-off to an owner. A hand-off to an ended attempt costs the waiters one round trip, in which the
// client declines the claim. Nodes may still have the attempt in a queue if they lost a part of their memory, or did
// not hear of its end. A question that comes twice also joins the queue once more. The hand-off costs the whole claim
// in three cases: during faults, after the attempt got the lock a moment ago, or after its process ended.
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
			if n.line != 0 {
				n = w.names[n.line]
			}
			until := w.now() + cost
			n.spent += max(until-max(n.spentUntil, w.now()), 0)
			n.spentUntil = max(n.spentUntil, until)
		}
	}
}
