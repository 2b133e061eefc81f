package aside

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Handler returns one that has inner handle its records aside, in order, by q; it takes
// q's Missed for itself. What inner is not interested in costs what it did: Enabled is
// all that whoever logs calls of it.
func Handler(inner slog.Handler, q *Queue) slog.Handler {
	if inner == slog.DiscardHandler {
		return inner // not even With shall cost more
	}
	q.Missed = func(n int) {
		if !inner.Enabled(context.Background(), slog.LevelWarn) {
			return
		}
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "records left out: the logger did not keep up", 0)
		r.AddAttrs(slog.Int("records", n))
		_ = inner.Handle(context.Background(), r)
	}
	return handler{inner: inner, queue: q}
}

type handler struct {
	inner slog.Handler
	queue *Queue
	with  []func(slog.Handler) slog.Handler // what is to be made of inner, aside, too
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

// Handle has no error: what inner thinks of it is known when nobody listens any more.
// [slog.Logger] would not, either.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	r = r.Clone()
	h.queue.Do(func() {
		inner := h.inner
		for _, with := range h.with {
			inner = with(inner)
		}
		_ = inner.Handle(ctx, r)
	})
	return nil
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.and(func(inner slog.Handler) slog.Handler { return inner.WithAttrs(attrs) })
}

func (h handler) WithGroup(name string) slog.Handler {
	return h.and(func(inner slog.Handler) slog.Handler { return inner.WithGroup(name) })
}

func (h handler) and(with func(slog.Handler) slog.Handler) slog.Handler {
	h.with = append(slices.Clip(h.with), with)
	return h
}
