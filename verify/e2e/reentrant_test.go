package e2e

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// level runs f three levels deep under one lock, as packages that do not know of each other would run it.
func level(ctx context.Context, c *holdfast.Client, depth int, f func(context.Context) error) error {
	return c.Mutex("x").Do(ctx, func(ctx context.Context) error {
		if depth == 1 {
			return f(ctx)
		}
		return level(ctx, c, depth-1, f)
	})
}

func TestALockUnderItsOwnLeaseIsAHandleWithoutARoundTrip(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(longLived)), s.ready(s.client(longLived))
	lease := lock(t, c, "x")
	var before, after []int
	for try := 0; try < 10 && (try == 0 || !slices.Equal(before, after)); try++ { // a client at work reports once a second
		before = s.calls()
		err := level(lease.Context(), c, 3, func(ctx context.Context) error {
			inner, _ := holdfast.FromContext(ctx)
			if inner == lease || inner.Fence() != lease.Fence() || inner.Owner() != lease.Owner() {
				return errors.New("the innermost lease of the context is not a handle of the same lease")
			}
			tried, err := c.Mutex("x").TryLock(ctx)
			if err != nil {
				return err
			}
			return tried.Unlock(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		after = s.calls()
	}
	if !slices.Equal(before, after) {
		t.Errorf("the nodes ran %v scripts meanwhile; want none", after)
	}
	if err := lease.Context().Err(); err != nil {
		t.Errorf("an inner Unlock ended the outer lease: %v", context.Cause(lease.Context()))
	}
	if _, err := other.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("another client, after the inner handles were released: %v; want ErrHeld", err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	lock(t, other, "x")
}

func TestTheLastHandleReleasesTheLock(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c, other := s.ready(s.client(calm)), s.ready(s.client(calm))
	outer := lock(t, c, "x")
	inner, err := c.Mutex("x").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := outer.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cause := context.Cause(outer.Context()); !errors.Is(cause, holdfast.ErrReleased) {
		t.Errorf("the outer handle's context ended by %v", cause)
	}
	if err := inner.Context().Err(); err != nil {
		t.Errorf("the inner handle ended with the outer one: %v", err)
	}
	if _, err := other.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("another client got %v; want ErrHeld", err)
	}
	for what, err := range map[string]error{"Unlock": outer.Unlock(t.Context()), "Extend": outer.Extend(t.Context(), 3*time.Second)} {
		if !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("%s of a released handle: %v; want ErrReleased", what, err)
		}
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(outer.Context()), 10*time.Second)
	defer cancel()
	if _, err := c.Mutex("x").Lock(bounded); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a lock under a released handle: %v; want ErrReleased", err)
	}
	if err := inner.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := inner.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a second Unlock: %v", err)
	}
	lock(t, other, "x")
}

func TestGoroutinesUnderOneLeaseExcludeEachOther(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(longLived))
	outer := lock(t, c, "x")
	var inside, most atomic.Int32
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			for range 50 {
				err := level(outer.Context(), c, 2, func(context.Context) error {
					most.Store(max(most.Load(), inside.Add(1)))
					defer inside.Add(-1)
					for range 20 {
						runtime.Gosched()
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if most.Load() != 1 {
		t.Errorf("%d goroutines were inside at once", most.Load())
	}
	held, err := c.Mutex("x").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	var by *holdfast.HeldError
	if _, err := c.Mutex("x").TryLock(outer.Context()); !errors.As(err, &by) || !by.Holder().Own {
		t.Errorf("TryLock beside another handle: %v; want that this very client holds it", err)
	}
	ctx, cancel := context.WithTimeout(outer.Context(), 10*time.Second)
	defer cancel()
	said := make(chan error, 1)
	told := holdfast.OnWait(func(err error) { said <- err; cancel() })
	if _, err := c.Mutex("x", told).Lock(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
	select {
	case err := <-said:
		if !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("OnWait got %v", err)
		}
	default:
		t.Error("OnWait got nothing")
	}
	if err := held.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Mutex("x").TryDo(outer.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("after a wait was cancelled: %v", err)
	}
}

func TestALossEndsEveryHandle(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client())
	outer := lock(t, c, "x")
	inner, err := c.Mutex("x").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() { _, err := c.Mutex("x").Lock(context.WithoutCancel(outer.Context())); waits <- err }()
	for _, srv := range s.servers {
		deleteBoth(t, srv, "x")
	}
	for what, l := range map[string]*holdfast.Lease{"outer": outer, "inner": inner} {
		redistest.Eventually(t, 15*time.Second, "the "+what+" handle to end", func() bool { return l.Context().Err() != nil })
		var lost *holdfast.LostError
		if cause := context.Cause(l.Context()); !errors.As(cause, &lost) || !lost.Gone {
			t.Errorf("the %s handle ended by %v", what, cause)
		}
		if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("Unlock of the %s handle: %v", what, err)
		}
	}
	if err := <-waits; !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("a goroutine that waited for a handle: %v", err)
	}
	if _, err := c.Mutex("x").Lock(context.WithoutCancel(inner.Context())); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("a lock under a lost lease: %v; want ErrLost", err)
	}
	lock(t, c, "x")
}

