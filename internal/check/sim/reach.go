package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// A client keeps and releases a lease while it can reach its nodes. A full memory, missing scripts, and a question
// about the nodes' state are no excuse. For a release, the clocks are no excuse either.

// slack is how long a past fault may affect a client: calls that met it end, and a node that did not answer is asked
// again.
func (w *world) slack() time.Duration { return w.plan.Timeout + 200*time.Millisecond }

// reached reports whether nothing separated a client from a node from a time until now. The caller holds w.mu.
func (w *world) reached(h *host, s *server, from time.Duration) bool {
	if !s.up || h.dead || h.asleep || h.visitor {
		return false
	}
	for i := range w.plan.Faults {
		f := &w.plan.Faults[i]
		node, client := has(f.Nodes, s.index), has(f.Clients, h.slot)
		slack, hits := w.slack(), false
		switch f.Kind {
		case Loss, Delay, Relay, Cut, CutOut, CutBack:
			hits = node && client
		case Forget, Partial, Restart, Boot, Flush, Evict, Hang:
			hits = node
		case Voucher:
			hits = true
		case Pause, Suspend:
			hits = client
		case Twin: // the client remembers that it was another node's server
			hits, slack = client, slack+2*time.Second
		case Doze, Stranger:
			hits = true
		}
		if hits && f.At <= w.now() && f.At+f.For+slack > from {
			return false
		}
	}
	return true
}

// keptBy returns the number of nodes that have a client's lease and that it could reach since from. The caller holds
// w.mu.
func (w *world) keptBy(l *held, from time.Duration) (n int) {
	for _, s := range w.servers {
		r, ok := s.record(w.names[l.name].record)
		if ok && r.Owner == l.lease.Owner() && w.reached(l.h, s, from) && !w.waits(s) {
			n++
		}
	}
	return n
}

// waits reports whether a node does not vote because it forgot. A client may find the loss long afterwards.
func (w *world) waits(s *server) bool {
	from, doubtful := s.votesFrom()
	return (doubtful || from > w.now()) && slices.ContainsFunc(w.plan.Faults, func(f Fault) bool {
		return f.Kind.forgets() && has(f.Nodes, s.index) && f.At <= w.now()
	})
}

// record returns the record of a name on a node.
func (s *server) record(key string) (r nodescript.Record, ok bool) {
	for _, k := range s.model.Keys() {
		if k.Name == key {
			r, err := nodescript.ParseRecord(k.Text)
			return r, err == nil
		}
	}
	return r, false
}

// mustKeep checks a lease that ended. A majority must not have had it while its client could reach that majority, ever
// since its last renewal. With wrong clocks some of these nodes may refuse the client. The caller holds w.mu.
func (w *world) mustKeep(l *held) {
	from := w.now() - quorum.Validity(l.ttl, w.plan.Window) - w.slack()
	if w.plan.Broken != (Broken{}) || l.h.off >= from && l.h.off > 0 || l.h.woke >= from && l.h.woke > 0 {
		return
	}
	for _, f := range w.plan.Faults {
		switch f.Kind {
		case Step, Blip, Drift, Freeze, Boot:
			return
		}
	}
	if n := w.keptBy(l, from); n >= w.plan.majority() {
		w.violated(anyOther, l.name, "client%d/%d lost name%d although it could reach %d nodes that have it since %.6f",
			l.h.slot, l.actor, l.name, n, from.Seconds())
	}
}

// mustHear checks that a majority could not be reached where it is said not to have heard that a lease was given
// back. UnlockAt fails, too, if a majority has heard and only a minority keeps the name. w.mu is held.
func (w *world) mustHear(l *held, op Op, err error) {
	if op.Left > 0 && heard(err) >= w.plan.majority() {
		return
	}
	n, from := 0, l.given-w.slack()
	for _, s := range w.servers {
		if w.reached(l.h, s, from) {
			n++
		}
	}
	if n >= w.plan.majority() && w.plan.Broken == (Broken{}) && !l.h.closing {
		w.violated(anyOther, l.name, "client%d/%d gave name%d back, could reach %d nodes since %.6f, and was told: %v",
			l.h.slot, l.actor, l.name, n, from.Seconds(), err)
	}
}

// heard is how many nodes have heard that a lease was given back: they had it, or not.
func heard(err error) (n int) {
	var u *holdfast.UnavailableError
	if !errors.As(err, &u) {
		return 0
	}
	for _, a := range u.Nodes {
		switch a.Reason {
		case holdfast.ReasonDone, holdfast.ReasonLost, holdfast.ReasonNotHeld:
			n++
		}
	}
	return n
}

// mustForget checks that nodes that a client could reach while it was closed do not keep its leases. It returns that
// check, for when the client is closed. w.mu is held.
func (w *world) mustForget(h *host) (check func()) {
	from := w.now() - w.slack()
	var leases []*held
	for _, l := range h.leases {
		if !l.over && l.ctx.Err() == nil {
			leases = append(leases, l)
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if h.dead || w.plan.Broken != (Broken{}) {
			return
		}
		for _, l := range leases {
			if l.over && !l.close { // its holder released it first
				continue
			}
			for _, s := range w.servers {
				r, ok := s.record(w.names[l.name].record)
				if !ok || r.Owner != l.lease.Owner() || s.clock() >= r.Expiry || !w.reached(h, s, from) {
					continue
				}
				w.violated(anyOther, l.name, "client%d was closed, and node%d, which it could reach since %.6f, keeps name%d for it for another %d µs",
					h.slot, s.index, from.Seconds(), l.name, r.Expiry-s.clock())
			}
		}
	}
}
