package jobmetrics

import (
	"time"

	"github.com/holdfast-go/holdfast/job"
)

const (
	leastHang  = MostLate         // a shorter run does not hang, and a tick may be late by this
	longHang   = 10 * time.Minute // a run that is that long hangs if it takes far longer than usual, before the next tick, too
	hangFactor = 3                // a run that takes so many times as long as the last good one takes far longer than usual
)

// Hangs reports whether the run that goes on at the time now probably hangs: it takes far longer than the last good run,
// and the next tick is over by a minute or the run takes more than ten minutes. Before the first good run, a tick that
// is over by a minute is enough.
func Hangs(o job.Outcome, now time.Time) bool {
	running, usual := now.Sub(o.Started), o.Book.Took
	if o.State != job.Running || running <= leastHang || usual > 0 && running <= hangFactor*usual {
		return false
	}
	return !o.Next.IsZero() && now.Sub(o.Next) > leastHang || usual > 0 && running > longHang
}
