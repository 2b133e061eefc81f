package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
)

// foreign makes one lock of a foreign Redlock client: SET NX PX on one node after the other.
func (w *world) foreign(a *Actor, op Op) {
	name := w.plan.Names[op.Name]
	d := dice(luck(w.plan.Seed, 'o', uint64(a.ID), uint64(w.now())))
	value := fmt.Sprintf("%016x", d.next())
	ttl := longest(w.plan)
	sent, got := w.now(), 0
	reach := func(do func(s *server)) {
		for _, s := range w.servers {
			time.Sleep(d.between(20*time.Microsecond, w.plan.Slow))
			w.mu.Lock()
			up := s.up && s.hung < w.now()
			w.mu.Unlock()
			if up {
				w.delivered()
				do(s)
			}
		}
	}
	reach(func(s *server) {
		if s.model.SetNX(name, value, ttl) {
			got++
		}
	})
	until := sent + ttl - ttl/100 - 2*time.Millisecond
	if got >= w.plan.majority() && w.now() < until {
		w.mu.Lock()
		w.result.Tally.Outcomes[ForeignGranted]++
		n := w.names[op.Name]
		n.freeFrom(until + w.plan.Window)
		w.note("foreign lock", -1, a.ID, op.Name, 0, int64(until))
		n.foreigners++
		if x := n.believer(); x != nil && w.classic() {
			w.violated(holderWithForeign, op.Name, "two holders of name%d: client%d/%d, and a foreign client that was granted it", op.Name, x.h.slot, x.actor)
		}
		w.mu.Unlock()
		time.Sleep(min(op.Hold, until-w.now()))
		w.mu.Lock()
		n.foreigners--
		w.note("foreign lock over", -1, a.ID, op.Name, 0, 0)
		w.mu.Unlock()
	}
	reach(func(s *server) { s.model.CompareAndDelete(name, value) })
}

// classic reports whether the assumptions of classic Redlock hold in this world: no clock is wrong, no node forgets,
// and clients set the plain key. Only these assumptions exclude foreign clients and Holdfast clients from each other.
func (w *world) classic() bool {
	for _, f := range w.plan.Faults {
		switch f.Kind {
		case Step, Blip, Drift, Freeze, Suspend, Doze, Pause, Busy, Restart, Boot, Full:
			return false
		}
		if f.Kind.forgets() {
			return false
		}
	}
	return !w.plan.Clients[0].Private
}

// visit runs a client with another configuration. No node that votes under the main configuration may admit this
// client. The visitor comes after the other clients, because the first client of a new node sets its configuration.
func (w *world) visit(f *Fault) {
	if slices.ContainsFunc(w.servers, func(s *server) bool { from, _ := s.votesFrom(); return from == unnoticed }) {
		return
	}
	w.countFault(f.Kind)
	d := dice(luck(w.plan.Seed, 'v', uint64(f.ID)))
	wrong := w.configs()[1+d.n(3)]
	c := w.config(ClientPlan{TTL: wrong.MaxTTL, Retry: 50 * time.Millisecond})
	c.MaxTTL, c.Window = wrong.MaxTTL, wrong.Window
	targets := make([]int, wrong.N)
	for i := range targets {
		targets[i] = i
	}
	slot := 16 + f.ID%16
	h, err := w.newHost(slot, f.ID, c, targets, true)
	if err != nil {
		w.mu.Lock()
		w.violated(anyOther, -1, "stranger: %v", err)
		w.mu.Unlock()
		return
	}
	w.mu.Lock()
	w.all = append(w.all, h)
	w.mu.Unlock()
	name := d.n(len(w.plan.Names))
	for range 2 {
		w.mu.Lock()
		h.calls++
		w.note("stranger asks", slot, -1, name, 0, 0)
		w.mu.Unlock()
		_, err := h.client.Mutex(w.plan.Names[name], holdfast.WithTTL(c.TTL)).TryLock(w.ctx)
		o := outcome(err)
		w.mu.Lock()
		w.note("stranger is told: "+describe(o), slot, -1, name, 0, 0)
		if o == Granted {
			w.violated(otherConfiguration, name, "a client with another configuration was granted name%d", name)
		} else if o < outcomes {
			w.result.Tally.Outcomes[o]++
		}
		w.mu.Unlock()
		time.Sleep(d.between(time.Millisecond, 50*time.Millisecond))
	}
	w.retire(h, false, 0)
}
