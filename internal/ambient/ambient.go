// Package ambient has the surroundings of a client: its clock and its source of random numbers. A simulated node set
// supplies its own, so that one seed decides everything that happens.
package ambient

import (
	"math/rand/v2"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Ambient is a clock and a source of random numbers. Both are safe for concurrent use.
type Ambient struct {
	Clock  clock.Clock
	Random func() uint64
}

// Of returns the surroundings for a client of n. A simulated node supplies its own; for any other node they are those
// of the platform. Code outside this module cannot name the result type of the method. So no driver can supply a clock
// by accident.
func Of(n node.Node) Ambient {
	if s, ok := n.(interface{ Ambient() Ambient }); ok {
		return s.Ambient()
	}
	return Ambient{Clock: clock.Steady(), Random: rand.Uint64}
}
