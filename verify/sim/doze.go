package sim

import "time"

// A doze is a suspension as a client sees it: the client's timers stop, and its clock continues. A bubble cannot stop
// the timers of one client. So in a doze all clients' hosts sleep at once, for minutes or hours, and no virtual time
// passes. The clocks of the nodes and of all clients leap by the same amount, and nothing else happens. A doze may come
// at any moment, even when a client holds no lock. (In a [Suspend] of one client its clock stops, and the other clients
// continue.)

// drawDozes adds dozes to one world in eight. It uses its own stream of random numbers, so the rest of the plan does
// not change.
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

// doze makes all hosts sleep.
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
		for _, l := range h.leases { // each cap is above 0, because 0 means that the host did not sleep
			if h.asleep { // all other clocks continue, so the lease ends earlier on the stopped clock
				l.cap = max(l.cap-d, 1)
			} else {
				l.cap = max(now+time.Until(l.lease.Deadline()), 1)
			}
		}
		h.woke = now
		for _, b := range h.owners {
			b.left = max(b.left-d, 0)
		}
	}
	for _, n := range w.names { // the nodes' records expire earlier by the length of the doze
		n.taken -= d
		for owner := range n.shuts {
			n.shuts[owner] -= d
		}
		n.free = max(min(n.free, now), n.free-d)
	}
	w.clocks.Lock()
	w.dozed += d
	w.clocks.Unlock()
}
