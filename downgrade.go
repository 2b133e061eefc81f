package holdfast

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/core/kind"
)

// errOthers is the error of a downgrade while another exclusive handle of the same lease is in use.
var errOthers = errors.New("another exclusive handle of this lease is in use")

// Downgrade makes an exclusive lease a shared one. No other writer can get the lock in between. Readers that wait may
// get the lock from now on. The lease keeps its context. It gets another owner and a larger token.
//
// The caller must not write any more from the call of Downgrade on, even if Downgrade fails: the first node that has
// changed the lease lets readers in. A shared lease cannot become exclusive again: see [ErrUpgrade].
//
// If the lease is already shared, Downgrade only waits for a downgrade that is under way. Downgrade fails and changes
// nothing in two cases: the lease is a slot of a semaphore, or another exclusive handle of the lease is in use.
//
// The error matches [ErrLost] or [ErrReleased] if the lease ended before a majority of the nodes had changed it. If
// ctx ends first, the error matches ctx's Err and cause. The client then continues the downgrade in the background,
// and the lease stays valid until its deadline.
func (l *Lease) Downgrade(ctx context.Context) error {
	err := l.downgrade()
	if err == nil {
		err = l.held.AwaitDowngrade(ctx)
	}
	return l.wrap(ctx, "downgrade", err)
}

// downgrade makes the handle a shared one, and begins to change the lease on the nodes if it is exclusive. Both happen
// under one lock. Otherwise a second caller could see a shared handle, and find no downgrade to wait for.
func (l *Lease) downgrade() error {
	if err := l.held.End(); err != nil {
		return err
	}
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.ended:
		return ErrReleased
	case l.shared:
		return nil
	case l.Slot() >= 0:
		return fmt.Errorf("a slot of a semaphore cannot be shared")
	}
	for h := f; h != nil; h = h.below {
		if h != l.handle && !h.ended && !h.shared {
			return errOthers
		}
	}
	l.shared = true
	l.next() // exclusive calls that wait for a handle now fail, and readers get theirs
	lock, exclusive := l.held.Kind().(*kind.Exclusive)
	if !exclusive {
		return nil
	}
	return l.held.Downgrade(kind.NewShared(lock.Lock()), l.client.locker.NewOwner(l.client.fan.StampAt(l.client.fan.Now())))
}
