package waiting

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// recall completes r with known quarantines. If a quarantined node did not answer the last question, recall adds the
// answer in which that node last told the end of its quarantine. The client asks a quarantined node only once a
// second, and another node's final refusal may decide a round before that. Without recall, the wait would treat such a
// round as an outage and give up, although the quarantine ends soon.
func (w *wait) recall(r *Refusal) *Refusal {
	for i, a := range r.Answers {
		if a.Verdict == nodescript.Unanswered {
			if q, ok := w.fan.Quarantine(i); ok {
				r.Answers[i] = q
			}
		}
	}
	return r
}
