package redisson_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A release during an outage is repeated for as long as the lock may last: an Extend may have made that longer than
// Config.TTL.
func TestAReleaseIsRepeatedForTheExtendedTTL(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c := open(t, []string{p.URL()}, func(c *redisson.Config) { c.TTL, c.NodeTimeout = 400*time.Millisecond, 100*time.Millisecond })
	l := mustLock(t, c, "x")
	if err := l.Extend(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	p.BlackHole(true)
	if err := l.Unlock(t.Context()); err == nil {
		t.Error("an Unlock during an outage returned nil")
	}
	time.Sleep(1500 * time.Millisecond) // the outage is longer than Config.TTL
	p.BlackHole(false)
	for end := time.Now().Add(20 * time.Second); s.MustDo(t, "EXISTS", "x") != int64(0); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("20 s after the outage, the lock is still on the server for %v ms", s.MustDo(t, "PTTL", "x"))
		}
	}
}

// A context belongs to all leases from which it was made, not only to the innermost one.
func TestAHandleUnderTheLeaseOfAnotherLock(t *testing.T) {
	t.Parallel()
	c := open(t, []string{redistest.Start(t).URL()}, nil)
	a := mustLock(t, c, "a")
	b, err := c.Mutex("b").Lock(a.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Mutex("a").TryLock(b.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*redisson.Lease{h, b, a} {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A handle belongs to a key and not to a name: MapName may make one key of two names.
func TestTwoNamesOfOneKeyAreReentrant(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, func(c *redisson.Config) {
		c.MapName = func(name string) string { return strings.ToLower(name) }
	})
	outer := mustLock(t, c, "X")
	ctx, cancel := context.WithTimeout(outer.Context(), within)
	defer cancel()
	inner, err := c.Mutex("x").Lock(ctx)
	if err != nil {
		t.Fatalf("under the lease of the same key: %v", err)
	}
	if inner.Owner() != outer.Owner() || outer.Count() != 2 || inner.Name() != "x" || outer.Name() != "X" {
		t.Errorf("the handle is %s, and the lease %s with %d handles", inner, outer, outer.Count())
	}
	if _, err := c.Mutex("X").TryLock(outer.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a second handle: %v", err)
	}
	mustUnlock(t, inner)

	// Another client has another id, so its lock is another one's, as in Java.
	other := open(t, []string{s.URL()}, nil)
	if _, err := other.Mutex("x").TryLock(outer.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("another client: %v", err)
	}
	mustUnlock(t, outer)
	mustUnlock(t, mustLock(t, other, "x"))
}
