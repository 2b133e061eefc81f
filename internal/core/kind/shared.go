package kind

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// Shared is the kind of a lock that several readers can hold together. It uses the keys of the [Exclusive] lock with
// the same name, and only one of the two can be held at a time. Its owners end in ~r, and for such an owner package
// nodescript makes a reader's call. So Shared needs no calls of its own.
type Shared struct{ Exclusive }

var _, _ Kind = (*Shared)(nil), (*Exclusive)(nil)

// NewShared returns the shared lock of a name.
func NewShared(l nodescript.Lock) *Shared { return &Shared{Exclusive{l}} }

// Shares implements [Kind].
func (s *Shared) Shares() bool { return true }

// Owner implements [Kind].
func (s *Shared) Owner(owner string) string { return nodescript.ReaderOwner(owner) }
