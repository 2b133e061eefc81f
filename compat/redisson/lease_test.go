package redisson_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func shortTTL(c *redisson.Config) { c.TTL = 600 * time.Millisecond }

// A lease is renewed for three TTLs, and its key never expires.
func TestALeaseIsRenewed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	const ttl = 2 * time.Second
	c := open(t, []string{s.URL()}, func(c *redisson.Config) { c.TTL = ttl })
	l := mustLock(t, c, "orders")
	first := l.Deadline()
	redistest.Eventually(t, within, "three TTLs later the lease is held", func() bool {
		if hash(t, s, "orders")[l.Owner()] != "1" {
			t.Fatalf("the lock is gone: %v", l)
		}
		return l.Deadline().Sub(first) > 3*ttl
	})
	mustUnlock(t, l)
	empty(t, s)
}

// A renewal never shortens: neither the key's time nor the deadline, also after Extend with a shorter TTL.
func TestARenewalNeverShortens(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	l := mustLock(t, c, "orders")
	if err := l.Extend(t.Context(), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	before := l.Deadline()
	if left := s.MustDo(t, "PTTL", "orders").(int64); left < 590_000 {
		t.Errorf("the key expires in %d ms after Extend by 10 minutes", left)
	}
	if err := l.Extend(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if d := before.Sub(kit.Deadline(l)); d > time.Millisecond {
		t.Errorf("the deadline moved back by %v", d)
	}
	if left := s.MustDo(t, "PTTL", "orders").(int64); left < 580_000 {
		t.Errorf("the key expires in %d ms after Extend by a second", left)
	}
	inner := mustLockIn(t, c, l)
	mustUnlock(t, inner)
	if left := s.MustDo(t, "PTTL", "orders").(int64); left < 580_000 {
		t.Errorf("the key expires in %d ms after a nested Unlock", left)
	}
	mustUnlock(t, l)
}

// Handles raise and lower the count on the server; the last one releases.
func TestTheReentrantCountIsOnTheServer(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	outer := mustLock(t, c, "orders")
	inner := mustLockIn(t, c, outer)
	third := mustLockIn(t, c, inner)
	if got := hash(t, s, "orders"); len(got) != 2 || got[outer.Owner()] != "3" || third.Count() != 3 {
		t.Errorf("the hash is %v with three handles", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	merged, stop := context.WithCancel(outer.Context())
	defer context.AfterFunc(ctx, stop)()
	if _, err := c.Mutex("orders").Lock(merged); !errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, context.Canceled) {
		t.Errorf("a sibling under the first lease: %v", err)
	}
	if _, err := c.Mutex("orders").TryLock(outer.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLock of a sibling: %v", err)
	}
	if _, err := c.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLock without the context: %v", err)
	}
	mustUnlock(t, outer) // not the last one
	if got := hash(t, s, "orders"); got[outer.Owner()] != "2" {
		t.Errorf("the hash is %v with two handles", got)
	}
	if _, err := c.Mutex("orders").Lock(outer.Context()); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("Lock under a released handle: %v", err)
	}
	mustUnlock(t, third)
	if got := hash(t, s, "orders"); got[outer.Owner()] != "1" || inner.Context().Err() != nil {
		t.Errorf("the hash is %v with one handle", got)
	}
	mustUnlock(t, inner)
	empty(t, s)
}

// Goroutines under one lease exclude each other.
func TestSiblingsUnderALeaseExcludeEachOther(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	l := mustLock(t, c, "orders")
	var wait sync.WaitGroup
	n := 0 // without protection
	for range 8 {
		wait.Go(func() {
			for range 10 {
				err := c.Mutex("orders").Do(l.Context(), func(context.Context) error { n++; return nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n != 80 {
		t.Errorf("%d of 80 increments", n)
	}
	mustUnlock(t, l)
	empty(t, s)
}

// forceUnlock of Java is seen at the next renewal: the context ends with ErrLost, and Unlock says the same.
func TestAForceUnlockIsSeenAtTheNextRenewal(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, shortTTL)
	l := mustLock(t, c, "orders")
	j := java{t: t, server: s, name: "orders"}
	j.forceUnlock()
	j.lock(time.Hour) // the next holder
	<-l.Context().Done()
	var lost *redisson.LostError
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) || !errors.As(err, &lost) || !lost.Gone {
		t.Errorf("the cause is %v", err)
	}
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Unlock: %v", err)
	}
	if got := hash(t, s, "orders"); len(got) != 1 || got[thread] != "1" {
		t.Errorf("the next holder's hash is %v", got)
	}
}

// A lock that was deleted is also found by Unlock and Extend, before the next renewal.
func TestUnlockFindsADeletedLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	l := mustLock(t, c, "orders")
	s.MustDo(t, "DEL", "orders")
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Unlock: %v", err)
	}
	err := c.Mutex("orders").Do(t.Context(), func(ctx context.Context) error {
		l, _ := redisson.FromContext(ctx)
		s.MustDo(t, "SET", "orders", "a string")
		if err := l.Extend(ctx, time.Minute); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("Extend: %v", err)
		}
		if ctx.Err() == nil {
			t.Error("the context of fn goes on after the loss")
		}
		return errStop
	})
	if !errors.Is(err, holdfast.ErrLost) || !errors.Is(err, errStop) {
		t.Errorf("Do: %v", err)
	}
	if got := s.MustDo(t, "GET", "orders"); got != "a string" {
		t.Errorf("the string is %v now", got)
	}
}

// A server that hangs: the context ends before the key can expire, so before anybody else can have the lock.
func TestALossIsAnnouncedBeforeTheKeyExpires(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c := open(t, []string{p.URL()}, shortTTL)
	l := mustLock(t, c, "orders")
	p.BlackHole(true)
	time.Sleep(20 * time.Millisecond) // a renewal under way arrives or is lost
	// The server is reachable without the proxy. Both times are of this machine's clock.
	deadline, ends := l.Deadline(), time.UnixMilli(s.MustDo(t, "PEXPIRETIME", "orders").(int64))
	if !deadline.Before(ends) {
		t.Errorf("the lease ends at %v, after the key at %v", deadline, ends)
	}
	<-l.Context().Done()
	var lost *redisson.LostError
	if err := context.Cause(l.Context()); !errors.As(err, &lost) || lost.Gone {
		t.Errorf("the cause is %v", err)
	}
	p.BlackHole(false)
	empty(t, s)
}

// The reply to acquire is lost. The attempt is taken back, and the latch is gone with its time.
func TestALostReplyLeavesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c := open(t, []string{p.URL()}, func(c *redisson.Config) { c.TTL, c.NodeTimeout = 3*time.Second, 200*time.Millisecond })
	mustUnlock(t, mustLock(t, c, "orders")) // the connection and the scripts exist
	p.DropReplies(true)
	if _, err := c.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("TryLock: %v", err)
	}
	p.DropReplies(false)
	redistest.Eventually(t, within, "the attempt is taken back long before its TTL", func() bool {
		return s.MustDo(t, "EXISTS", "orders") == int64(0)
	})
	if keys := s.MustDo(t, "KEYS", "redisson_unlock_latch:{orders}:*").([]any); len(keys) != 1 {
		t.Errorf("the latches are %v, want one", keys)
	}
	empty(t, s)
}