func TestHandlesShareTheLongestTTLAndTheLatestInstant(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c, other := s.ready(s.client(longLived)), s.ready(s.client(longLived))
	outer := lock(t, c, "x", holdfast.WithTTL(2*time.Second))
	inner, err := c.Mutex("x", holdfast.WithTTL(10*time.Second)).Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := outer.Extend(t.Context(), 3*time.Second); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(inner.Deadline()); left < 5*time.Second {
		t.Errorf("the lease is valid for %s; want nearly 10 s, the longest TTL of its handles", left)
	}
	begun := time.Now()
	if err := inner.UnlockAt(t.Context(), begun.Add(3*time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := outer.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = other.Mutex("x").TryLock(t.Context())
	var held *holdfast.HeldError
	if !errors.As(err, &held) || !held.Holder().Left {
		t.Errorf("after an inner UnlockAt: %v; want that the name is kept", err)
	}
	lock(t, other, "x")
	if took := time.Since(begun); took < 3*time.Second-3*window/2 {
		t.Errorf("the name was free after %s; want 3 s", took)
	}
}

func TestAWaitForTheOwnClientSaysSo(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(calm))
	l := lock(t, c, "x")
	_, err := c.Mutex("x").TryLock(t.Context())
	if err == nil || !strings.Contains(err.Error(), "held by this very client") || !strings.Contains(err.Error(), "the context of its lease") {
		t.Errorf("without the context of the lease: %v", err)
	}
	if _, err := c.Mutex("x").TryLock(l.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Mutex("x").TryLock(l.Context())
	if err == nil || !strings.HasPrefix(err.Error(), `holdfast: lock "x": another handle of this lease has it`) || strings.Contains(err.Error(), "the context of its lease") {
		t.Errorf("under the lease, beside another handle: %v", err)
	}
}

func TestAHandleHasTheValuesOfItsOwnCall(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(calm))
	type key string
	outer, err := c.Mutex("x").Lock(context.WithValue(t.Context(), key("a"), "outer"))
	if err != nil {
		t.Fatal(err)
	}
	inner, err := c.Mutex("x").Lock(context.WithValue(outer.Context(), key("b"), "inner"))
	if err != nil {
		t.Fatal(err)
	}
	if ctx := inner.Context(); ctx.Value(key("a")) != "outer" || ctx.Value(key("b")) != "inner" {
		t.Errorf("values %v and %v", ctx.Value(key("a")), ctx.Value(key("b")))
	}
	derived, cancel := context.WithCancel(inner.Context())
	defer cancel()
	if err := inner.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(context.Cause(derived), holdfast.ErrReleased) || outer.Context().Err() != nil {
		t.Errorf("a context made from the handle's ended by %v, the outer one by %v", context.Cause(derived), outer.Context().Err())
	}
	if err := outer.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}
