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
	if w.strikes(Loss, l, false, d) != nil {
		f.lost = true
	}
	f.there += w.late(l, false, d)
	if w.strikes(Duplicate, l, false, d) != nil {
		f.again = 1 + w.long(d)
	}
	return f
}

// late is how much longer than usual a message takes.
func (w *world) late(l *link, back bool, d *dice) time.Duration {
	switch f := w.strikes(Delay, l, back, d); {
	case f == nil:
		return 0
	case f.By > 0:
		return f.By - d.below(f.By/20+1)
	}
	return w.long(d)
}

// long is how long a message may take that is late.
func (w *world) long(d *dice) time.Duration {
	return d.below(pick(d, w.plan.Window/2, w.plan.Window, 3*w.plan.Window, 2*w.plan.Timeout, w.plan.MaxTTL))
}

// wayBack is how long an answer takes.
func (w *world) wayBack(l *link, s *server, d *dice) (time.Duration, bool) {
	now := w.now()
	back := l.home + d.below(l.home/2+time.Microsecond)
	lost := w.openAgain(l, s, true, now) > now
	lost = w.strikes(Loss, l, true, d) != nil || lost
	return back + w.late(l, true, d), lost
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

// strikes is the fault of messages that hits this one, which is counted; nil: none does.
func (w *world) strikes(k Kind, l *link, back bool, d *dice) *Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.active[k] {
		if f.Back == back && has(f.Nodes, l.to) && has(f.Clients, l.h.slot) && d.hit(f.P) {
			w.result.Tally.Faults[k]++
			return f
		}
	}
	return nil
}
