package async

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Handler returns a handler that passes its records to inner on the goroutine of q, in order. It sets q.Missed. For a
// record that inner does not want, it only calls Enabled, on the caller's goroutine.
func Handler(inner slog.Handler, q *Queue) slog.Handler {
	if inner == slog.DiscardHandler {
		return inner // the record is dropped anyway, and With costs nothing this way
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
	with  []func(slog.Handler) slog.Handler // the calls of WithAttrs and WithGroup, which q makes on inner
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

// Handle always returns nil, because the result of inner comes later. [slog.Logger] ignores the result, too.
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
