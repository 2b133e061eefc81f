package setnx_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A grant may arrive while Close waits. Close releases it before it closes the connections.
func TestCloseReleasesAGrantThatArrivesMeanwhile(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	kit.CloseWhileLocking(t, s, func() (func() (*setnx.Lease, error), func() error) {
		c := open(t, s.URL(), nil)
		return func() (*setnx.Lease, error) { return c.Mutex("lock.foo").TryLock(t.Context()) }, c.Close
	})
}
