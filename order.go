package holdfast

import (
	"context"
	"errors"
	"fmt"
)

// above returns the name of a lease in ctx that forbids the caller to wait for m, or "" if there is none. A lease
// forbids this if its name sorts above m's name. Otherwise two callers could wait for each other: this caller holds B
// and waits for A, while another caller holds A and waits for B.
//
// If ctx also has a lease of m itself, the call waits only for other handles of that lease. Leases outside that
// lease, and leases of its set, do not count: all users of these handles have the same leases there.
func (m *Mutex) above(ctx context.Context) string {
	own := m.leaseIn(ctx)
	for l, ok := FromContext(ctx); ok && l != own; l, ok = FromContext(l.outer()) {
		shared := own != nil && own.set != nil && l.set == own.set
		if !shared && l.held.Name() > m.lock.Name() && l.end() == nil {
			return l.name
		}
	}
	return ""
}

// inOrder returns the error for a lock for which the call did not wait. above is the name of the lease that forbids
// the wait.
func inOrder(err error, above string) error {
	if !errors.Is(err, ErrHeld) {
		return err
	}
	return orderError{err, above}
}

// orderError is err of the refused lock, together with the name of the lock that forbids the wait.
type orderError struct {
	held  error
	above string
}

func (e orderError) Error() string {
	return fmt.Sprintf("%v; not waited for, because the caller holds %q, which sorts above it", e.held, e.above)
}

func (e orderError) Unwrap() []error { return []error{e.held, ErrOrder} }
