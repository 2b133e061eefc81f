package redisson_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A grant may arrive while Close waits. Close releases it before it closes the connections.
func TestCloseReleasesAGrantThatArrivesMeanwhile(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	kit.CloseWhileLocking(t, s, func() (func() (*redisson.Lease, error), func() error) {
		c := open(t, []string{s.URL()}, nil)
		return func() (*redisson.Lease, error) { return c.Mutex("orders").TryLock(t.Context()) }, c.Close
	})
}
