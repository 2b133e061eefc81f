package virtual

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
)

// A call arrives up to half of a round trip after the time of its stamp. So the window must be at least half of a round
// trip. A client with a smaller window gets an error that says so.
func TestARoundTripMayTakeNearlyTwoWindows(t *testing.T) {
	t.Parallel()
	behind := func(t *testing.T, trip, window, timeout time.Duration) *holdfast.Client {
		set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: window, Cluster: "test"}
		return open(t, set, holdfast.Config{NodeTimeout: timeout}, []*far{newFar(manyNodes(1, set)[0], clock.Monotonic(), trip)})
	}
	synctest.Test(t, func(t *testing.T) {
		c := behind(t, 1400*time.Millisecond, time.Second, 5*time.Second)
		defer c.Close()
		lease := lock(t, c, "x")
		since := lease.Deadline()
		time.Sleep(20 * time.Second)
		if !leasetest.Renewed(lease, since) || lease.Context().Err() != nil {
			t.Errorf("with a round trip of 1.4 s the lease is not renewed: its deadline moved from %s to %s", since, lease.Deadline())
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := behind(t, 600*time.Millisecond, 250*time.Millisecond, 5*time.Second)
		defer c.Close()
		_, err := c.Mutex("x").TryLock(t.Context())
		for _, said := range []string{`takes [67]\d\dms`, `with Window = 250ms a round trip may take less than 500ms`, `set a Window above [34]\d\dms`} {
			if err == nil || !regexp.MustCompile(said).MatchString(err.Error()) {
				t.Errorf("%v: it does not say %q", err, said)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := behind(t, 600*time.Millisecond, 250*time.Millisecond, 500*time.Millisecond)
		defer c.Close()
		_, err := c.Mutex("x").TryLock(t.Context())
		if err == nil || !strings.Contains(err.Error(), "timed out: no answer within the node timeout, 500ms") {
			t.Errorf("%v: it does not say what timed out", err)
		}
	})
}
