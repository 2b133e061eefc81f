package nodescript

import "time"

// Exclusive is the kind of a lock with one holder.
type Exclusive struct{ lock Lock }

// NewExclusive returns the exclusive lock of a name.
func NewExclusive(l Lock) *Exclusive { return &Exclusive{l} }

// Lock returns the keys of the name.
func (e *Exclusive) Lock() Lock { return e.lock }

// Name implements [Kind].
func (e *Exclusive) Name() string { return e.lock.Name }

// Line implements [Kind].
func (e *Exclusive) Line() string { return e.lock.Name }

// Shares implements [Kind].
func (e *Exclusive) Shares() bool { return false }

// Owner implements [Kind].
func (e *Exclusive) Owner(owner string) string { return owner }

// Acquire implements [Kind].
func (e *Exclusive) Acquire(owner string, token int64, ttl time.Duration) Call {
	return AcquireCall(e.lock, owner, token, ttl)
}

// Queue implements [Kind].
func (e *Exclusive) Queue(owner string, token int64, ttl time.Duration, ticket int64) Call {
	return QueueCall(e.lock, owner, token, ttl, ticket)
}

// Pass implements [Kind].
func (e *Exclusive) Pass(owner string, token int64, ttl time.Duration, from string) Call {
	return PassCall(e.lock, owner, token, ttl, from)
}

// Abort implements [Kind].
func (e *Exclusive) Abort(owner string, highest int64) Call {
	return AbortCall(e.lock, owner, highest)
}

// Quit implements [Kind].
func (e *Exclusive) Quit(owner string) Call { return QuitCall(e.lock, owner) }

// Extend implements [Kind].
func (e *Exclusive) Extend(owner string, token, stamp, deadline int64, ttl, window time.Duration) Call {
	return ExtendCall(e.lock, owner, token, stamp, deadline, ttl, window)
}

// Release implements [Kind].
func (e *Exclusive) Release(owner string, highest int64) Call {
	return ReleaseCall(e.lock, owner, highest)
}

// Leave implements [Kind].
func (e *Exclusive) Leave(owner string, token, until int64) Call {
	return LeaveCall(e.lock, owner, token, until)
}

// LeaveGap implements [Kind]. The call does not use the plain key, because other libraries may take that key during
// the gap.
func (e *Exclusive) LeaveGap(owner string, token, until int64) Call {
	bare := Lock{Name: e.lock.Name, Private: true}
	return LeaveCall(bare, owner, token, until)
}

// EndGap implements [Kind].
func (e *Exclusive) EndGap(owner string, highest int64) Call {
	return ReleaseCall(e.lock, LeftOwner(owner), highest)
}

// Decline returns the call that rejects a claim. A client sends it when none of its waiters can use the claim.
func Decline(h Handoff) Call {
	if h.OfSlot {
		return DeclineSlotCall(h)
	}
	return DeclineCall(h.Lock, h.Owner)
}

// Shared is the kind of a lock that several readers can hold together. It uses the keys of the [Exclusive] lock with
// the same name, and only one of the two can be held at a time. Its owners end in ~r, and for such an owner package
// nodescript makes a reader's call. So Shared needs no calls of its own.
type Shared struct{ Exclusive }

var _, _ Kind = (*Shared)(nil), (*Exclusive)(nil)

// NewShared returns the shared lock of a name.
func NewShared(l Lock) *Shared { return &Shared{Exclusive{l}} }

// Shares implements [Kind].
func (s *Shared) Shares() bool { return true }

// Owner implements [Kind].
func (s *Shared) Owner(owner string) string { return ReaderOwner(owner) }
