package sim

import (
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/quorum"
)

// A holder that can reach a majority of the nodes does not lose its lease, whatever else goes wrong. A lease is renewed
// at a third of its validity, and if that fails tried again while there is time, so it is enough to reach the same
// majority for [world.reach] at any time between the last renewal that won and the deadline. Leases that end because a
// majority of the nodes says so (it forgot, or somebody took them) are not looked at.

// reach is for how long, where the last renewal that won was for this validity: a third of it, until the
// next is due; then what may still hang of the calls before, and the greeting after it; and some round trips.
func (w *world) reach(valid time.Duration) time.Duration {
	return valid/3 + 2*w.plan.Timeout + 100*time.Millisecond + 16*w.plan.Slow
}

// try is a renewal on its way.
type try struct {
	ttl time.Duration
	yes uint32 // nodes
}

// tries notes a renewal that is sent. w.mu is held.
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

// renewed notes a node's answer to a renewal that came in time. w.mu is held.
func (w *world) renewed(h *host, node int, args []string, answer string) {
	b := h.owners[args[0]]
	stamp, _ := strconv.ParseInt(args[4], 10, 64)
	if b == nil || b.renewals[stamp] == nil {
		return
	}
	if answer[0] != 'E' && answer[0] != 'R' {
		return
	}
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

// hadTime checks that a holder whose lease ended at its deadline could not reach a majority. w.mu is held.
func (w *world) hadTime(l *held) {
	p, now := w.plan, w.now()
	over := now + time.Until(l.lease.Deadline()) // long ago where the host slept through it
	if (over-now).Abs() > prompt(longest(p)) || isTight(p.Seed) && p.Clocks != nil || p.Broken != (Broken{}) {
		return
	}
	ttl, b := l.first, l.h.owners[l.lease.Owner()]
	if b == nil {
		return
	}
	if b.ttl > 0 {
		ttl = b.ttl
	}
	valid := quorum.Validity(ttl, p.Window)
	x := w.reach(valid)
	if valid < x {
		return
	}
	w.result.Tally.Reaches++
	// It begins when the deadline's renewal was sent, or when something that kept the holder from a node ended.
	begins := []time.Duration{over - valid}
	for i := range p.Faults {
		if f := &p.Faults[i]; f.At+f.For > over-valid && f.At+f.For+x <= over {
			begins = append(begins, f.At+f.For)
		}
	}
	for _, from := range begins {
		n := 0
		for _, s := range w.servers {
			if w.canReach(l.h, s, from, from+x) {
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

// canReach reports whether nothing kept a client from a node that votes, at any time of a span.
func (w *world) canReach(h *host, s *server, from, to time.Duration) bool {
	if !s.vouched && from < w.opens() {
		return false
	}
	for _, f := range w.plan.Faults {
		mine, its, until := has(f.Clients, h.slot), has(f.Nodes, s.index), f.At+f.For
		switch f.Kind {
		case Duplicate, Tear, News, Inbox, Stranger, Crash, Close: // renewals are none the worse for it
			continue
		case Cut, CutOut, CutBack, Loss, Delay:
			its = its && mine
		case Pause, Suspend, Doze:
			its = mine
			until += noticed // and timers late
		case Twin:
			its = its && mine
			until += 2 * time.Second // so long it is taken for the other one
		case Hang, Full, ScriptFlush:
		default: // it forgets, and does not vote for a while, or its clock is wrong
			until = to + 1
		}
		if its && f.At < to && until > from {
			return false
		}
	}
	return true
}

// ones is the number of bits that are set.
func ones(mask uint32) (n int) {
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}
