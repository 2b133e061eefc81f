package holdfast

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// giveBackAll releases several leases, and returns one result for each. If at is in the future, the leases end now,
// but the nodes keep the names taken until at. All releases for a node travel in one pipeline.
func (c *Client) giveBackAll(ctx context.Context, leases []*Lease, at time.Time) []error {
	errs := make([]error, len(leases))
	var free []*renewal.Lease
	var which []int
	var kept sync.WaitGroup
	for i, l := range leases {
		last, keep, err := l.endHandle(at)
		switch {
		case err != nil || !last:
			errs[i] = err
		case keep > 0:
			kept.Go(func() { errs[i] = l.held.Leave(ctx, keep) })
		default:
			free, which = append(free, l.held), append(which, i)
		}
	}
	if len(free) > 0 {
		for j, err := range c.keeper.ReleaseAll(ctx, free, c.locker.Pass) {
			errs[which[j]] = err
		}
	}
	kept.Wait()
	return errs
}

// overdue returns a context that has already ended. With it a release sends its requests, but does not wait for
// answers.
func overdue() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// joinedErrors are the errors of several locks, in one line.
type joinedErrors []error

// joined returns one error for all errors that are not nil. It returns nil if there are none.
func joined(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return joinedErrors(errs)
}

func (e joinedErrors) Error() string {
	var b strings.Builder
	for i, err := range e {
		text := err.Error()
		if i > 0 {
			b.WriteString("; ")
			text = strings.TrimPrefix(text, "holdfast: ")
		}
		b.WriteString(text)
	}
	return b.String()
}

func (e joinedErrors) Unwrap() []error { return e }
