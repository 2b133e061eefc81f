package kind

import "github.com/holdfast-go/holdfast/internal/core/nodescript"

// Shared is the kind of a lock that several readers hold together. It has the name, the record and the queue of the
// [Exclusive] lock, and excludes its holder. Its owners are owners of readers, and its calls are those of readers.
type Shared struct{ Exclusive }

var _, _ Kind = (*Shared)(nil), (*Exclusive)(nil)

// NewShared returns the shared lock of a name.
func NewShared(l nodescript.Lock) *Shared { return &Shared{Exclusive{l}} }

// Shares implements [Kind].
func (s *Shared) Shares() bool { return true }

// Owner implements [Kind].
func (s *Shared) Owner(owner string) string { return nodescript.ReaderOwner(owner) }
