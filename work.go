package holdfast

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
)

// holding is a [Lease] or a [LeaseSet] under which a function runs.
type holding interface {
	Context() context.Context
	Unlock(ctx context.Context) error
	subject() string // the names of the locks, for the text of an error
	wasClosed() bool // after Unlock: true if Close had released a lease before Unlock could
	unconfirmed()    // informs the listeners that too few nodes confirmed a release
}

// run runs fn under h, and then releases h.
func (c *Client) run(ctx context.Context, h holding, fn func(ctx context.Context) error) (err error) {
	work, end := ending.Work(ctx, h.Context())
	defer end(nil)
	// The release is deferred, so that it also happens if fn panics.
	defer func() {
		// The release must reach the nodes even if ctx has ended.
		bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*c.config.NodeTimeout)
		defer stop()
		switch e := h.Unlock(bounded); {
		case errors.Is(e, ErrLost) && !errors.Is(err, ErrLost):
			err = besides(e, err)
		case errors.Is(e, ErrReleased) && h.wasClosed():
			err = besides(fmt.Errorf("holdfast: %s: given back by Close while its work ran: %w", h.subject(), ErrClosed), err)
		case notConfirmed(e):
			// The work of fn is done, so fn has not failed. The listeners learn that the name may stay taken until
			// the end of its TTL.
			h.unconfirmed()
		}
	}()
	return fn(work)
}

// notConfirmed reports whether err means that too few nodes confirmed a release in time.
func notConfirmed(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// besides adds the error of the work under the lock, if there is one, to the text of fact.
func besides(fact, work error) error {
	if work == nil {
		return fact
	}
	return fmt.Errorf("%w; the work returned: %w", fact, work)
}

func (l *Lease) subject() string {
	return fmt.Sprintf("%s %q", nounFor(l.slots()), l.name)
}

func (l *Lease) wasClosed() bool { return !l.unlocked.Load() && errors.Is(l.held.End(), ErrReleased) }

func (l *Lease) unconfirmed() {
	l.client.events.Emit(events.Event{Kind: events.Unconfirmed, Name: l.held.Name()})
}
