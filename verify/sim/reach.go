package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/verdict"
)

// A client keeps and releases a lease while it can reach its nodes. A full memory, missing scripts, and a question
// about the nodes' state do not excuse a loss. Wrong clocks do not excuse a failed release either.

// slack is the time for which a past fault may still affect a client. In this time the calls that met the fault end,
// and the client asks a node again that did not answer.
func (w *world) slack() time.Duration { return w.plan.Timeout + 200*time.Millisecond }

// reached reports whether no fault separated a client from a node since the time from. The caller holds w.mu.
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
		case Pause, Suspend, Busy:
			hits = client
		case Twin: // for a while, the client remembers that the address led to another node's server
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

// near returns the nodes with which a client can renew a lease in time.
func (w *world) near(l *held) (n []*server) {
	valid := quorum.Validity(l.ttl, w.plan.Window)
	for _, link := range l.h.links {
		if !link.isFar(valid) {
			n = append(n, w.servers[link.to])
		}
	}
	return n
}

// keptBy returns the number of near nodes that have a client's lease and that the client could reach since from. It
// omits servers for which another node has no place among its members: see docs/guide/limits.md. The caller holds w.mu.
func (w *world) keptBy(l *held, from time.Duration) (n int) {
	for _, s := range w.near(l) {
		if s.has(w.names[l.name].record, l.lease.Owner()) && w.reached(l.h, s, from) && !w.waits(s) && w.placeOf(s) <= from {
			n++
		}
	}
	return n
}

// waits reports whether a node does not vote because it forgot. A client may find the loss long after it happened.
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

// has reports whether a node stores a lease of an owner.
func (s *server) has(key, owner string) bool {
	if nodescript.IsReader(owner) {
		_, there := s.reader(key, owner)
		return there
	}
	r, ok := s.record(key)
	return ok && r.Owner == owner
}

// mustKeep checks a lease that ended. It is a violation if a majority has the lease and the client could reach that
// majority since its last renewal. With wrong clocks some of these nodes may refuse the client. The caller holds w.mu.
func (w *world) mustKeep(l *held) {
	from := w.now() - quorum.Validity(l.ttl, w.plan.Window) - w.slack()
	if l.late || w.plan.Broken != (Broken{}) || l.h.off >= from && l.h.off > 0 || l.h.woke >= from && l.h.woke > 0 {
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

// wasLost checks a release that returned ErrLost. It is a violation if a majority of the nodes gave the lease back,
// because each of them had the lease until then. It is no violation if the lease's deadline had passed before the
// release: goroutines that were held back announced the loss too late for the holder. The caller holds w.mu.
func (w *world) wasLost(l *held) {
	if w.now()+time.Until(l.lease.Deadline()) <= l.given {
		return
	}
	n, key := 0, w.names[l.name].record+l.lease.Owner()
	for _, s := range w.servers {
		if s.gave[key] >= l.lease.Fence() && !s.twice[key] {
			n++
		}
	}
	switch {
	case w.plan.Broken != (Broken{}), w.isForced(l):
	case n >= w.plan.majority():
		w.violated(lostForNothing, l.name, "client%d/%d gave name%d back on %d nodes, and was told that it had lost it", l.h.slot, l.actor, l.name, n)
	case len(w.plan.Faults) == 0:
		w.violated(lostForNothing, l.name, "client%d/%d lost name%d at its release although nothing went wrong", l.h.slot, l.actor, l.name)
	}
}

// mustHear checks a release that returned an error. The error is right only if the client could not reach a majority.
// UnlockAt also fails if a majority heard the release and only a minority keeps the name. A node without the lease
// counts neither for a release nor for a loss. The lease is not on a server that lost its data and has no place yet:
// see docs/guide/limits.md. It is not on a node that the release reached before the lease did, either. The caller holds
// w.mu.
func (w *world) mustHear(l *held, op Op, err error) {
	if op.Left > 0 && heard(err) >= w.plan.majority() {
		return
	}
	n, from, key := 0, l.given-w.slack(), w.names[l.name].record+l.lease.Owner()
	for _, s := range w.servers {
		gave, without := s.gave[key] >= l.lease.Fence(), s.forgot || s.back[key] >= l.lease.Fence()
		if w.reached(l.h, s, from) && (gave || !without) {
			n++
		}
	}
	if n >= w.plan.majority() && w.plan.Broken == (Broken{}) && !l.h.closing {
		w.violated(anyOther, l.name, "client%d/%d gave name%d back, could reach %d nodes since %.6f, and was told: %v",
			l.h.slot, l.actor, l.name, n, from.Seconds(), err)
	}
}

// heard returns the number of nodes that heard the release: each answered that it had the lease, or that it did not.
func heard(err error) (n int) {
	var u *holdfast.UnavailableError
	if !errors.As(err, &u) {
		return 0
	}
	for _, a := range u.Nodes {
		switch a.Reason {
		case verdict.ReasonDone, verdict.ReasonLost, verdict.ReasonNotHeld:
			n++
		}
	}
	return n
}

// mustForget checks a Close. Nodes that the client could reach during the Close must not keep its leases. mustForget
// returns the check, which runs when the Close has ended. The caller holds w.mu.
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
			if l.over && !l.close { // the holder released the lease before the Close did
				continue
			}
			owner := l.lease.Owner()
			left := nodescript.LeftOwner(owner)
			if nodescript.IsReader(owner) { // UnlockAt of a reader's handle may keep writers out after the Close
				left = owner
			}
			for _, s := range w.servers {
				r, ok := s.record(w.names[l.name].record)
				if !ok || r.Owner != owner && r.Owner != left || s.clock() >= r.Expiry || !w.reached(h, s, from) {
					continue
				}
				w.violated(anyOther, l.name, "client%d was closed, and node%d, which it could reach since %.6f, keeps name%d for it for another %d µs",
					h.slot, s.index, from.Seconds(), l.name, r.Expiry-s.clock())
			}
		}
	}
}
