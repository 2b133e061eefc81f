package sim

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// strikeAll runs the schedule of faults, and heals everything at the end.
func (w *world) strikeAll() {
	faults := slices.Clone(w.plan.Faults)
	slices.SortFunc(faults, func(a, b Fault) int { return int(a.At - b.At) })
	for i := range faults {
		time.Sleep(faults[i].At - w.now())
		w.strike(&faults[i])
	}
	time.Sleep(w.wellFrom() - w.now())
	for _, s := range w.servers {
		s.right()
	}
	w.heal()
	time.Sleep(w.plan.Heal - w.now())
	if w.plan.Broken.Taken {
		for _, s := range w.servers {
			for _, name := range w.plan.Names {
				s.model.Set(name, "nobody", w.plan.MaxTTL+10*time.Second)
			}
		}
	}
	close(w.healed)
}

// wellFrom returns the time from which the promises for the time after the last fault hold. Without faults this is the
// time at which all nodes vote. A plan with a foreign client waits until Heal, because no judge sees a foreign client's
// partial lock.
func (w *world) wellFrom() time.Duration {
	if len(w.plan.Faults) > 0 || w.plan.Broken != (Broken{}) || w.plan.foreign() {
		return w.plan.Heal
	}
	return min(w.plan.Heal, w.opens())
}

// strike begins a fault and arranges its end.
func (w *world) strike(f *Fault) {
	w.mu.Lock()
	w.note(f.Kind.String(), -1, -1, -1, int64(f.Nodes)<<32|int64(f.Clients), int64(f.At+f.For))
	w.mu.Unlock()
	d := dice(luck(w.plan.Seed, 'f', uint64(f.ID)))
	hit := true // whether the fault hit anything
	switch f.Kind {
	case Loss, Delay, Duplicate, Relay, Tear, News, Busy:
		w.during(f) // the fault counts when it hits a message, or a goroutine
		return
	case Cut, CutOut, CutBack:
		w.during(f) // the fault counts when a message meets it
		return
	case Forget, Partial, Restart, Boot:
		w.each(f.Nodes, func(s *server) { w.crashNode(s, f, &d) })
		return
	case Flush:
		w.each(f.Nodes, func(s *server) { w.forget(s, f, func(string) bool { return false }) })
	case Latecomers:
		w.each(f.Nodes, func(s *server) { w.latecomers(s, f) })
		return // the fault counts once for each request that comes
	case Crossing:
		w.each(f.Nodes, w.crossing)
		return
	case ScriptFlush:
		w.each(f.Nodes, func(s *server) { s.model.ScriptFlush() })
	case Evict:
		w.each(f.Nodes, func(s *server) {
			// A server evicts unused keys. Every call reads the guard, so the guard often stays.
			guard := d.hit(0.5)
			w.forget(s, f, func(key string) bool {
				return key == nodescript.GuardKey && guard || key != nodescript.GuardKey && d.hit(0.5)
			})
		})
	case Hang:
		w.mu.Lock()
		for i, s := range w.servers {
			if has(f.Nodes, i) {
				s.hung, s.stopped = max(s.hung, w.now()+f.For), f
			}
		}
		w.mu.Unlock()
		return // the fault counts when a message meets it
	case Step:
		w.each(f.Nodes, func(s *server) {
			if f.Stays {
				s.leap(f.By)
				return
			}
			s.set(f.By, s.own)
		})
	case Blip:
		w.each(f.Nodes, func(s *server) {
			s.set(f.By, s.own)
			time.AfterFunc(f.For, func() { s.set(-f.By, s.own) })
		})
	case Drift:
		w.each(f.Nodes, func(s *server) {
			s.set(0, 1+f.P)
			time.AfterFunc(f.For, func() { s.set(0, s.own) })
		})
	case Freeze:
		w.each(f.Nodes, func(s *server) {
			s.set(0, 0)
			time.AfterFunc(f.For, func() { s.set(0, s.own) })
		})
	case Pause:
		hit = w.eachHost(f.Clients, func(h *host) {
			w.mu.Lock()
			defer w.mu.Unlock()
			h.held = max(h.held, w.now()+f.For)
		})
	case Suspend:
		hit = false
		w.eachHost(f.Clients, func(h *host) { hit = w.suspend(h, f.For) || hit })
	case Doze:
		w.doze(f.By)
	case Crash, Close:
		hit = w.eachHost(f.Clients, func(h *host) { w.retire(h, f.Kind == Crash, f.For) })
	case Inbox:
		hit = false
		w.each(f.Nodes, func(s *server) {
			n := w.hangUpAll(s, func(sub *subscription) bool { return has(f.Clients, sub.l.h.slot) })
			hit = hit || n > 0
		})
	case Full:
		w.each(f.Nodes, func(s *server) {
			s.model.Fill(true)
			time.AfterFunc(f.For, func() { s.model.Fill(false) })
		})
	case Voucher:
		w.ends.Go(func() { w.vouch(f) })
		return // the fault counts only if an operator vouches
	case Stranger:
		w.ends.Go(func() { w.visit(f) })
		return // the fault counts only if the client comes
	case Twin:
		keeps := d.hit(0.5) // subscriptions stay connected, as after a change of a host name's address
		hit = w.eachHost(f.Clients, func(h *host) {
			from, to := first(f.Nodes), first(f.Nodes&(f.Nodes-1))
			l := h.links[from]
			away := func(to int32) {
				l.twin.Store(to)
				l.led.Store(true)
				if keeps {
					return
				}
				for _, s := range w.servers {
					w.hangUpAll(s, func(sub *subscription) bool { return sub.l == l })
				}
			}
			away(int32(to))
			time.AfterFunc(f.For, func() { away(-1) })
		})
	}
	if hit {
		w.countFault(f.Kind)
	}
}

