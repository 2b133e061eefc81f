package holdfast

import (
	"context"
	"errors"
	"fmt"
)

// above returns the name of a lock of ctx under which the caller must not wait for m. It returns "" if there is none.
//
// The name of such a lock sorts above m's name. Its holder must not wait for m: another caller may hold m and wait for
// that lock, and then neither caller would ever get its lock. If ctx belongs to a lease of m, the call waits only for
// other callers under that lease. All these callers have the same leases outside it and in its set, so those leases do
// not count.
func (m *Mutex) above(ctx context.Context) string {
	own := m.mine(ctx)
	for l, ok := FromContext(ctx); ok && l != own; l, ok = FromContext(l.outer()) {
		shared := own != nil && own.set != nil && l.set == own.set
		if !shared && l.held.Name() > m.lock.Name() && l.end() == nil {
			return l.name
		}
	}
	return ""
}

// inOrder returns the error of a lock for which the call did not wait, because ctx holds the lock above.
func inOrder(err error, above string) error {
	if !errors.Is(err, ErrHeld) {
		return err
	}
	return orderError{err, above}
}

// orderError has the error of the lock for which the call did not wait, and the name of the lock that forbids the wait.
type orderError struct {
	held  error
	above string
}

func (e orderError) Error() string {
	return fmt.Sprintf("%v; not waited for, because the caller holds %q, which sorts above it", e.held, e.above)
}

func (e orderError) Unwrap() []error { return []error{e.held, ErrOrder} }
