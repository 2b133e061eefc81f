package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestCloseEndsAWaitAndLeavesNothingOfIt(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		holder := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL, c.TTL = 5*time.Second, 5*time.Second }))
		lease := lock(t, holder, "x")
		c := s.ready(s.client(func(c *holdfast.Config) {
			c.MaxTTL, c.TTL, c.RetryDelay = 5*time.Second, 5*time.Second, 2*time.Second
		}))
		waiting, ended := make(chan struct{}), make(chan error)
		go func() {
			var once sync.Once
			_, err := c.Mutex("x", holdfast.OnWait(func(error) { once.Do(func() { close(waiting) }) })).Lock(t.Context())
			ended <- err
		}()
		<-waiting
		start := time.Now()
		c.Close()
		err := <-ended
		if !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("the wait ended with: %v; want ErrClosed", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("the wait ended %s after Close", took)
		}
		lease.Unlock(t.Context())
	})
}

// Close leaves no trace of the calls that it interrupts: neither a lease nor a partial grant.
func TestCloseAmongAttemptsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	slow := func(c *holdfast.Config) { c.MaxTTL, c.NodeTimeout = slowTTL, 2*time.Second }
	s.ready(s.client(slow))
	for round := range 20 {
		c := s.ready(s.client(slow))
		name := func(i int) string { return string(rune('a'+round)) + string(rune('a'+i)) }
		var wait sync.WaitGroup
		begun := make(chan struct{}, 40)
		for i := range 20 {
			wait.Go(func() {
				for {
					begun <- struct{}{}
					lease, err := c.Mutex(name(i)).Lock(t.Context())
					if err != nil {
						if !errors.Is(err, holdfast.ErrClosed) {
							t.Errorf("Lock while the client is closed: %v", err)
						}
						return
					}
					if err := lease.Unlock(t.Context()); err != nil && !errors.Is(err, holdfast.ErrReleased) {
						t.Errorf("Unlock while the client is closed: %v", err)
					}
				}
			})
		}
		go func() {
			for range begun {
			}
		}()
		<-time.After(time.Duration(round) * 500 * time.Microsecond)
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wait.Wait()
		close(begun)
		for i := range 20 {
			redistest.Eventually(t, soon, "nothing left of "+name(i), func() bool { return s.ours(name(i)) == "" })
		}
	}
}

// Close waits for other calls only for a limited time, because an OnWait that calls Close waits for itself. If such a
// call gets a lease after that, no caller owns the lease, and no timer would end it.
func TestALockThatComesAfterCloseGaveUpWaitingIsNobodys(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	long := func(c *holdfast.Config) { c.MaxTTL = slowTTL } // no lease ends by itself before the test's last look
	holder := s.ready(s.client(long))
	for round := range 4 {
		name := string(rune('a' + round))
		held := lock(t, holder, name)
		c := s.ready(s.client(long, func(c *holdfast.Config) { c.NodeTimeout = time.Second })) // Close gives up waiting after that
		lock(t, c, name+name)
		calls := 0
		m := c.Mutex(name, holdfast.OnWait(func(error) {
			if calls++; calls == 2 { // the call is in the queue by then
				time.AfterFunc(50*time.Millisecond, func() { held.Unlock(context.Background()) })
				c.Close()
			}
		}))
		lease, err := m.Lock(t.Context())
		if err == nil && context.Cause(lease.Context()) == nil {
			t.Fatalf("round %d: a closed client holds a lease whose context has not ended, and will not: its deadline is in %s", round, time.Until(lease.Deadline()))
		}
		if !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("round %d: Lock of a closed client: %v; want ErrClosed", round, err)
		}
		// On a busy machine Close does not wait for the answer to the release, because the client's calls end after 1
		// s.
		redistest.Eventually(t, soon, fmt.Sprintf("round %d: what the client held to be given back", round), func() bool { return s.ours(name+name) == "" })
	}
}
