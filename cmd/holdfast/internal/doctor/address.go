package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/node"
)

// dials is the number of connections that show where an address leads. A balancer that chooses one of two servers at
// random is missed once in 256 examinations.
const dials = 8

// address opens connections to the node, and compares the servers that they lead to.
func (p *patient) address(ctx context.Context) {
	n, is := p.node.(node.Identified)
	if !is || !p.wants("address") {
		p.find("address", Note, "not known: the driver cannot tell which server a connection leads to", "use the drivers of Holdfast")
		return
	}
	var runs []string
	var last node.Identity
	for range dials {
		id, err := p.identify(ctx, n)
		if last.Moved, last.Returned = id.Moved, id.Returned; err != nil {
			continue // the connection led to another server than one that came meanwhile
		}
		if id.Run != "" && !slices.Contains(runs, id.Run) {
			runs = append(runs, id.Run)
		}
	}
	switch {
	case last.Returned > 0:
		p.find("address", Bad, fmt.Sprintf("%d new connections lead to %d servers in turns, so it does not vote", dials, max(len(runs), 2)),
			"give the address of one server, not of a load balancer or of a name with several servers")
	case len(runs) > 1 || last.Moved > 0:
		p.find("address", Warn, "it has just moved from one server to another", "look again: holdfast doctor --only address")
	case len(runs) == 0:
		p.find("address", Note, "not known: the server does not tell its run_id", "see the check acl")
	default:
		p.find("address", OK, "leads to one server", "")
	}
}

func (p *patient) identify(ctx context.Context, n node.Identified) (node.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return n.Identify(ctx)
}
