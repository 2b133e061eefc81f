package renewal

import (
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// left ends the leases that need the vote of a server that a node's address has left. That server may still extend
// them, but no other client can see them there.
func (k *Keeper) left(int) {
	for _, e := range k.Held() {
		e.left()
	}
}

// left ends the lease if too few nodes can have it that their addresses have not left. A node whose answer was not
// needed, or came late, may have it: then the lease gets a renewal, and the time of a node timeout for it.
func (e *Lease) left() {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.followLocked()
	have, may := 0, 0
	answers := answersTo(e.tries, f.N())
	for i := range f.N() {
		switch {
		case f.Left(i, e.bySent):
			answers[i] = nodescript.Answer{Verdict: nodescript.Lost, Cause: nodescript.Elsewhere}
		case e.by.Has(i):
			have++
		default:
			may++
		}
	}
	e.checkLocked()
	switch need := quorum.Majority(f.N()); {
	case e.end != nil || have >= need:
	case have+may < need:
		e.loseLocked(e.lost(&LostError{Gone: true, Answers: answers}))
	default:
		e.watchLocked()
		e.moveLocked(min(e.deadline, f.Now().Add(f.Timeout()))) // if it has just ended, checkLocked finds it
		e.timer.Reset(e.nextCheckLocked())
		if e.former == nil { // a downgrade repeats its own requests
			e.renewLocked(newOutcome(), nil, true)
		}
	}
}
