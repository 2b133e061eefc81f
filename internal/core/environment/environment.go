// Package environment has the surroundings of a client: its clock and its source of random numbers. A simulated node set
// supplies its own, so that one seed decides everything that happens.
package environment

import (
	"math/rand/v2"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Sources is a clock and a source of random numbers. Both are safe for concurrent use.
type Sources struct {
	Clock  clock.Clock
	Random func() uint64
}

// Of returns the surroundings for a client of n. A simulated node supplies its own; for any other node they are those
// of the platform. Code outside this module cannot name the result type of the method. So no driver can supply a clock
// by accident.
func Of(n node.Node) Sources {
	if s, ok := n.(interface{ Environment() Sources }); ok {
		return s.Environment()
	}
	return Sources{Clock: clock.Steady(), Random: rand.Uint64}
}
