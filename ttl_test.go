package holdfast_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
)

// A TTL that no lock of a client can have is an error. The error names the lock and the bounds, and matches ErrBadTTL.
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
