package holdfast

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/core/kind"
)

// errOthers is the error of a downgrade under another exclusive handle.
var errOthers = errors.New("another exclusive handle of this lease is in use")

// Downgrade makes an exclusive lease a shared one, without a gap: no other writer gets the lock in between. Readers that
// wait may get it from now on. The lease keeps its context. Its owner and its token change, and the token grows.
//
// From the call of Downgrade on, the caller must not write any more, whatever Downgrade returns: the first node that has
// changed the lease lets readers in. There is no way back: see [ErrUpgrade]. Downgrade of a shared lease only waits for a
// downgrade that is under way. It fails and changes nothing for the lease of a semaphore's slot, and while another
// exclusive handle of the lease is in use.
//
// The error matches [ErrLost] or [ErrReleased] if the lease ended before a majority of the nodes had changed it. If ctx
// ends first, the error matches ctx's Err and cause. The client then goes on, and the lease stays valid until its
// deadline, as with a renewal.
func (l *Lease) Downgrade(ctx context.Context) error {
	changes, err := l.downgrade()
	if lock, exclusive := l.held.Kind().(*kind.Exclusive); err == nil && !changes {
		err = l.held.AwaitDowngrade(ctx)
	} else if err == nil && exclusive {
		shared := kind.NewShared(lock.Lock())
		err = l.held.Downgrade(ctx, shared, l.client.locker.NewOwner(l.client.fan.StampAt(l.client.fan.Now())))
	}
	return l.wrap(ctx, "downgrade", err)
}

// downgrade makes the handle a shared one. It reports whether the lease must change too.
func (l *Lease) downgrade() (changes bool, err error) {
	if err := l.held.End(); err != nil {
		return false, err
	}
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.ended:
		return false, ErrReleased
	case l.shared:
		return false, nil
	case l.Slot() >= 0:
		return false, fmt.Errorf("a slot of a semaphore cannot be shared")
	}
	for h := f; h != nil; h = h.below {
		if h != l.handle && !h.ended && !h.shared {
			return false, errOthers
		}
	}
	l.shared = true
	l.next() // calls that wait for an exclusive handle fail, and readers come in
	return true, nil
}
