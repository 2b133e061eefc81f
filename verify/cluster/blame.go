//go:build linux

package cluster

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// moved is one move of the slot of a name, or the try of one.
type moved struct {
	name         int
	from, to     *redistest.Server
	began, ended int64
}

// blame returns the strike that may have ended a hold, nil if none may. It is one that hit the shard of the name, or a
// shard between which and another one the slot moved meanwhile. The effect of a strike lasts until the cluster has
// settled, and for another TTL: until then a lease that was not renewed ends.
func blame(s stay, strikes []strike, moves []moved) *strike {
	for i := range strikes {
		k := &strikes[i]
		until := k.back + int64(ttl)
		if s.Leave < k.at || s.Leave > until {
			continue
		}
		if slices.Contains(k.names, s.Name) || slices.ContainsFunc(moves, func(m moved) bool {
			return m.name == s.Name && m.began <= until && m.ended >= k.at && (slices.Contains(k.servers, m.from) || slices.Contains(k.servers, m.to))
		}) {
			return k
		}
	}
	return nil
}
