package quorum

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// Renewal counts the answers to one renewal. A majority of yes moves the deadline. A majority that did not have the
// lease ends it. It does not matter whether another owner has the name now or the nodes only forgot the lease: in both
// cases another client may have had the lock in between.
//
// Renewal is not safe for concurrent use.
type Renewal struct {
	n                     int
	yes, forgot, answered int
	told                  Outcome
}

// NewRenewal returns a renewal at n nodes.
func NewRenewal(n int) Renewal { return Renewal{n: n} }

// Answer takes one node's answer, and returns the outcome. It returns each outcome except Open once. Only Gone may
// follow another outcome. For example, two of five nodes extend and one repairs, which is a majority of yes. Then two
// more repair, so three nodes had forgotten the lease.
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

// MayBeGone reports whether the missing answers can still complete a majority that did not have the lease. It is false
// if no node has answered yet that it did not have the lease.
func (r *Renewal) MayBeGone() bool {
	need := Majority(r.n)
	return r.forgot > 0 && r.forgot < need && r.forgot+r.n-r.answered >= need
}
