package sim

import "time"

// noticed is the longest time until a client knows that a lease has ended. It counts from the wake-up of the client's
// host, or from the end of the lease if that is later. The client checks its clock once a second. (On a real host the
// client then sets its timers again. In a bubble it cannot see its sleep, because timers continued. A timer that the
// client set while its clock stopped is late.)
const noticed = 1100 * time.Millisecond

// suspend puts a client's host to sleep. It returns false if the host sleeps already or is paused.
func (w *world) suspend(h *host, d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if h.asleep || h.held > now {
		return false
	}
	h.held = now + d
	if d > 20*time.Second {
		w.result.Tally.Rare[LongSleep]++
	}
	for _, l := range h.leases {
		l.cap = now + time.Until(l.lease.Deadline())
	}
	w.clocks.Lock()
	h.asleep, h.sleeping, h.stood = true, now, w.dozed
	w.clocks.Unlock()
	time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		h.woke = w.now()
		w.clocks.Lock()
		h.asleep = false
		w.clocks.Unlock()
	})
	for _, look := range []time.Duration{noticed, 2 * noticed} {
		time.AfterFunc(d+look, func() { w.noticedSleep(h) })
	}
	return true
}

// noticedSleep checks that a client knows of its losses when it has been awake for a while. A client that slept again
// gets another check, and so do leases that end after the wake-up.
func (w *world) noticedSleep(h *host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.dead || h.asleep || w.now()-h.woke < noticed {
		return
	}
	for _, l := range h.leases {
		if !l.over && l.polls() && -time.Until(l.lease.Deadline()) >= noticed {
			w.violated(doesNotKnow, l.name, "client%d/%d does not know that it lost name%d while its host slept", h.slot, l.actor, l.name)
		}
	}
}
