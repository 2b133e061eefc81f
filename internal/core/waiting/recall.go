package waiting

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// recall adds to r what quarantined nodes last said of their quarantine, for nodes without an answer. A node that
// refuses for good decides a round while the quarantined nodes are being asked again, once a second. Without recall the
// wait would take that for an outage.
func (l *Locker) recall(r *Refusal) *Refusal {
	for i, a := range r.Answers {
		if a.Verdict == nodescript.Unanswered {
			if q, ok := l.Fan.Quarantine(i); ok {
				r.Answers[i] = q
			}
		}
	}
	return r
}
