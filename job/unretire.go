package job

import (
	"context"
	"time"
)

// unretire undoes [Retire], because this process has the job. If the process did not have the job then, the ticks until
// its start do not run and are not overdue, and a retry that waited is dropped.
func (h *held) unretire(ctx context.Context, last *Outcome, now time.Time) {
	if last == nil || last.Book.Retired == nil || last.State == Running {
		return
	}
	by := last.Book.Retired.By
	if last.left(h.since) {
		last.dropRetry(now)
	}
	from := h.from(last, h.since)
	last.Book.Retired = nil
	h.replace(last, from, now)
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job is retired although this machine has it, and this was not changed", "job", h.Name, "error", err)
		return // the next look finds it again
	}
	h.Logger.Info("job is not retired any more: this machine has it", "job", h.Name, "retired_by", by)
}
