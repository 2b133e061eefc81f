package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Exclusive is the kind of a lock with one holder.
type Exclusive struct{ lock nodescript.Lock }

// NewExclusive returns the exclusive lock of a name.
func NewExclusive(l nodescript.Lock) *Exclusive { return &Exclusive{l} }

// Lock returns the keys of the name.
func (e *Exclusive) Lock() nodescript.Lock { return e.lock }

// Name implements [Kind].
func (e *Exclusive) Name() string { return e.lock.Name }

// Line implements [Kind].
func (e *Exclusive) Line() string { return e.lock.Name }

// Shares implements [Kind].
func (e *Exclusive) Shares() bool { return false }

// Owner implements [Kind].
func (e *Exclusive) Owner(owner string) string { return owner }

// Acquire implements [Kind].
func (e *Exclusive) Acquire(owner string, token int64, ttl time.Duration) nodescript.Call {
	return nodescript.AcquireCall(e.lock, owner, token, ttl)
}

// Queue implements [Kind].
func (e *Exclusive) Queue(owner string, token int64, ttl time.Duration, ticket int64) nodescript.Call {
	return nodescript.QueueCall(e.lock, owner, token, ttl, ticket)
}

// Pass implements [Kind].
func (e *Exclusive) Pass(owner string, token int64, ttl time.Duration, from string) nodescript.Call {
	return nodescript.PassCall(e.lock, owner, token, ttl, from)
}

// Abort implements [Kind].
func (e *Exclusive) Abort(owner string, highest int64) nodescript.Call {
	return nodescript.AbortCall(e.lock, owner, highest)
}

// Quit implements [Kind].
func (e *Exclusive) Quit(owner string) nodescript.Call { return nodescript.QuitCall(e.lock, owner) }

// Extend implements [Kind].
func (e *Exclusive) Extend(owner string, token, stamp, deadline int64, ttl, window time.Duration) nodescript.Call {
	return nodescript.ExtendCall(e.lock, owner, token, stamp, deadline, ttl, window)
}

// Release implements [Kind].
func (e *Exclusive) Release(owner string, highest int64) nodescript.Call {
	return nodescript.ReleaseCall(e.lock, owner, highest)
}

// Leave implements [Kind].
func (e *Exclusive) Leave(owner string, token, until int64) nodescript.Call {
	return nodescript.LeaveCall(e.lock, owner, token, until)
}

// LeaveGap implements [Kind]. The call does not use the plain key, because other libraries may take that key during
// the gap.
func (e *Exclusive) LeaveGap(owner string, token, until int64) nodescript.Call {
	bare := nodescript.Lock{Name: e.lock.Name, Private: true}
	return nodescript.LeaveCall(bare, owner, token, until)
}

// EndGap implements [Kind].
func (e *Exclusive) EndGap(owner string, highest int64) nodescript.Call {
	return nodescript.ReleaseCall(e.lock, nodescript.LeftOwner(owner), highest)
}

// Decline returns the call that rejects a claim. A client sends it when none of its waiters can use the claim.
func Decline(h nodescript.Handoff) nodescript.Call {
	if h.OfSlot {
		return nodescript.DeclineSlotCall(h)
	}
	return nodescript.DeclineCall(h.Lock, h.Owner)
}
