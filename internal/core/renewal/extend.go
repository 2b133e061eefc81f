package renewal

import (
	"context"
	"time"
)

// Extend sets the TTL of this and later renewals, and renews the lease now. It returns nil if a majority agreed. It
// returns ErrLost or ErrReleased if the lease has ended, and ErrUnknown if ctx ended first. It returns a
// [NoQuorumError] if too few nodes answered: the lease then stays valid until its old deadline.
//
// If a node answers that it did not have the lease, Extend waits for further answers, but for a window at most. With
// them, a majority may say the same, and the lease is then lost.
func (e *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	e.SetTTL(ttl)
	return e.Renew(ctx)
}

// Renew does the same as Extend, with the present TTL. During a downgrade it first waits for the request that is under
// way.
func (e *Lease) Renew(ctx context.Context) error {
	for {
		o, joined := e.ask()
		switch err := o.get(ctx); {
		case err == errOvertaken:
		case err != nil || !joined:
			return err
		}
	}
}

// ask renews the lease for a caller, and returns the outcome. During a downgrade it may send nothing, and return the
// outcome of the last request: joined is then true. See pendingLocked.
func (e *Lease) ask() (o *outcome, joined bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	o = newOutcome()
	switch r := e.pendingLocked(); {
	case e.end != nil:
		o.set(e.end)
	case r != nil:
		return r.wait, true
	default:
		e.watchLocked()
		e.renewLocked(o, nil, false)
	}
	return o, false
}

// SetTTL sets the TTL of later renewals. It sends no request.
func (e *Lease) SetTTL(ttl time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ttl = ttl
}
