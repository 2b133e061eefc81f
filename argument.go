package holdfast

import (
	"context"
	"fmt"
)

// This file has the errors of calls with a nil argument. Without them such a call would panic deep inside, and a lock
// could stay held.

// without returns the error of a call of m whose argument is nil.
func (m *Mutex) without(call, argument string) error {
	if m.bad != nil {
		return m.prefix(m.bad) // as for any other call
	}
	return m.prefix(fmt.Errorf("%s %q: %s: nil %s", m.noun(), m.name, call, argument))
}

// runnable returns an error if ctx or fn is nil.
func (m *Mutex) runnable(call string, ctx context.Context, fn func(context.Context) error) error {
	switch {
	case ctx == nil:
		return m.without(call, "Context")
	case fn == nil:
		return m.without(call, "function")
	}
	return nil
}

// withoutContext returns the error of a call with a nil context. subject is the name of the lock, or "".
func withoutContext(call, subject string) error {
	if subject != "" {
		subject = " " + subject
	}
	return fmt.Errorf("holdfast: %s%s: nil Context", call, subject)
}

// endWithout ends a lease by a call with a nil context: the lease ends although the call returns an error.
func (c *Client) endWithout(call, subject string, end func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*c.config.NodeTimeout)
	defer cancel()
	if err := end(ctx); err != nil {
		return fmt.Errorf("%w; %w", withoutContext(call, subject), err)
	}
	return withoutContext(call, subject)
}
