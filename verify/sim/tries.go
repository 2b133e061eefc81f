package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// A holder that can reach a majority of the nodes does not lose its lease, no matter what else fails. The client renews
// a lease after a third of its validity. If that fails, the client tries again while there is time. So the holder needs
// one span of time in which it can reach the same majority. The span may begin at any time between the last successful
// renewal and the deadline, and [world.reach] returns its length. The check leaves out leases that end because a
// majority of the nodes says so: these nodes forgot, or another client took the name.

// reach returns the length of that span for a validity: the validity that the last successful renewal had. The span
// contains a third of the validity, until the next renewal. It also contains the time of earlier calls that hang, the
// greeting after them, and some round trips.
func (w *world) reach(valid time.Duration) time.Duration {
	return valid/3 + 2*w.plan.Timeout + 100*time.Millisecond + 16*w.plan.Slow
}

// try is a renewal that was sent.
type try struct {
	ttl time.Duration
	yes uint32 // the nodes that granted
}

// tries notes a renewal that is sent. The caller holds w.mu.
func (b *bid) tries(args []string) {
	stamp, _ := strconv.ParseInt(args[4], 10, 64)
	until, _ := strconv.ParseInt(args[2], 10, 64)
	if b.renewals == nil {
		b.renewals = map[int64]*try{}
	}
	if b.renewals[stamp] == nil {
		b.renewals[stamp] = &try{ttl: time.Duration(until-stamp) * time.Microsecond}
	}
}

// renewed notes a node's answer to a renewal, if the answer came in time. The caller holds w.mu.
func (w *world) renewed(h *host, node int, args []string, answer string) {
	b := h.owners[args[0]]
	stamp, _ := strconv.ParseInt(args[4], 10, 64)
	if b == nil || b.renewals[stamp] == nil {
		return
	}
	if answer[0] != 'E' && answer[0] != 'R' {
		return
	}
	b.stored = b.stored || answer[0] == 'R'
	t := b.renewals[stamp]
	t.yes |= 1 << node
	if ones(t.yes) >= w.plan.majority() && stamp+t.ttl.Microseconds() > b.until {
		b.until, b.ttl = stamp+t.ttl.Microseconds(), t.ttl
		for old := range b.renewals {
			if old < stamp {
				delete(b.renewals, old)
			}
		}
	}
}

// shortened reports whether a majority answered a renewal of a lease with a TTL below ttl: an Extend has shortened the
// TTL. Such a renewal moves no deadline. For a reader that was a writer, the renewals of the writer count, too. The
// caller holds w.mu.
func (w *world) shortened(l *held, ttl time.Duration) bool {
	for _, owner := range []string{l.lease.Owner(), l.writer} {
		b := l.h.owners[owner]
		if b == nil {
			continue
		}
		for _, t := range b.renewals {
			if t.ttl < ttl && ones(t.yes) >= w.plan.majority() {
				return true
			}
		}
	}
	return false
}

// hadTime checks that a holder whose lease ended at its deadline could not reach a majority. The caller holds w.mu.
func (w *world) hadTime(l *held) {
	p, now := w.plan, w.now()
	over := now + time.Until(l.lease.Deadline()) // this is long ago if the host slept through the deadline
	if l.late || (over-now).Abs() > prompt(longest(p)) || isTight(p.Seed) && p.Clocks != nil || p.Broken != (Broken{}) {
		return
	}
	ttl, b := l.first, l.h.owners[l.lease.Owner()]
	if b == nil {
		return
	}
	if l.read && b.first > 0 { // another reader may have taken the lease, or it was a writer's
		ttl = b.first
	}
	if b.ttl > 0 {
		ttl = b.ttl
	}
	if w.shortened(l, ttl) {
		return
	}
	valid := quorum.Validity(ttl, p.Window)
	x := w.reach(valid)
	if valid < x {
		return
	}
	w.result.Tally.Reaches++
	// The holder was wrong to lose the lease if it could reach a majority for a time of the length x. Such a time
	// begins at one of two events: the client sent the renewal that moved the deadline last, or a fault between the
	// holder and a node ended.
	begins := []time.Duration{w.sent(over, valid)}
	for i := range p.Faults {
		if f := &p.Faults[i]; f.At+f.For > begins[0] && f.At+f.For+x <= over {
			begins = append(begins, f.At+f.For)
		}
	}
	for _, from := range begins {
		n := 0
		for _, s := range w.servers {
			if w.canReach(l.h, s, from, from+x) && !w.missedForce(l, s) && !w.blocked(l, s, from) {
				n++
			}
		}
		if n >= p.majority() && from+x <= over {
			w.violated(anyOther, l.name, "client%d/%d lost name%d at its deadline, after it could reach %d nodes for %s from %.6f on",
				l.h.slot, l.actor, l.name, n, x, from.Seconds())
			return
		}
	}
}

