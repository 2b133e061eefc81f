package quorum

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// Renewal counts the answers to one renewal. If a majority says yes, the deadline moves. If a majority did not have
// the lease, the lease is lost. This includes nodes that only forgot it: another client may have had the lock in
// between.
//
// Renewal is not safe for concurrent use.
type Renewal struct {
	n                     int
	yes, forgot, answered int
	told                  Outcome
}

// NewRenewal returns a renewal at n nodes.
func NewRenewal(n int) Renewal { return Renewal{n: n} }

// Answer counts one node's answer, and returns the outcome. It returns each outcome except Open only once. Only Gone
// can follow another outcome. Example: of five nodes, two extend and one repairs, so the outcome is Won. Then the
// other two repair. Now three nodes did not have the lease, and the outcome is Gone.
func (r *Renewal) Answer(ans nodescript.Answer) Outcome {
	r.answered++
	switch ans.Verdict {
	case nodescript.Extended:
		r.yes++
	case nodescript.Repaired:
		r.yes++
		r.forgot++
	case nodescript.Lost:
		r.forgot++
	}
	out := r.outcome()
	if out == r.told || (r.told != Open && out != Gone) {
		return Open
	}
	r.told = out
	return out
}

func (r *Renewal) outcome() Outcome {
	need, open := Majority(r.n), r.n-r.answered
	switch {
	case r.forgot >= need:
		return Gone
	case r.yes >= need:
		return Won
	case r.yes+open >= need:
		return Open
	}
	return Failed
}

// MayBeGone reports whether the missing answers could still complete a majority that did not have the lease. It
// returns false if no node has answered so far that it did not have the lease.
func (r *Renewal) MayBeGone() bool {
	need := Majority(r.n)
	return r.forgot > 0 && r.forgot < need && r.forgot+r.n-r.answered >= need
}
