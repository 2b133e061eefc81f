package job

import (
	"context"
	"time"
)

// unretire undoes [Retire], because this process has the job. The ticks until now are not overdue: nobody expected them.
func (h *held) unretire(ctx context.Context, last *Outcome, now time.Time) {
	if last == nil || last.Book.Retired == nil {
		return
	}
	by := last.Book.Retired.By
	last.Book.Retired, last.Book.Back = nil, now.UTC()
	if last.Next.Before(now) {
		last.Next = h.schedule.Next(now)
	}
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job is retired although this machine has it, and this was not changed", "job", h.Name, "error", err)
		return // the next look finds it again
	}
	h.Logger.Info("job is not retired any more: this machine has it", "job", h.Name, "retired_by", by)
}