// A request of an attempt that was cancelled comes after the release. The latch refuses it.
func TestALateAcquireLocksNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c := open(t, []string{p.URL()}, func(c *redisson.Config) { c.TTL, c.NodeTimeout = 20*time.Second, 200*time.Millisecond })
	mustUnlock(t, mustLock(t, c, "orders"))
	p.StallExisting() // what is sent on this connection arrives later; new connections work
	if _, err := c.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("TryLock: %v", err)
	}
	redistest.Eventually(t, within, "the latch", func() bool {
		return len(s.MustDo(t, "KEYS", "redisson_unlock_latch:{orders}:*").([]any)) == 1
	})
	before := calls(t, s)
	p.Release()
	redistest.Eventually(t, within, "the late acquire", func() bool { return calls(t, s) > before })
	if got := hash(t, s, "orders"); len(got) != 0 {
		t.Errorf("the late acquire locked: %v", got)
	}
}

// Close releases what is held, and ends waits.
func TestCloseReleasesAndEndsWaits(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, noPoll)
	l := mustLock(t, c, "orders")
	ended := make(chan error)
	go func() {
		_, err := c.Mutex("orders").Lock(t.Context())
		ended <- err
	}()
	subscribed(t, s, "orders")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("the wait ended with %v", err)
	}
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrClosed) || !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("the lease ended with %v", err)
	}
	empty(t, s)
}
