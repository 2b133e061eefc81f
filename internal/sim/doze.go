package sim

import "time"

// A doze is a suspension as a client sees it: its timers stand still, and its clock does not. The timers of one client
// cannot be stopped in a bubble, so all clients' hosts sleep at once, for minutes or hours, in no time at all:
// the clocks of the nodes and of all clients leap by as much, and nothing else happens. It may come at any moment,
// also when a client holds nothing. (In a [Suspend] of one client its clock stands meanwhile, and others go on.)

// drawDozes adds dozes to one world in eight, by a chance of their own: all else stays as it was drawn.
func (p *Plan) drawDozes() {
	d := dice(luck(p.Seed, 'z'))
	if !d.hit(0.125) {
		return
	}
	for range d.n(3) + 1 {
		id := len(p.Faults)
		f := Fault{ID: 1000 + id, Kind: Doze, At: d.below(p.Heal * 9 / 10), Nodes: 1<<p.N - 1, Clients: 1<<len(p.Clients) - 1}
		f.By = d.between(time.Millisecond, pick(&d, p.Window, p.MaxTTL, 2*time.Second, time.Minute, 30*time.Minute, 2*time.Hour, 6*time.Hour))
		p.Faults = append(p.Faults, f)
	}
}

// doze has all hosts sleep.
func (w *world) doze(d time.Duration) {
	for _, s := range w.servers {
		s.leap(d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	for _, h := range w.all {
		if h.dead {
			continue
		}
		for _, l := range h.leases { // above 0 in any case: it slept
			if h.asleep { // all clocks but its own go on: what it could believe is over that much sooner
				l.cap = max(l.cap-d, 1)
			} else {
				l.cap = max(now+time.Until(l.lease.Deadline()), 1)
			}
		}
		h.woke = now
	}
	for _, n := range w.names { // what the nodes keep is over that much sooner
		n.taken -= d
		n.free = max(min(n.free, now), n.free-d)
	}
	w.clocks.Lock()
	w.dozed += d
	w.clocks.Unlock()
}
