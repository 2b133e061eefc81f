package sim

import "time"

// fate is what becomes of a message on its way to a node.
type fate struct {
	there time.Duration // until it arrives
	lost  bool
	again time.Duration // until it arrives once more; 0: it does not
	by    []Kind        // of what befell it
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
		f.lost, f.by = true, append(f.by, Loss)
	}
	if late := w.late(l, false, d); late > 0 {
		f.there, f.by = f.there+late, append(f.by, Delay)
	}
	if w.strikes(Duplicate, l, false, d) != nil {
		f.again, f.by = 1+w.long(d), append(f.by, Duplicate)
	}
	return f
}

// befalls counts what befell a message that was on its way: one that is lost is neither late nor doubled.
func (w *world) befalls(f fate) {
	for _, k := range f.by {
		if k == Loss || !f.lost {
			w.struck(k)
		}
	}
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
	f := fate{lost: w.openAgain(l, s, true, now) > now}
	if w.strikes(Loss, l, true, d) != nil {
		f.lost, f.by = true, append(f.by, Loss)
	}
	if late := w.late(l, true, d); late > 0 {
		back, f.by = back+late, append(f.by, Delay)
	}
	w.befalls(f)
	return back, f.lost
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
				w.met(f)
			}
		}
	}
	return open
}

// strikes is the fault of messages that hits this one; nil: none does.
func (w *world) strikes(k Kind, l *link, back bool, d *dice) *Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.active[k] {
		if f.Back == back && has(f.Nodes, l.to) && has(f.Clients, l.h.slot) && d.hit(f.P) {
			return f
		}
	}
	return nil
}
