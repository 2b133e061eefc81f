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
// does not know the locks that it granted before.
func (a *app) tellLocks(client *holdfast.Client, tell func(format string, args ...any)) {
	ctx, cancel := context.WithTimeout(context.Background(), locksSought)
	defer cancel()
	found, known := 0, true
	for s, err := range admin.List(ctx, client, admin.ListOptions{AsStored: true}) {
		if err != nil {
			known = false
			tell("it is not known which locks these nodes have: %s", trimmed(err))
			break
		}
		i := slices.IndexFunc(s.Nodes, verdict.Answer.Held)
		if i < 0 {
			continue
		}
		if found++; found <= locksNamed {
			tell("lock %q is alive: %s", s.Name, s.Nodes[i])
		}
	}
	switch {
	case found == 0 && known:
		tell("no node that answers knows a lock that is alive. A node that lost its data does not know the locks that it had")
	case found > locksNamed:
		tell("%d more locks are alive: holdfast list", found-locksNamed)
	}
}
