package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// With Reentrant(false) a lock under its own lease is an error at once. The option changes nothing for other names, for
// other clients, and for contexts that do not belong to the lease.
func TestALockInsideItselfIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(calm))
	elsewhere := plainSet(t, 1) // another node set, as when clients move from one set to another
	other := elsewhere.ready(elsewhere.client(calm))
	once := holdfast.Reentrant(false)
	x, y := c.Mutex("x", once), c.Mutex("y")
	never := func(context.Context) error { t.Error("the work inside was run"); return nil }
	runs := 0
	err := x.Do(t.Context(), func(ctx context.Context) error {
		bounded, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		inside := func(what string, err error) {
			if !errors.Is(err, holdfast.ErrReentrant) || errors.Is(err, holdfast.ErrHeld) || bounded.Err() != nil {
				t.Errorf("%s: %v; want an error that says so, at once", what, err)
			}
		}
		inside("Do inside Do", x.Do(bounded, never))
		inside("by another Mutex", c.Mutex("x", once).Do(bounded, never))
		_, err := c.Mutex("x", once).Lock(bounded)
		inside("Lock", err)
		inside("TryDo", x.TryDo(bounded, never))
		return y.Do(bounded, func(ctx context.Context) error {
			runs++
			inside("behind another lock", x.Do(ctx, never))
			return other.Mutex("x").Do(ctx, func(context.Context) error { runs++; return nil })
		})
	})
	if err != nil || runs != 2 {
		t.Errorf("the work ran %d times: %v", runs, err)
	}
}

// TryDo does not wait, and it releases the lock. Its work ends with the caller's context and with the lock.
func TestTryDoTakesAFreeLockAndItsWorkEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	a, b := s.ready(s.client(calm)).Mutex("x"), s.ready(s.client(calm)).Mutex("x")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	err := a.TryDo(ctx, func(work context.Context) error {
		if err := b.TryDo(t.Context(), func(context.Context) error { t.Error("two have it"); return nil }); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("the second: %v", err)
		}
		cancel(why)
		select {
		case <-work.Done():
			return context.Cause(work)
		case <-time.After(20 * time.Second):
			return errors.New("the work's context goes on")
		}
	})
	if !errors.Is(err, why) {
		t.Errorf("the work returned %v; want %v", err, why)
	}
	if err := b.TryDo(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("when it was given back: %v", err)
	}
}
