package sim

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast"
)

// This file checks the observers of an election. An observer never sees an earlier term after a later one. It sees a
// vacancy between two terms. It sees a published value only in the term of that value.

// sight is what one observer saw.
type sight struct {
	highest int64 // the highest term
	vacant  bool  // nobody led since that term
}

// watches observes the election until all faults have ended. When its client ends, the next one goes on.
func (w *world) watches(a *Actor) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-w.healed:
			stop()
		case <-over:
		}
	}()
	for ctx.Err() == nil {
		h := w.host(a.Client)
		if h == nil {
			return
		}
		var s sight
		e := h.client.Election(w.called(h, w.plan.Elected-1))
		for o := range e.Observe(ctx) {
			if !h.gone() {
				w.saw(h, &s, o)
			}
		}
		select {
		case <-ctx.Done():
		case <-h.over:
			w.awaitsNext(ctx, h)
		}
	}
}

// awaitsNext waits until another process has the slot of h.
func (w *world) awaitsNext(ctx context.Context, h *host) {
	w.mu.Lock()
	ready := w.ready[h.slot]
	w.mu.Unlock()
	select {
	case <-ready:
	case <-ctx.Done():
	case <-w.abort:
	}
}

// saw checks an observation.
func (w *world) saw(h *host, s *sight, o holdfast.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := w.plan.Elected - 1
	switch {
	case o.Err != nil:
		return
	case o.Vacant():
		s.vacant = true
		w.result.Tally.Rare[VacancySeen]++
		return
	case o.Term < s.highest:
		w.violated(termWrong, name, "client%d saw term %d of name%d after term %d", h.slot, o.Term, name, s.highest)
	case o.Term > s.highest && s.highest > 0 && !s.vacant:
		w.violated(termWrong, name, "client%d saw term %d of name%d after term %d, and no vacancy between", h.slot, o.Term, name, s.highest)
	}
	if o.Value != nil && string(o.Value) != fmt.Sprint(o.Term) {
		w.violated(termWrong, name, "client%d saw the value %q in term %d of name%d", h.slot, o.Value, o.Term, name)
	}
	if o.Value != nil {
		w.result.Tally.Rare[PublishedSeen]++
	}
	s.highest, s.vacant = o.Term, false
	w.result.Tally.Rare[LeaderSeen]++
}