// sent returns when the request of a lease was sent, or a later time. While all hosts sleep, the validity of the lease
// ends and the time of the world stops.
func (w *world) sent(deadline, valid time.Duration) time.Duration {
	at := deadline - valid
	for i := range w.plan.Faults {
		if f := &w.plan.Faults[i]; f.Kind == Doze && f.At > at && f.At < deadline {
			at += f.By
		}
	}
	return at
}

// canReach reports whether a client could reach a voting node during a whole span.
func (w *world) canReach(h *host, s *server, from, to time.Duration) bool {
	if !s.vouched && from < w.opens() {
		return false
	}
	for _, f := range w.plan.Faults {
		mine, its, until := has(f.Clients, h.slot), has(f.Nodes, s.index), f.At+f.For
		switch f.Kind {
		case Duplicate, Tear, News, Inbox, Stranger, Crash, Close: // these faults do not harm renewals
			continue
		case Cut, CutOut, CutBack, Loss, Delay:
			its = its && mine
		case Pause, Suspend, Doze, Busy:
			its = mine
			until += noticed // timers are late after a sleep
		case Twin:
			its = its && mine
			until += 2 * time.Second // after a twin fault the client takes the node for the other server for this long
		case Hang, Full, ScriptFlush:
		default: // the node forgets and does not vote for a while, or its clock is wrong
			until = to + 1
		}
		if its && f.At < to && until > from {
			return false
		}
	}
	return true
}

// blocked reports whether a node still had a lease of an earlier owner at the time from, because no release reached it.
// Such a node does not repair the lease of the holder. The earlier owner may be a writer, or readers who keep a writer
// out. The caller holds w.mu.
func (w *world) blocked(l *held, s *server, from time.Duration) bool {
	then := s.clock() - (w.now() - from).Microseconds()
	return slices.ContainsFunc(s.earlier(w.names[l.name].record, l), func(o nodescript.Reader) bool {
		return o.Expiry > then && w.missedRelease(o.Owner, s)
	})
}

// earlier returns the leases of a name on a node that have a token below the holder's and that keep the holder out.
func (s *server) earlier(key string, l *held) (all []nodescript.Reader) {
	if r, ok := s.record(key); ok && r.Owner != "" {
		all = append(all, nodescript.Reader{Owner: r.Owner, Token: r.Token, Expiry: r.Expiry})
	}
	if !nodescript.IsReader(l.lease.Owner()) {
		for _, r := range s.readersOf(key) {
			all = append(all, r)
		}
	}
	return slices.DeleteFunc(all, func(r nodescript.Reader) bool { return r.Token <= 0 || r.Token >= l.lease.Fence() })
}

// missedRelease reports whether a fault kept the release of an owner from a node, or its process has ended. The caller
// holds w.mu.
func (w *world) missedRelease(owner string, s *server) bool {
	for _, h := range w.hosts {
		if h == nil {
			continue
		}
		if b := h.owners[owner]; b != nil {
			return b.ended && w.separated(h, s, b.over)
		}
	}
	return true // its process has ended
}

// separated reports whether a fault may have lost a message that a client sent to a node at a time.
func (w *world) separated(h *host, s *server, at time.Duration) bool {
	for _, f := range w.plan.Faults {
		if !has(f.Clients, h.slot) || f.At > at+w.slack() || f.At+f.For+w.slack() < at {
			continue
		}
		switch f.Kind {
		case Loss, Delay, Relay, Tear, Cut, CutOut, Twin:
			if has(f.Nodes, s.index) {
				return true
			}
		case Pause, Suspend, Crash, Close, Busy:
			return true
		}
	}
	return false
}

// ones returns the number of bits that are set.
func ones(mask uint32) (n int) {
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}
