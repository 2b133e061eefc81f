package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/redistest"
)

// One goroutine holds a lease. Another one tries another name now and then, and does not wait for the answer. The node
// is well, and its round trip is six tenths of a window. The impatience of one caller must not cost the lease of another.
func TestAnImpatientCallerCostsNobodysLease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	p := redistest.NewProxy(t, s.servers[0].Addr())
	s.urls[0] = p.URL()
	p.DelayRequests(window * 3 / 10)
	p.DelayReplies(window * 3 / 10)
	c := s.ready(s.client(calm))
	for what, tries := range map[string]bool{"nobody tries": false, "somebody tries": true} {
		lease := lock(t, c, "x", holdfast.WithTTL(8*window))
		for i := range 8 {
			time.Sleep(6*window + time.Duration(i)*window/8)
			if tries {
				ctx, cancel := context.WithTimeout(t.Context(), window/8)
				if l, err := c.Mutex("y").TryLock(ctx); err == nil {
					l.Unlock(t.Context())
				}
				cancel()
			}
		}
		if err := context.Cause(lease.Context()); errors.Is(err, holdfast.ErrLost) {
			t.Errorf("%s: %v", what, err)
		}
		lease.Unlock(t.Context())
	}
}
