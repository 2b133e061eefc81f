package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
)

// A client that lost a lock learns the new owner from the cause of the context and from Unlock.
func TestALossNamesTheThief(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client())
		l := lock(t, c, "x")
		for _, srv := range s.servers {
			replaceBoth(t, srv, "x")
		}
		<-l.Context().Done()
		for what, err := range map[string]error{"the context": context.Cause(l.Context()), "Unlock": l.Unlock(t.Context())} {
			var lost *holdfast.LostError
			if !errors.Is(err, holdfast.ErrLost) || !errors.As(err, &lost) {
				t.Errorf("%s says %v; want a *LostError", what, err)
				continue
			}
			if lost.Name != "x" || !lost.Gone || lost.Owner != thief || !lost.Foreign || len(lost.Nodes()) != len(s.servers) ||
				!strings.Contains(err.Error(), "taken by a foreign key") {
				t.Errorf("%s says %v: %+v", what, err, lost)
			}
		}
	})
}
