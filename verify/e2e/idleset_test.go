package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// A node set that was idle for an hour keeps its configuration, no matter which client looks at it during that time.
// Only an operator's voucher replaces the configuration, and it can do so at any time.
func TestALookAtAnIdleSetShutsNobodyOut(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	// The windows are long, so that answers come in time on a busy machine.
	slow := func(c *holdfast.Config) {
		c.MaxTTL, c.Window, c.NodeTimeout = 5*time.Second, 500*time.Millisecond, 3*time.Second
	}
	a := s.ready(s.client(slow))
	lock(t, a, "nightly").Unlock(t.Context())
	a.Close()
	other := func(c *holdfast.Config) { slow(c); c.Window = 510 * time.Millisecond }
	for _, idle := range []time.Duration{61 * time.Minute, 3 * time.Hour} {
		s.each(all(3), func(srv *redistest.Server) { srv.Step(idle) })
		look := s.client(other)
		for _, n := range admin.Nodes(t.Context(), look) {
			if n.Reason != verdict.ReasonMisconfigured || n.Cause != verdict.CauseSettings {
				t.Errorf("a look with another window, %s later: %s", idle, n)
			}
		}
		_, err := look.Mutex("nightly").TryLock(t.Context())
		wantHint(t, err, "holdfast nodes trust --max-ttl ", "--window 510ms", "(with the same nodes)")
		look.Close()
		again := s.client(slow)
		l, err := again.Mutex("nightly").TryLock(t.Context())
		if err != nil {
			t.Fatalf("%s later, after a look by another: %v", idle, err)
		}
		l.Unlock(t.Context())
		again.Close()
	}

	s.each(all(3), func(srv *redistest.Server) { srv.Step(6 * time.Hour) })
	look := s.client(other)
	admin.Trust(t.Context(), look)
	lock(t, s.ready(look), "nightly").Unlock(t.Context())
}