func (w *world) countFault(k Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Tally.Faults[k]++
}

// countHit counts a fault when it hits its first message. Later messages do not count. The caller holds w.mu.
func (w *world) countHit(f *Fault) {
	if !w.hit[f] {
		w.hit[f] = true
		w.result.Tally.Faults[f.Kind]++
	}
}

func (w *world) each(nodes uint32, do func(*server)) {
	for i, s := range w.servers {
		if has(nodes, i) {
			do(s)
		}
	}
}

// eachHost calls do for the processes that run now. It reports whether it called do at least once.
func (w *world) eachHost(slots uint32, do func(*host)) (any bool) {
	w.mu.Lock()
	hosts := slices.Clone(w.hosts)
	w.mu.Unlock()
	for i, h := range hosts {
		if h != nil && has(slots, i) {
			do(h)
			any = true
		}
	}
	return any
}

// during makes a fault act on messages while it lasts.
func (w *world) during(f *Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active[f.Kind] = append(w.active[f.Kind], f)
	time.AfterFunc(f.For, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.active[f.Kind] = slices.DeleteFunc(w.active[f.Kind], func(o *Fault) bool { return o == f })
	})
}

// crashNode ends an incarnation and begins another one after a while.
func (w *world) crashNode(s *server, f *Fault, d *dice) {
	w.mu.Lock()
	was := s.up
	if was {
		s.up = false
		s.epoch++
		w.result.Tally.Faults[f.Kind]++
	}
	w.mu.Unlock()
	if !was {
		return
	}
	w.hangUpAll(s, func(*subscription) bool { return true })
	kept := luck(uint64(*d), uint64(s.index))
	if f.Kind != Restart {
		w.forgets(s)
	}
	down := f.For
	if f.Kind == Boot {
		down /= 2
		time.AfterFunc(down, func() { s.set(f.By, s.own) })
		time.AfterFunc(f.For, func() { s.set(-f.By, s.own) })
	}
	time.AfterFunc(down+d.below(time.Microsecond), func() {
		s.restart(func(key string) bool {
			switch f.Kind {
			case Forget:
				return false
			case Partial:
				h := kept
				for _, c := range key {
					h = luck(h, uint64(c))
				}
				return h%3 > 0
			}
			return true
		})
		w.mu.Lock()
		defer w.mu.Unlock()
		s.up = true
		w.note("node is back", -1, -1, -1, int64(s.index), 0)
	})
}

// forgets notes that the node may have lost tombstones.
func (w *world) forgets(s *server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.forgot = true
	clear(s.back)
	clear(s.gave)
	w.unplaced(s)
	for _, n := range w.names {
		n.value.noteLoss(s.index, w.plan.N)
	}
}

// forget deletes the keys of a running node, except those for which keeps returns true.
func (w *world) forget(s *server, f *Fault, keeps func(key string) bool) {
	if w.plan.Broken.Vouches {
		usual := keeps
		keeps = func(key string) bool { return nodescript.KindOf(key) == nodescript.NodeKey || usual(key) }
	}
	w.forgets(s)
	if f.Kind == Evict {
		s.model.Evict(func(key string) bool { return !keeps(key) })
		return
	}
	for _, k := range s.model.Keys() {
		if !keeps(k.Name) {
			s.model.Del(k.Name)
		}
	}
}
