package quorum

import "github.com/holdfast-go/holdfast/internal/nodescript"

// Renewal counts the answers to one renewal. A majority of yes moves the deadline; a
// majority that did not know the lease ends it, whether another owner is there now
// or the node merely forgot: somebody may have been in between.
//
// Not safe for concurrent use.
type Renewal struct {
	n                     int
	yes, forgot, answered int
	told                  Outcome
}

// NewRenewal returns a renewal at n nodes.
func NewRenewal(n int) Renewal { return Renewal{n: n} }

// Answer takes one node's answer. An outcome is told once; only Gone may still follow
// another: with five nodes, two that extended and one that repaired are a majority of
// yes, and two more that repaired then say that three had forgotten the lease.
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

// MayBeGone reports whether answers to come may still make a majority that did not know the lease, after one or more
// did not.
func (r *Renewal) MayBeGone() bool {
	need := Majority(r.n)
	return r.forgot > 0 && r.forgot < need && r.forgot+r.n-r.answered >= need
}
