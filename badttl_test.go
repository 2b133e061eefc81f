package holdfast_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A TTL that no lock can have: the error names the lock and the bounds, and matches a fact.
func TestABadTTLIsAFactAndNamesItsLock(t *testing.T) {
	t.Parallel()
	c, err := holdfast.New(holdfast.Config{Nodes: nowhere(t, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m := c.Mutex("x", holdfast.WithTTL(1))
	_, try := m.TryLock(t.Context())
	_, wait := m.Lock(t.Context())
	for _, err := range []error{try, wait} {
		var bad *holdfast.ConfigError
		if !errors.Is(err, holdfast.ErrBadTTL) || errors.Is(err, holdfast.ErrBadName) || !errors.As(err, &bad) || bad.Field != "TTL" {
			t.Errorf("%v is not ErrBadTTL", err)
		}
		if want := `holdfast: lock "x": TTL is 1ns; it must be from 8 × Window = 2s to MaxTTL = 10s`; err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// A name that is kept by UnlockAt has an owner whose lease has ended, and what a wait for it says is what is left now.
func TestAKeptNameIsHeldByWhoLeftIt(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client())
	lease := lock(t, c, "x")
	if err := lease.UnlockAt(t.Context(), time.Now().Add(900*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	st, err := c.Status(t.Context(), "x")
	if err != nil || !st.Held || !st.Left || !strings.HasPrefix(st.Owner, lease.Owner()) {
		t.Errorf("%+v, %v", st, err)
	}
	_, err = c.Mutex("x").TryLock(t.Context())
	var held *holdfast.HeldError
	if !errors.As(err, &held) || !held.Left || held.ExpiresIn <= 0 {
		t.Errorf("%+v, %v", held, err)
	}
	other := lock(t, c, "y")
	defer other.Unlock(t.Context())
	if st, err := c.Status(t.Context(), "y"); err != nil || st.Left {
		t.Errorf("of a lease: %+v, %v", st, err)
	}
}
