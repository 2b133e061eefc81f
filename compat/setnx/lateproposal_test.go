package setnx_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// slowRelease delays releases, as a connection with a longer queue may.
type slowRelease struct{ node.Node }

func (n slowRelease) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if len(calls[0].Args) == 3 && calls[0].Args[0] == "own" {
		time.Sleep(3 * time.Millisecond)
	}
	return n.Node.EvalSHA(ctx, calls)
}

// A release names all values that the lease may have on the server. So no renewal may begin after it.
func TestNoRenewalBeginsAfterARelease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := openNode(t, slowRelease{kit.Nodes(t, s.URL())[0]}, func(c *setnx.Config) {
		c.Unit, c.Skew, c.TTL = setnx.Milliseconds, setnx.NoSkew, time.Minute
	})
	var all []*setnx.Lease
	for i := range 600 {
		all = append(all, mustLock(t, c, fmt.Sprint("x", i)))
	}
	time.Sleep(2200 * time.Millisecond) // from then on a release accepts only its own values
	for i, l := range all {
		var w sync.WaitGroup
		for range 3 {
			w.Go(func() {
				for l.Context().Err() == nil {
					_ = l.Extend(t.Context(), time.Minute)
				}
			})
		}
		time.Sleep(time.Duration(i%50) * 20 * time.Microsecond)
		if err := l.Unlock(t.Context()); err != nil {
			t.Errorf("%v; the key is %q", err, value(t, s, fmt.Sprint("x", i)))
		}
		w.Wait()
	}
}

// A context belongs to all leases from which it was made, not only to the innermost one.
func TestALockUnderTheLeaseOfAnotherLockIsReentrant(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t).URL(), nil)
	a := mustLock(t, c, "a")
	b, err := c.Mutex("b").Lock(a.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mutex("a").TryLock(b.Context()); !errors.Is(err, holdfast.ErrReentrant) {
		t.Errorf("got %v, want ErrReentrant", err)
	}
}

// A server whose clock shows a time before 2001 grants nothing, because its values would have too few digits.
func TestAServerClockBefore2001GrantsNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.WithClock())
	s.SetClock(1000 * 1e6) // a quarter of an hour after the beginning of 1970
	c := open(t, s.URL(), func(c *setnx.Config) { c.TTL = 3 * time.Second })
	l, err := c.Mutex("x").TryLock(t.Context())
	if err == nil {
		t.Fatalf("granted: %v; the key is %q", l, value(t, s, "x"))
	}
	t.Log(err)
	s.ResetClock()
	mustLock(t, c, "x")
}
