package waiting

import "github.com/holdfast-go/holdfast/internal/nodescript"

// recall fills in, for nodes that had not answered when the round was decided, what they last said of their quarantine.
// One node that refuses for good decides a round while the quarantined ones are being asked again, as they are once a
// second; without this the wait would take that for an outage.
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
