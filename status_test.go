package holdfast_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A majority that answers does not tell that a lock is free, if who is silent may have the
// vote that a holder needs.
func TestStatusTakesNoSilenceForFreedom(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(slow, func(c *holdfast.Config) { c.MaxTTL, c.TTL = time.Minute, time.Minute })) // no renewal meanwhile
	lease := lock(t, c, "x")
	defer lease.Unlock(t.Context())
	redistest.Eventually(t, 5*time.Second, "the lease on all nodes", func() bool {
		return s.plain(0, "x") == lease.Owner() && s.plain(1, "x") == lease.Owner() && s.plain(2, "x") == lease.Owner()
	})
	s.servers[2].Freeze()
	if st, err := c.Status(t.Context(), "x"); err != nil || !st.Held || st.Owner != lease.Owner() {
		t.Errorf("with a node of three frozen: %+v, %v; want that it is held", st, err)
	}
	s.servers[1].MustDo(t, "DEL", "x", "{x}:holdfast")
	st, err := c.Status(t.Context(), "x")
	if !errors.Is(err, holdfast.ErrUnavailable) || st.Held {
		t.Errorf("one node frozen, one without it: %+v, %v; want ErrUnavailable", st, err)
	}
	for _, said := range []string{": held by " + (&holdfast.HeldError{Owner: lease.Owner()}).Holder(), ": free", ": timed out"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v; want that a node says %q", err, said)
		}
	}
	if st, err := c.Status(t.Context(), "y"); err != nil || st.Held {
		t.Errorf("a name that nobody locked: %+v, %v; want that it is free", st, err)
	}
	s.servers[2].Thaw()
	if st, err := c.Status(t.Context(), "x"); err != nil || !st.Held || st.Owner != lease.Owner() {
		t.Errorf("with the frozen one back: %+v, %v; want that it is held", st, err)
	}
}
