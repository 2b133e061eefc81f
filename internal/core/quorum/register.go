package quorum

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// Loading counts the answers to one load of a lock's value. It decides which of the answered values the holder may
// use.
//
// A node is evidence if it cannot have forgotten a later value. Any majority of evidence has a node in common with the
// majority that stored the last value. So the highest version in that majority is the last value, or a later one whose
// store had no known result. If all nodes answer, they are enough without evidence: only a minority of them may have
// forgotten the value.
//
// A version can have a higher token than the holder's own lease, if clocks were ahead when it was written. Loading
// ranks it below all other versions. Otherwise no holder could replace it until the clocks reach that token.
//
// Loading is not safe for concurrent use.
type Loading struct {
	n        int
	token    int64 // the token of the holder's lease
	sent     int64 // the highest sequence that the holder has sent; 0: none
	answered int
	loaded   int                // the number of nodes that answered with their value
	evidence int                // the number of these nodes that are evidence
	lost     int                // the number of nodes that do not have the lease
	chosen   *nodescript.Stored // the value with the highest rank
	same     bool               // all loaded values have the version of chosen
	own      int                // the number of nodes that have the holder's last write
}

// NewLoading returns a load at n nodes. token is the token of the holder's lease. sent is the sequence of its last
// write, or 0 if it has written nothing.
func NewLoading(n int, token, sent int64) Loading {
	return Loading{n: n, token: token, sent: sent, same: true}
}

// Answer counts a node's answer, and returns the outcome so far. Won means that the holder may use Chosen. Gone means
// that a majority does not have the lease.
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

// Curable reports whether a load failed only because some nodes do not have the lease, or got the question too late. A
// renewal may bring the lease there, and a second question may be in time.
func Curable(answers []nodescript.Answer) bool {
	curable := false
	for _, a := range answers {
		switch a.Verdict {
		case nodescript.Lost, nodescript.OffClock:
			curable = true
		case nodescript.Loaded, nodescript.Unanswered:
		default:
			return false
		}
	}
	return curable
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

// rank returns the version of a value for comparison. It is lower than all versions if the token is above the
// holder's.
func (l *Loading) rank(v *nodescript.Stored) nodescript.Version {
	if v.Version.Token > l.token {
		return nodescript.Version{Token: -1}
	}
	return v.Version
}

// Complete reports whether every node has answered.
func (l *Loading) Complete() bool { return l.answered == l.n }

// Chosen returns the value that the holder may use. Call it only after the outcome Won.
func (l *Loading) Chosen() *nodescript.Stored { return l.chosen }

// Settled reports whether every later load must find Chosen, too. If not, the holder must write Chosen to a majority
// before it uses the value. Otherwise a later holder could find another version: one that only a minority has, or one
// that this holder sent and that is still on its way.
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

// Answer counts a node's answer, and returns the outcome so far. Gone means that a majority does not have the lease.
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
