package quorum

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// Loading decides which value a holder may believe, from the answers of the nodes to one load.
//
// A node is evidence if it cannot have forgotten a later value. A majority of evidence has a node in common with the
// majority that stored the last value. So the highest version of that majority is the last value, or a later one whose
// store had no known result. The answers of all nodes are enough too, because a minority of them may have forgotten.
//
// A version whose token is above the holder's own token comes from clocks that were ahead. It is below all other
// versions. Otherwise no holder could replace it before its time.
//
// Loading is not safe for concurrent use.
type Loading struct {
	n        int
	token    int64 // of the holder
	sent     int64 // the highest sequence that the holder has sent before; 0: none
	answered int
	loaded   int // nodes that answered with their value
	evidence int
	lost     int // nodes that do not have the lease
	chosen   *nodescript.Stored
	same     bool // all loaded answers have the version of chosen
	own      int  // nodes that have the holder's last write
}

// NewLoading returns a load at n nodes by the holder with a token. sent is the sequence of its last write, 0 if it has
// written nothing.
func NewLoading(n int, token, sent int64) Loading {
	return Loading{n: n, token: token, sent: sent, same: true}
}

// Answer takes a node's answer and returns the outcome so far. Won means that Chosen may be believed. Gone means that a
// majority does not have the lease.
func (l *Loading) Answer(a nodescript.Answer) Outcome {
	l.answered++
	switch a.Verdict {
	case nodescript.Loaded:
		l.take(a.Evidence.Stored)
	case nodescript.Lost:
		l.lost++
	}
	open := l.n - l.answered
	switch need := Majority(l.n); {
	case l.evidence >= need, l.loaded == l.n:
		return Won
	case l.lost >= need:
		return Gone
	case l.evidence+open >= need, l.loaded+open == l.n:
		return Open
	}
	return Failed
}

func (l *Loading) take(v *nodescript.Stored) {
	l.loaded++
	if v.Whole {
		l.evidence++
	}
	if v.Version == (nodescript.Version{Token: l.token, Sequence: l.sent}) {
		l.own++
	}
	switch {
	case l.chosen == nil:
		l.chosen = v
	case v.Version != l.chosen.Version:
		if l.same = false; l.rank(v).Compare(l.rank(l.chosen)) > 0 {
			l.chosen = v
		}
	}
}

// rank returns the version by which values are compared.
func (l *Loading) rank(v *nodescript.Stored) nodescript.Version {
	if v.Version.Token > l.token {
		return nodescript.Version{Token: -1}
	}
	return v.Version
}

// Complete reports whether every node has answered.
func (l *Loading) Complete() bool { return l.answered == l.n }

// Chosen returns the value to believe. It is valid after the outcome Won.
func (l *Loading) Chosen() *nodescript.Stored { return l.chosen }

// Settled reports whether no other value than Chosen can ever be found. Otherwise the holder must write Chosen on a
// majority before it relies on it: a later version may be on a minority, or under way from this holder.
func (l *Loading) Settled() bool {
	if l.sent > 0 {
		return l.own >= Majority(l.n)
	}
	return l.loaded == l.n && l.same && l.chosen.Version.Token <= l.token
}

// Storing counts the answers to one store.
//
// Storing is not safe for concurrent use.
type Storing struct{ n, answered, done, lost int }

// NewStoring returns a store at n nodes.
func NewStoring(n int) Storing { return Storing{n: n} }

// Answer takes a node's answer and returns the outcome so far. Gone means that a majority does not have the lease.
func (s *Storing) Answer(a nodescript.Answer) Outcome {
	s.answered++
	switch a.Verdict {
	case nodescript.Done:
		s.done++
	case nodescript.Lost:
		s.lost++
	}
	switch need := Majority(s.n); {
	case s.done >= need:
		return Won
	case s.lost >= need:
		return Gone
	case s.done+s.n-s.answered >= need:
		return Open
	}
	return Failed
}
