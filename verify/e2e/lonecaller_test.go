package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A lone caller carries its calls itself. When its context has ended, it must not wait for a node that hangs.
func TestALoneCallersContextEndsItsWaitForANodeThatHangs(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	patient := func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.NodeTimeout = 8*time.Second, 8*time.Second, 4*time.Second }
	for name, call := range map[string]func(ctx context.Context, c *holdfast.Client, held *holdfast.Lease) error{
		"Lock": func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
			_, err := c.Mutex("y").Lock(ctx)
			return err
		},
		"TryLock": func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
			_, err := c.Mutex("y").TryLock(ctx)
			return err
		},
		"Extend": func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error {
			return l.Extend(ctx, 8*time.Second)
		},
		"Unlock": func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error { return l.Unlock(ctx) },
		"UnlockAt": func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error {
			return l.UnlockAt(ctx, time.Now().Add(time.Second))
		},
	} {
		c := s.ready(s.client(patient))
		held := warm(t, c, "held by "+name)
		s.servers[0].Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		began := time.Now()
		err := call(ctx, c, held)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > time.Second {
			t.Errorf("%s returned after %s: %v", name, took, err)
		}
		cancel()
		s.servers[0].Thaw()
		// A call that was cut off leaves no trace, so another client gets the names.
		other := s.ready(s.client(patient))
		within, stop := context.WithTimeout(t.Context(), 4*time.Second)
		if name == "Unlock" || name == "UnlockAt" {
			l, err := other.Mutex("held by " + name).Lock(within)
			if err != nil {
				t.Errorf("after %s the name stays taken: %v", name, err)
			} else {
				l.Unlock(t.Context())
			}
		}
		l, err := other.Mutex("y").Lock(within)
		if err != nil {
			t.Errorf("after %s an attempt left a lock: %v", name, err)
		} else {
			l.Unlock(t.Context())
		}
		stop()
		other.Close()
		c.Close()
	}
}

// warm makes calls until c carries its next calls itself. Then it returns a lease.
func warm(t *testing.T, c *holdfast.Client, name string) *holdfast.Lease {
	t.Helper()
	for range 8 {
		lock(t, c, name).Unlock(t.Context())
	}
	return lock(t, c, name)
}

func TestCloseEndsTheWaitOfALoneCallerForANodeThatHangs(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.NodeTimeout = 8*time.Second, 8*time.Second, 4*time.Second }))
	warm(t, c, "y")
	s.servers[0].Freeze()
	defer s.servers[0].Thaw()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Mutex("x").Lock(context.Background())
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond) // the call is under way, or has not begun; it must end in both cases
	go c.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("the wait ended with: %v; want ErrClosed", err)
		}
	case <-time.After(2 * time.Second):
		t.Error("the wait goes on after Close")
	}
}
