package virtual

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
)

// halfAWindowAway returns a set, and a client to which the nodes are far: a message takes half a window.
func halfAWindowAway(t *testing.T) (*farSet, *holdfast.Client) {
	s := newFarSet(t, 10*time.Second)
	c, ways := s.client(time.Second)
	admin.Nodes(t.Context(), c)
	for _, w := range ways {
		w.there.Store(int64(s.span(0.5)))
		w.back.Store(int64(s.span(0.5)))
	}
	return s, c
}

// The nodes are far, and the TTL is the shortest. Renewals succeed, so a downgrade must too: its next request must not
// make the answers to the last one void before they can come.
func TestADowngradeOfAShortLeaseOnFarNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := halfAWindowAway(t)
		defer c.Close()
		l := lock(t, c, "x", holdfast.WithTTL(s.span(8)))
		if err := l.Extend(t.Context(), s.span(8)); err != nil {
			t.Fatal(err)
		}
		if err := l.Downgrade(t.Context()); err != nil {
			t.Errorf("downgrade, after a renewal: %v", err)
		}
	})
}

// Several callers of Extend must not replace each other's requests during a downgrade. All nodes answer, so it
// succeeds.
func TestExtendsDuringADowngradeOnFarNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := halfAWindowAway(t)
		defer c.Close()
		l := lock(t, c, "x", holdfast.WithTTL(s.span(16)))
		ctx, stop := context.WithCancel(t.Context())
		var extenders sync.WaitGroup
		for i := range 4 {
			extenders.Go(func() {
				time.Sleep(s.span(0.25) * time.Duration(i))
				for ctx.Err() == nil {
					if err := l.Extend(ctx, s.span(16+float64(i))); err != nil && ctx.Err() == nil {
						t.Errorf("Extend: %v", err)
						return
					}
				}
			})
		}
		time.Sleep(s.span(2))
		if err := l.Downgrade(t.Context()); err != nil {
			t.Errorf("downgrade during calls of Extend: %v", err)
		}
		stop()
		extenders.Wait()
	})
}
