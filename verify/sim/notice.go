package sim

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// forcing is the story of the forced releases of one owner. A release ends leases up to a token. If it meets an attempt
// that has not won yet, the attempt may win later, with a higher token: that is another lease.
type forcing struct {
	last     time.Duration // when a node last began to execute one
	token    int64         // the highest token of the releases
	nodes    uint32        // the nodes that have executed the release with this token
	votes    uint32        // the voting nodes among them: other nodes answer no renewal yet
	majority time.Duration // when a majority of the nodes had executed one; 0: no majority has
	ended    int64         // the highest token of these releases
}

// forces reports whether a call is a forced release of a lock or a slot. text is the whole text of its script.
func forces(text string, c node.Call) bool {
	return text != "" && (len(c.Args) == 4 || len(c.Args) == 7) && strings.Contains(c.Args[0], "~")
}

// force executes a forced release on the node.
func (s *server) force(p parcel) node.Reply {
	c := p.calls[0]
	token, _ := strconv.ParseInt(c.Args[1], 10, 64)
	s.w.forcing(c, func(f *forcing) { // before the node hands the name on
		f.last = s.w.now()
		if token > f.token {
			f.token, f.nodes, f.votes = token, 0, 0
		}
	})
	reply := s.model.Eval(s.w.ctx, p.text, c)
	if reply.Err == nil && (strings.HasPrefix(reply.Value, "D") || strings.HasPrefix(reply.Value, "F")) {
		s.w.forcing(c, func(f *forcing) { s.w.forcedOn(s, c, token, f) })
	}
	return reply
}

// forcing changes the story of the lease that a forced release ends.
func (w *world) forcing(c node.Call, change func(*forcing)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := c.Keys[0] + " " + c.Args[0]
	if w.forced[key] == nil {
		w.forced[key] = &forcing{}
	}
	change(w.forced[key])
}

// forcedOn notes that a node has executed a forced release. If a majority has executed it, the lease has ended, even if
// the operator hears no answer. The caller holds w.mu.
func (w *world) forcedOn(s *server, c node.Call, token int64, f *forcing) {
	if token < f.token {
		return
	}
	if from, _ := s.votesFrom(); from <= w.now() {
		f.votes |= 1 << s.index
	}
	if f.nodes |= 1 << s.index; f.ended == token || ones(f.nodes) < w.plan.majority() {
		return
	}
	f.majority, f.ended = w.now(), token
	for _, n := range w.names {
		if n.record != c.Keys[0] {
			continue
		}
		for _, l := range n.believed {
			if l.lease.Owner() == c.Args[0] && l.lease.Fence() <= token && !l.over && l.ctx.Err() == nil {
				w.mustNotice(l, f.majority)
			}
		}
	}
}

// forcingOf returns the story of the forced releases of the owner of a lease, nil if no node executed one. The caller
// holds w.mu.
func (w *world) forcingOf(l *held) *forcing {
	if len(w.forced) == 0 {
		return nil
	}
	return w.forced[w.names[l.name].record+" "+l.lease.Owner()]
}

// isForced reports whether some node has executed a forced release of a lease. The caller holds w.mu.
func (w *world) isForced(l *held) bool {
	f := w.forcingOf(l)
	return f != nil && f.token >= l.lease.Fence()
}

// isTaken reports whether a majority of the nodes has executed a forced release of a lease. The caller holds w.mu.
func (w *world) isTaken(l *held) bool {
	f := w.forcingOf(l)
	return f != nil && f.ended >= l.lease.Fence()
}

// force takes a lock away from its holders.
func (w *world) force(h *host, op Op) {
	ctx, stop := context.WithTimeout(context.Background(), 4*w.plan.Timeout)
	defer stop()
	w.mu.Lock()
	var before []*held
	for i := range w.parts(w.index(op)) {
		before = append(before, w.names[i].believed...)
	}
	var o admin.UnlockOptions
	if op.Slot {
		o.Slots = w.k(h, op)
	}
	d := dice(luck(w.plan.Seed, 'f', 'w', uint64(w.now())))
	if len(before) > 0 && d.hit(0.2) {
		o.Owners = []string{before[d.n(len(before))].lease.Owner()}
	}
	w.mu.Unlock()
	u, err := admin.Unlock(ctx, h.client, w.called(h, op.Name), o)
	if h.gone() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && outcome(err) == outcomes {
		w.violated(errorOfNoKind, op.Name, "Unlock of an operator returned an error of no kind: %v", err)
	}
	var other *holdfast.HeldError
	if errors.As(err, &other) && len(o.Owners) == 0 {
		for _, l := range before {
			if !l.over && l.ctx.Err() == nil && l.lease.Owner() == other.Holder().Owner {
				w.violated(endedWrong, l.name, "an operator took name%d away from client%d/%d, which still has it", l.name, l.h.slot, l.actor)
			}
		}
	}
	if u == nil || len(u.Holders) == 0 {
		return
	}
	w.result.Tally.Rare[ForceLock]++
	if op.Slot {
		w.result.Tally.Rare[ForceSlot]++
	}
	w.note("forced", h.slot, -1, op.Name, 0, 0)
	for _, taken := range u.Holders {
		n := w.names[w.index(op)]
		if op.Slot {
			n = w.names[n.first+taken.Slot]
		}
		switch f := w.forced[n.record+" "+taken.Owner]; {
		case len(o.Owners) > 0 && !slices.Contains(o.Owners, taken.Owner):
			w.violated(endedWrong, op.Name, "an operator took name%d away from %s, and wanted to end the leases of %q only", op.Name, taken.Owner, o.Owners)
		case f == nil || f.ended < taken.Fence:
			w.violated(endedWrong, op.Name, "an operator was told that it took name%d away from %s, and no majority of the nodes did that", op.Name, taken.Owner)
		}
	}
}

