package async

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Handler returns a handler whose records go to inner by way of q, in order. It sets q's Missed. Records that inner
// does not want cost the same as without q, because the caller's goroutine calls only Enabled.
func Handler(inner slog.Handler, q *Queue) slog.Handler {
	if inner == slog.DiscardHandler {
		return inner // even With must cost nothing more
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
	with  []func(slog.Handler) slog.Handler // changes to inner, which q also makes
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

// Handle always returns nil: when inner's result is known, nobody waits for it. [slog.Logger] ignores it too.
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
