package sim

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// use is the use of one name by one process.
type use struct {
	calls int           // calls of Lock and TryLock that run, and leases that are not yet released
	until time.Duration // when the last use ended, or when a name that was left taken becomes free
}

// lingers returns the time for which a process may still have a trace on a node after its last use of a name, when all
// faults have ended. The client sends a release again every 200 ms to a node that did not take it.
func (w *world) lingers() time.Duration {
	return 500*time.Millisecond + 2*w.plan.Timeout + 4*w.plan.Slow
}

// uses begins a use. A semaphore is used with all its slots. The caller holds w.mu.
func (w *world) uses(h *host, name int) {
	for i := range w.parts(name) {
		h.uses[i].calls++
	}
}

// leaves ends a use. The use may leave a trace until the time until. The caller holds w.mu.
func (w *world) leaves(h *host, name int, until time.Duration) {
	for i := range w.parts(name) {
		u := &h.uses[i]
		u.calls--
		u.until = max(u.until, until)
		if u.calls == 0 && w.over {
			w.willLook(h, i, u.until)
		}
	}
}

// willLook checks later whether a process left a trace. The check does nothing if the process uses the name again. The
// caller holds w.mu.
func (w *world) willLook(h *host, name int, until time.Duration) {
	until = max(until, w.since)
	time.AfterFunc(until+w.lingers()-w.now(), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if u := h.uses[name]; u.calls > 0 || max(u.until, w.since) > until || h.dead || h.closing {
			return
		}
		for _, s := range w.servers {
			w.leftBehind(s, h, name)
		}
		w.result.Tally.Looks++
	})
}

// repeats notes the owners in a request that comes twice. A node that refused the first copy gets no release, and may
// grant the second copy. TCP networks do not repeat requests in this way.
func (w *world) repeats(h *host, p parcel) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range p.calls {
		for _, a := range acquisitions(c) {
			h.owners[a.owner].repeated = true
		}
	}
}

// leftBehind checks that a node has no lease of a process that no longer uses the name. It also checks that no queue
// contains an attempt that began after all faults. The caller holds w.mu.
func (w *world) leftBehind(s *server, h *host, name int) {
	if slices.ContainsFunc(h.links, func(l *link) bool { return l.to == s.index && l.led.Load() }) {
		return
	}
	now, claimed, plain := s.clock(), "", ""
	for _, k := range s.model.Keys() {
		switch {
		case k.Name == w.names[name].record:
			r, err := nodescript.ParseRecord(k.Text)
			switch {
			case err != nil || now >= r.Expiry || h.owners[r.Owner] == nil || h.owners[r.Owner].repeated || s.capped[r.Owner]:
			case r.Token == 0:
				claimed = r.Owner // the claim was handed over during faults, and ends within a second
			default:
				w.violated(ghost, name, "ghost: node%d keeps name%d for client%d, who has given it up, for another %d µs", s.index, name, h.slot, r.Expiry-now)
			}
		case k.Name == nodescript.ReadersKey(w.names[name].record):
			for owner, r := range readers(k) {
				if b := h.owners[owner]; now < r.Expiry && b != nil && !b.repeated && !s.capped[owner] && r.Token > 0 {
					w.violated(ghost, name, "ghost: node%d keeps name%d for the reader %s of client%d, who has given it up, for another %d µs", s.index, name, owner, h.slot, r.Expiry-now)
				}
			}
		case k.Name == w.names[name].plain:
			plain = k.Text
		case k.Name == w.names[name].queue && w.names[name].line == 0:
			for j := 0; j < len(k.Waiting); j += 2 {
				if b := h.owners[w.names[name].waiter(k.Waiting[j])]; b != nil && b.born > w.since {
					w.violated(ghost, name, "ghost: client%d, who does not wait, stands in the queue of name%d on node%d", h.slot, name, s.index)
				}
			}
		}
	}
	if b := h.owners[plain]; b != nil && !b.repeated && !s.capped[plain] && plain != claimed {
		w.violated(ghost, name, "ghost: node%d keeps the plain key of name%d for client%d, who has given it up", s.index, name, h.slot)
	}
}
