package sim

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/election"
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
		e := election.New(h.client, w.called(h, w.plan.Elected-1))
		for news := range e.Observe(ctx) {
			if !h.gone() {
				w.saw(h, &s, news)
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

// saw checks what an observer sees.
func (w *world) saw(h *host, s *sight, news election.News) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := w.plan.Elected - 1
	switch {
	case news.Err != nil:
		return
	case news.Vacant():
		s.vacant = true
		w.result.Tally.Rare[VacancySeen]++
		return
	case news.Term < s.highest:
		w.violated(termWrong, name, "client%d saw term %d of name%d after term %d", h.slot, news.Term, name, s.highest)
	case news.Term > s.highest && s.highest > 0 && !s.vacant:
		w.violated(termWrong, name, "client%d saw term %d of name%d after term %d, and no vacancy between", h.slot, news.Term, name, s.highest)
	}
	if news.Value != nil && string(news.Value) != fmt.Sprint(news.Term) {
		w.violated(termWrong, name, "client%d saw the value %q in term %d of name%d", h.slot, news.Value, news.Term, name)
	}
	if news.Value != nil {
		w.result.Tally.Rare[PublishedSeen]++
	}
	s.highest, s.vacant = news.Term, false
	w.result.Tally.Rare[LeaderSeen]++
}
