package e2e

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A lock whose name looks like a slot's key is not a holder of that slot.
func TestTheStatusOfASemaphoreShowsNoLock(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(patient))
	name := nodescript.SlotKey("x", 0) + ":plain"
	lock(t, c, name)
	st, err := c.Semaphore("x", 2).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Held {
		t.Errorf("with a lock of the name %q and a semaphore that nobody uses, the status shows %+v", name, st.Holders)
	}
}
