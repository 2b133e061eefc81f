package sim

import "time"

// fate is the fate of a message on its way to a node.
type fate struct {
	there time.Duration // the time until the message arrives
	lost  bool
	again time.Duration // the time until the message arrives once more; 0: it arrives once
	kept  bool          // a proxy keeps the message until a server runs
	by    []Kind        // the faults that hit it
}

// fate draws the fate of a parcel. sent contains the kinds of its messages, as bits.
func (w *world) fate(l *link, s *server, sent uint32, now time.Duration, d *dice) (f fate) {
	w.mu.Lock()
	departs := max(now, l.h.held)
	w.mu.Unlock()
	f.there = departs - now + l.way + d.below(l.way/2+time.Microsecond)
	if open := w.openAgain(l, s, false, departs); open > departs {
		f.lost = d.hit(0.6) // messages that are not lost wait in a buffer until the way is open
		f.there += open - departs
	}
	if w.strikes(Loss, l, false, sent, d) != nil {
		f.lost, f.by = true, append(f.by, Loss)
	}
	if late := w.late(l, false, sent, d); late > 0 {
		f.there, f.by = f.there+late, append(f.by, Delay)
	}
	switch hit := w.strikes(Duplicate, l, false, sent, d); {
	case hit == nil:
	case hit.Control:
		f.again, f.by = w.longLate(d), append(f.by, Duplicate)
	case hit.By > 0:
		f.again, f.by = 1+d.below(hit.By), append(f.by, Duplicate)
	default:
		f.again, f.by = 1+w.long(d), append(f.by, Duplicate)
	}
	if w.strikes(Relay, l, false, sent, d) != nil {
		f.kept, f.there, f.by = true, f.there+min(w.long(d), max(w.plan.Heal-now-f.there, 0)), append(f.by, Relay)
	}
	return f
}

// countFate counts the faults that hit a message. A lost message counts as lost only, and not also as late or doubled.
func (w *world) countFate(f fate, kinds uint32) {
	w.mu.Lock()
	for _, k := range f.by {
		switch {
		case k == Delay && !f.lost:
			w.treatedLocked(kinds, Late)
		case k == Duplicate && !f.lost:
			w.treatedLocked(kinds, Repeated)
		}
	}
	if f.lost {
		w.treatedLocked(kinds, Missed)
	}
	w.mu.Unlock()
	for _, k := range f.by {
		if k == Loss || !f.lost {
			w.countFault(k)
		}
	}
}

// late returns the extra time of a message that a fault delays, 0 if no fault does.
func (w *world) late(l *link, back bool, sent uint32, d *dice) time.Duration {
	switch f := w.strikes(Delay, l, back, sent, d); {
	case f == nil:
		return 0
	case f.Control:
		return w.longLate(d)
	case f.By > 0:
		return f.By - d.below(f.By/20+1)
	}
	return w.long(d)
}

// long returns the extra time of a late message.
func (w *world) long(d *dice) time.Duration {
	return d.below(pick(d, w.plan.Window/2, w.plan.Window, 3*w.plan.Window, 2*w.plan.Timeout, w.plan.MaxTTL))
}

// wayBack returns the time that an answer takes, and whether the answer is lost.
func (w *world) wayBack(l *link, s *server, p parcel, d *dice) (time.Duration, bool) {
	now, sent := w.now(), p.kinds()
	back := l.home + d.below(l.home/2+time.Microsecond)
	f := fate{lost: w.openAgain(l, s, true, now) > now}
	if w.strikes(Loss, l, true, sent, d) != nil {
		f.lost, f.by = true, append(f.by, Loss)
	}
	if late := w.late(l, true, sent, d); late > 0 {
		back, f.by = back+late, append(f.by, Delay)
	}
	w.countFate(f, sent)
	return back, f.lost
}

// openAgain returns the time at which a message can pass between a client and a node again.
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
				w.countHit(f)
			}
		}
	}
	return open
}

// strikes returns the message fault that hits messages of these kinds, nil if none does.
func (w *world) strikes(k Kind, l *link, back bool, sent uint32, d *dice) *Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.active[k] {
		if f.Back == back && (!f.Control || sent&control != 0) && (f.Only == 0 || sent&f.Only != 0) && has(f.Nodes, l.to) && has(f.Clients, l.h.slot) && d.hit(f.P) {
			return f
		}
	}
	return nil
}
