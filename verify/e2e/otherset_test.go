package e2e

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// An operator uses one node of a set of three. That node votes for others, so it must not show a held lock as free, and
// an Unlock must change nothing.
func TestALookWithAnotherListOfNodesIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	l := lock(t, c, "x")
	p, err := c.Semaphore("pool", 2).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	few := s.client(func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(asUser(*c, s.urls[:1])...)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = nodes
	})
	check := func(what string, err error) {
		t.Helper()
		var un *holdfast.UnavailableError
		if !errors.As(err, &un) || un.Nodes[0].Reason != verdict.ReasonMisconfigured {
			t.Errorf("%s: %v, want a node with other settings", what, err)
		}
	}
	_, err = few.Status(t.Context(), "x")
	check("Status", err)
	_, err = few.Status(t.Context(), "free")
	check("Status of a free name", err)
	_, err = few.Semaphore("pool", 2).Status(t.Context())
	check("Status of a semaphore", err)
	_, err = admin.Unlock(t.Context(), few, "x", admin.UnlockOptions{})
	check("Unlock", err)
	_, err = admin.Unlock(t.Context(), few, "pool", admin.UnlockOptions{Slots: 2})
	check("Unlock of a slot", err)
	_, err = few.Value(t.Context(), "x")
	check("Value", err)
	_, err = admin.NamesWithValue(t.Context(), few)
	check("NamesWithValue", err)
	for _, err := range admin.List(t.Context(), few, admin.ListOptions{}) {
		check("List", err)
	}
	if st, err := c.Status(t.Context(), "x"); err != nil || !st.Held || len(st.Nodes) != 3 || !st.Nodes[0].Held() {
		t.Errorf("the lock has changed: %+v %v", st, err)
	}
	unlock(t, l, p)
}
