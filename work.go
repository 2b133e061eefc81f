package holdfast

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/core/events"
)

// holding is a held [Lease] or [LeaseSet], under which work runs.
type holding interface {
	Context() context.Context
	Unlock(ctx context.Context) error
	subject() string // the names of the locks, for an error
	givenBack() bool // true if its holder released it, and not Close
	unconfirmed()    // informs the listeners that too few nodes confirmed a release
}

// run runs fn under a holding, and then releases it.
func (c *Client) run(ctx context.Context, h holding, fn func(ctx context.Context) error) (err error) {
	work, cancel := context.WithCancelCause(h.Context())
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	// Deferred, so that a panic in fn also releases the lock.
	defer func() {
		// ctx may have ended, and the lock must be released in that case too.
		bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*c.config.NodeTimeout)
		defer stop()
		byFn := h.givenBack()
		switch e := h.Unlock(bounded); {
		case errors.Is(e, ErrLost) && !errors.Is(err, ErrLost):
			err = besides(e, err)
		case errors.Is(e, ErrReleased) && !byFn:
			err = besides(fmt.Errorf("holdfast: %s: given back by Close while its work ran: %w", h.subject(), ErrClosed), err)
		case notConfirmed(e):
			// fn has done its work under the lock. It is not a failure of fn that the name stays taken until the end of
			// the TTL.
			h.unconfirmed()
		}
	}()
	return fn(work)
}

// notConfirmed reports whether too few nodes answered a release in time.
func notConfirmed(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// besides returns fact, followed by the error of the work under the lock in the same line.
func besides(fact, work error) error {
	if work == nil {
		return fact
	}
	return fmt.Errorf("%w; the work returned: %w", fact, work)
}

func (l *Lease) subject() string {
	return fmt.Sprintf("%s %q", nounFor(l.slots()), l.name)
}

func (l *Lease) givenBack() bool { return l.unlocked.Load() }

func (l *Lease) unconfirmed() {
	l.client.events.Emit(&events.Event{Kind: events.Unconfirmed, Name: l.held.Name()})
}
