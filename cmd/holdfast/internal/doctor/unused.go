package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
)

// spareUnused makes the client leave nodes alone that were never used. This command may have a wrong list or wrong
// settings, and such a node would keep them: it would then refuse the right clients.
func spareUnused(ctx context.Context, client *holdfast.Client) {
	sets, err := inside.Of(client).Sets(ctx)
	if err != nil {
		return // the questions that follow meet the same error
	}
	for _, s := range sets {
		s.Fan.SpareUnused()
	}
}

// neverUsed reports whether a node has no record of a client.
func neverUsed(n verdict.Answer) bool { return errors.Is(n.Err, fanout.ErrNeverUsed) }

// unused adds the findings about a node that was never used.
func (e *exam) unused(n verdict.Answer) {
	e.find("votes", n.Node, Warn, n.Said()+", so it does not vote yet", fmt.Sprintf("if the address is right, nothing: the first client, "+
		"or holdfast nodes, begins the quarantine of a new node, which lasts up to %s", e.MaxTTL+e.Window))
	for _, check := range []string{"members", "protocol", "settings"} {
		e.find(check, n.Node, Note, "not known: the node was never used", "see the check votes")
	}
}
