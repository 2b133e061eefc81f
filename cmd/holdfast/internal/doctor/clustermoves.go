package doctor

import (
	"fmt"
	"slices"
)

// This file examines the hash slots of a Redis Cluster that are being moved.

// moves finds hash slots on their way between two servers.
func (e *exam) moves(seen []*patient) {
	addrs, n := map[string]string{}, 0
	for _, p := range seen {
		for _, m := range p.server.view {
			addrs[m.id] = m.addr
		}
	}
	for _, p := range seen {
		for _, m := range p.server.view {
			if !m.self {
				continue
			}
			for _, one := range m.moves {
				if n++; n > mostNames {
					continue
				}
				way := "from"
				if one.away {
					way = "to"
				}
				other := addrs[one.other]
				if other == "" {
					other = "a server that is gone"
				}
				fix := "if no reshard runs, the move has stopped halfway: " + p.all("fix HOST")
				if from := e.servers[other]; !one.away && from != nil && from.view != nil && !from.gives(one.slot) {
					fix += "; if that fails, because both servers have a key of the slot: " + p.redis("CLUSTER SETSLOT "+one.slot+" STABLE")
				}
				p.find("moves", Warn, fmt.Sprintf("hash slot %s is being moved %s %s: until the end of the move some calls for its names wait or fail (ASK, TRYAGAIN)", one.slot, way, other), fix)
			}
		}
	}
	switch {
	case n == 0:
		e.find("moves", "", OK, "no hash slot is being moved", "")
	case n > mostNames:
		e.find("moves", "", Note, fmt.Sprintf("%d more", n-mostNames), seen[0].all("check HOST")+" shows all")
	}
}

// gives reports whether the server is moving a hash slot to another one.
func (s *server) gives(slot string) bool {
	return slices.ContainsFunc(s.view, func(m member) bool {
		return m.self && slices.ContainsFunc(m.moves, func(one move) bool { return one.away && one.slot == slot })
	})
}
