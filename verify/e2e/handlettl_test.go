package e2e

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Some goroutines extend a lease by a short TTL, and another one takes a handle with a long TTL at the same moment. The
// lease gets the long TTL, whichever comes first.
func TestAnExtendBesideANewHandleKeepsTheLongestTTL(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(func(c *holdfast.Config) {
		c.MaxTTL, c.TTL, c.NodeTimeout = 30*time.Second, 30*time.Second, 5*time.Second
	}))
	n := inShort(3000, 1000)
	const short, long = 5 * time.Second, 30 * time.Second // a busy machine must not lose a lease
	var leases []*holdfast.Lease
	for i := range n {
		outer := lock(t, c, fmt.Sprint("x", i), holdfast.WithTTL(short))
		var both sync.WaitGroup
		for range 1 + i%16 {
			both.Go(func() {
				if err := outer.Extend(t.Context(), short); err != nil {
					t.Error(err)
				}
			})
		}
		both.Go(func() {
			for range i % 8 {
				runtime.Gosched()
			}
			inner, err := c.Mutex(outer.Name(), holdfast.WithTTL(long)).Lock(outer.Context())
			if err != nil {
				t.Error(err)
				return
			}
			leases = append(leases, inner)
		})
		both.Wait()
	}
	time.Sleep(3 * time.Second) // every lease is renewed meanwhile
	few := 0
	for _, l := range leases {
		if time.Until(l.Deadline()) < 10*time.Second {
			few++
		}
	}
	if few > 0 {
		t.Errorf("%d of %d leases have the short TTL, although a handle with a TTL of 30 s is in use", few, len(leases))
	}
}
