package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Shared is the kind of a lock that several readers hold together. It has the name, the record and the queue of the
// [Exclusive] lock, and excludes its holder. Its owners are readers: see [nodescript.ReaderOwner].
type Shared struct{ lock nodescript.Lock }

var _, _ Kind = (*Shared)(nil), (*Exclusive)(nil)

// NewShared returns the shared lock of a name.
func NewShared(l nodescript.Lock) *Shared { return &Shared{l} }

// Lock returns the keys of the name.
func (s *Shared) Lock() nodescript.Lock { return s.lock }

// Name implements [Kind].
func (s *Shared) Name() string { return s.lock.Name }

// Acquire implements [Kind].
func (s *Shared) Acquire(owner string, token int64, ttl time.Duration) nodescript.Call {
	return nodescript.AcquireSharedCall(s.lock, owner, token, ttl)
}

// Queue implements [Kind].
func (s *Shared) Queue(owner string, token int64, ttl time.Duration, ticket int64) nodescript.Call {
	return nodescript.QueueSharedCall(s.lock, owner, token, ttl, ticket)
}

// Pass implements [Kind]. from is a writer.
func (s *Shared) Pass(owner string, token int64, ttl time.Duration, from string) nodescript.Call {
	return nodescript.PassSharedCall(s.lock, owner, token, ttl, from)
}

// Abort implements [Kind].
func (s *Shared) Abort(owner string, highest int64) nodescript.Call {
	return nodescript.AbortSharedCall(s.lock, owner, highest)
}

// Quit implements [Kind].
func (s *Shared) Quit(owner string) nodescript.Call { return nodescript.QuitCall(s.lock, owner) }

// Extend implements [Kind].
func (s *Shared) Extend(owner string, token, stamp, deadline int64, ttl, window time.Duration) nodescript.Call {
	return nodescript.ExtendSharedCall(s.lock, owner, token, stamp, deadline, ttl, window)
}

// Release implements [Kind].
func (s *Shared) Release(owner string, highest int64) nodescript.Call {
	return nodescript.ReleaseSharedCall(s.lock, owner, highest)
}

// Leave implements [Kind].
func (s *Shared) Leave(owner string, token, until int64) nodescript.Call {
	return nodescript.LeaveSharedCall(s.lock, owner, token, until)
}

// LeaveGap implements [Kind]. It does not change the plain key: other libraries take it in the gap.
func (s *Shared) LeaveGap(owner string, token, until int64) nodescript.Call {
	bare := nodescript.Lock{Name: s.lock.Name, Private: true}
	return nodescript.LeaveSharedCall(bare, owner, token, until)
}

// EndGap implements [Kind].
func (s *Shared) EndGap(owner string, highest int64) nodescript.Call {
	return nodescript.ReleaseSharedCall(s.lock, nodescript.LeftOwner(owner), highest)
}
