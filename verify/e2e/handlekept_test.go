package e2e

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A handle keeps the name taken with UnlockAt, and another handle is still in use when the client closes. The name is
// kept all the same: UnlockAt has returned nil.
func TestCloseKeepsANameThatAHandleKeepsTaken(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(longLived)), s.ready(s.client(longLived))
	outer := lock(t, c, "x")
	inner, err := c.Mutex("x").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(4 * time.Second)
	if err := inner.UnlockAt(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("another client gets the lock %s too early: %v", time.Until(at).Round(time.Millisecond), err)
	}
}

// A handle was unlocked, and another one is still in use when the client closes. Close frees the name at once.
func TestCloseFreesANameWhoseHandlesKeepNothing(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	for name, end := range map[string]func(l *holdfast.Lease) error{
		"Unlock":                   func(l *holdfast.Lease) error { return l.Unlock(t.Context()) },
		"UnlockAt a past time":     func(l *holdfast.Lease) error { return l.UnlockAt(t.Context(), time.Now().Add(-time.Hour)) },
		"UnlockAt the oldest time": func(l *holdfast.Lease) error { return l.UnlockAt(t.Context(), time.Unix(-1<<60, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			c, other := s.ready(s.client(longLived)), s.ready(s.client(longLived))
			outer := lock(t, c, "x")
			inner, err := c.Mutex("x").Lock(outer.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := end(inner); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			l, err := other.Mutex("x").TryLock(t.Context())
			if err != nil {
				t.Fatalf("the closed client keeps the name taken: %v", err)
			}
			unlock(t, l)
		})
	}
}
