package waiting

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// recall adds the last answers of quarantined nodes about their quarantine to r, for nodes without an answer. This is
// necessary because a node that refuses for good decides a round while the client asks the quarantined nodes again, once
// a second. Without recall the wait would treat such a round as an outage.
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
