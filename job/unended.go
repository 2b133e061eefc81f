package job

import "time"

// unended is a run whose end this process could not store. The outcome on the nodes says that it still runs.
type unended struct {
	tick    time.Time
	attempt int
	fence   int64
	why     string
}

// explain sets the error of a run that crashed, if it was one of this process. Others have only [unexplained].
func (r *runner) explain(last *Outcome) {
	u := r.unended
	if last != nil && last.State == Running && last.Error == "" && last.Fence == u.fence && last.Attempt == u.attempt && last.Tick.Equal(u.tick) {
		last.Error = u.why
	}
}
