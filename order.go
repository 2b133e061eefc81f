package holdfast

import (
	"context"
	"errors"
	"fmt"
)

// above returns the name of a lock that ctx holds and that forbids to wait for m, or "".
//
// Such a lock has a name that sorts above m's. If its holder waited for m, another caller that waits for it under m
// would never get it, and neither would this one. A wait for a handle of a lease is a wait among callers under that
// lease. They share the leases outside it, and the leases of its set, so these do not count.
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

// inOrder returns the error of a lock that was not waited for, because ctx holds the lock above.
func inOrder(err error, above string) error {
	if !errors.Is(err, ErrHeld) {
		return err
	}
	return orderError{err, above}
}

// orderError has the error of the lock that was not waited for, and the name of the lock that forbids to wait.
type orderError struct {
	held  error
	above string
}

func (e orderError) Error() string {
	return fmt.Sprintf("%v; not waited for, because the caller holds %q, which sorts above it", e.held, e.above)
}

func (e orderError) Unwrap() []error { return []error{e.held, ErrOrder} }
