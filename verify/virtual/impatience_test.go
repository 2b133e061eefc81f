package virtual

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// One goroutine holds a lease. Another one tries another name now and then, and does not wait for the answer. The node
// is well, and its round trip is six tenths of a window. The impatience of one caller must not cost the lease of
// another.
func TestAnImpatientCallerCostsNobodysLease(t *testing.T) {
	t.Parallel()
	const window = 200 * time.Millisecond
	for what, tries := range map[string]bool{"nobody tries": false, "somebody tries": true} {
		synctest.Test(t, func(t *testing.T) {
			set := nodescript.Config{N: 1, MaxTTL: 5 * time.Second, Window: window, Cluster: "test"}
			c, ways := clientOf(t, manyNodes(1, set), set)
			defer c.Close()
			ways[0].way.Store(int64(window * 3 / 10))
			admin.Nodes(t.Context(), c)
			for range 20 {
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
		})
	}
}