// mustNotice checks the end of a lease that a majority of the nodes has ended for an operator. from is the time of
// that. The caller holds w.mu.
//
// No renewal succeeds any more. An answer that a majority gave before may still be on its way. So the lease has another
// deadline at most when the timeout of a call is over, and its holder must know of the loss at that deadline. A holder
// that reaches these nodes learns of the loss earlier, from its next renewal.
func (w *world) mustNotice(l *held, from time.Duration) {
	if l.rival {
		return
	}
	l.rival = true
	over := func() bool {
		return l.over || l.h.dead || l.h.asleep || l.ctx.Err() != nil || l.h.woke >= from && l.h.woke > 0
	}
	later := func(d time.Duration, f func()) {
		w.unique++
		time.AfterFunc(d+time.Duration(1+w.unique%50_000), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if !over() {
				f()
			}
		})
	}
	later(2*w.plan.Timeout, func() {
		later(max(time.Until(l.lease.Deadline()), 0)+prompt(longest(w.plan)), func() {
			w.violated(twoHolders, l.name, "client%d/%d still relies on name%d, which an operator took away %s ago", l.h.slot, l.actor, l.name, w.now()-from)
		})
	})
	usual := func() time.Duration { // at this time the holder knows if it reaches the nodes; its clock may be slow
		ttl := l.ttl // a call of Extend may just raise it
		if l.read {
			ttl = longest(w.plan) // another handle of the lease may have raised it
		}
		return quorum.Validity(ttl, w.plan.Window)*51/150 + w.slack() + 2*w.plan.Window
	}
	var check func()
	check = func() {
		if left := from + usual() - w.now(); left > 0 {
			later(left, check)
			return
		}
		n, f := 0, w.forcingOf(l)
		for _, s := range w.servers {
			if f != nil && f.votes>>s.index&1 != 0 && w.reached(l.h, s, from-w.slack()) {
				n++
			}
		}
		if n < w.plan.majority() || l.late || l.h.closing || l.h.off >= from-time.Second && l.h.off > 0 {
			return
		}
		w.violated(doesNotKnow, l.name, "client%d/%d still relies on name%d, which an operator took away %s ago, and could reach %d nodes that know",
			l.h.slot, l.actor, l.name, w.now()-from, n)
	}
	later(usual(), check)
}

// toldOfForce checks the cause of a loss: it says that an operator ended the lease if, and only if, an operator did. If
// the lease ended at its deadline, its holder may not know the reason. The caller holds w.mu.
func (w *world) toldOfForce(l *held, cause error) {
	var lost *holdfast.LostError
	switch {
	case !errors.As(cause, &lost):
	case lost.Forced:
		w.result.Tally.Rare[ForceTold]++
		if !slices.ContainsFunc(l.set(), w.isForced) {
			w.violated(endedWrong, l.name, "client%d/%d was told that an operator took name%d away, and none did", l.h.slot, l.actor, l.name)
		}
	case lost.Gone && w.isTaken(l):
		w.violated(endedWrong, l.name, "client%d/%d was not told that an operator took name%d away: %v", l.h.slot, l.actor, l.name, lost)
	}
}

// missedForce reports whether a node cannot repair a lease because a forced release of an earlier owner did not reach
// the node. The earlier owner then gave its lease back on this node, with stamps above the token of l. The caller holds
// w.mu.
func (w *world) missedForce(l *held, s *server) bool {
	key := w.names[l.name].record
	r, ok := s.record(key)
	if !ok || r.Leased <= l.lease.Fence() {
		return false
	}
	for owner, f := range w.forced {
		if strings.HasPrefix(owner, key+" ") && f.nodes&(1<<s.index) == 0 {
			return true
		}
	}
	return false
}
