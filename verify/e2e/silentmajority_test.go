package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// Two of three servers hang. A client that knew them says that they do not answer, as a new client does, and not that
// they refuse writes.
func TestAClientThatKnewTheOthersSaysThatTheyDoNotAnswer(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	short := func(c *holdfast.Config) { c.NodeTimeout = 100 * time.Millisecond }
	c := s.ready(s.client(short))
	s.servers[1].Freeze()
	s.servers[2].Freeze()
	defer s.servers[1].Thaw()
	defer s.servers[2].Thaw()
	var said string
	redistest.Eventually(t, 60*time.Second, "the vote of the healthy node to wait for the others", func() bool {
		n := admin.Nodes(t.Context(), c)[0]
		said = n.Said()
		return n.Reason == verdict.ReasonUnsettled
	})
	if want := "this node answers; too few others answer"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}
