package renewal

import (
	"math/bits"

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

func (e *Lease) left() {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.keeper.fan
	by, answers := e.by, answersTo(e.tries, f.N())
	for i := range f.N() {
		if by.Has(i) && f.Left(i, e.bySent) {
			by = by.Without(i)
			answers[i] = nodescript.Answer{Verdict: nodescript.Lost, Cause: nodescript.Elsewhere}
		}
	}
	if e.checkLocked(); e.end == nil && bits.OnesCount64(uint64(by)) < quorum.Majority(f.N()) {
		e.loseLocked(e.lost(&LostError{Gone: true, Answers: answers}))
	}
}
