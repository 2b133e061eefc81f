package cli

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/verdict"
)

const (
	locksNamed  = 5               // trust names so many locks
	locksSought = 5 * time.Second // trust looks for locks for this time
)

// tellLocks says which locks the nodes know, before an operator vouches that none is alive. A node that lost its data
// does not know the locks that it granted before. told has the names that were said before, and gets the new ones.
// tellLocks returns the number of locks that are new, and whether it is known that no node has any lock.
func tellLocks(client *holdfast.Client, told map[string]bool, tell func(format string, args ...any)) (news int, none bool) {
	ctx, cancel := context.WithTimeout(context.Background(), locksSought)
	defer cancel()
	found, known := 0, true
	for s, err := range admin.List(ctx, client, admin.ListOptions{AsStored: true}) {
		if err != nil {
			known = false
			tell("the nodes may have more locks than those named here: %s", trimmed(err))
			break
		}
		i := slices.IndexFunc(s.Nodes, verdict.Answer.Held)
		if i < 0 {
			if bad := slices.IndexFunc(s.Nodes, func(n verdict.Answer) bool { return n.Reason == verdict.ReasonCorrupt }); bad >= 0 {
				known = false
				tell("lock %q may be alive: %s", s.Name, s.Nodes[bad])
			}
			continue
		}
		found++
		if told[s.Name] {
			continue
		}
		told[s.Name] = true
		if news++; news <= locksNamed {
			tell("lock %q is alive: %s", s.Name, s.Nodes[i])
		}
	}
	if news > locksNamed {
		tell("%d more locks are alive: holdfast list", news-locksNamed)
	}
	return news, found == 0 && known
}
