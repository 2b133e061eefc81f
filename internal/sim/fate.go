package sim

import "time"

// fate is what becomes of a message on its way to a node.
type fate struct {
	there time.Duration // until it arrives
	lost  bool
	again time.Duration // until it arrives once more; 0: it does not
}

// fate draws it.
func (w *world) fate(l *link, s *server, now time.Duration, d *dice) (f fate) {
	w.mu.Lock()
	departs := max(now, l.h.held)
	w.mu.Unlock()
	f.there = departs - now + l.way + d.below(l.way/2+time.Microsecond)
	if open := w.openAgain(l, s, false, departs); open > departs {
		f.lost = d.hit(0.6) // the rest is in some buffer until then
		f.there += open - departs
	}
	if w.strikes(Loss, l, false, d) {
		f.lost = true
	}
	if w.strikes(Delay, l, false, d) {
		f.there += w.late(d)
	}
	if w.strikes(Duplicate, l, false, d) {
		f.again = 1 + w.late(d)
	}
	return f
}

// late is how long a message may take that is late.
func (w *world) late(d *dice) time.Duration {
	return d.below(pick(d, w.plan.Window/2, w.plan.Window, 3*w.plan.Window, 2*w.plan.Timeout, w.plan.MaxTTL))
}

// wayBack is how long an answer takes.
func (w *world) wayBack(l *link, s *server, d *dice) (time.Duration, bool) {
	now := w.now()
	back := l.home + d.below(l.home/2+time.Microsecond)
	lost := w.openAgain(l, s, true, now) > now
	lost = w.strikes(Loss, l, true, d) || lost
	if w.strikes(Delay, l, true, d) {
		back += w.late(d)
	}
	return back, lost
}

// openAgain is when a message may pass between a client and a node.
func (w *world) openAgain(l *link, s *server, back bool, at time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	oneWay := CutOut
	if back {
		oneWay = CutBack
	}
	open := at
	for _, kind := range [...]Kind{Cut, oneWay} {
		for _, f := range w.active[kind] {
			if has(f.Nodes, s.index) && has(f.Clients, l.h.slot) {
				open = max(open, f.At+f.For+1)
			}
		}
	}
	return open
}

// strikes reports whether a fault of messages hits this one, and counts it.
func (w *world) strikes(k Kind, l *link, back bool, d *dice) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.active[k] {
		if f.Back == back && has(f.Nodes, l.to) && has(f.Clients, l.h.slot) && d.hit(f.P) {
			w.result.Tally.Faults[k]++
			return true
		}
	}
	return false
}
