package e2e

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A handle that becomes garbage without Unlock is reported, as any lease is. Otherwise nobody learns why other
// goroutines wait for a handle for ever, and why the lock stays held after the outer Unlock.
func TestAHandleDroppedWithoutUnlockIsReported(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	var log written
	c := s.ready(s.client(calm, logging(&log)))
	outer := lock(t, c, "x")
	if _, err := c.Mutex("x").Lock(outer.Context()); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 10*time.Second, "a word about the dropped handle", func() bool {
		runtime.GC()
		return strings.Contains(log.String(), "without Unlock")
	})
	outer.Unlock(t.Context())
}
