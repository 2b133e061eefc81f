// Package ambient is what a client takes from its surroundings: time and chance. A
// simulated node set brings its own, so that one seed decides everything that happens.
package ambient

import (
	"math/rand/v2"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Ambient is a clock and a source of chance; both are safe for concurrent use.
type Ambient struct {
	Clock  clock.Clock
	Random func() uint64
}

// Of returns what a client of n is to use: n's own, where it is a simulated node, else the
// platform's. Nobody outside this module can name the method's result, so no driver can
// bring a clock of its own by accident.
func Of(n node.Node) Ambient {
	if s, ok := n.(interface{ Ambient() Ambient }); ok {
		return s.Ambient()
	}
	return Ambient{Clock: clock.Steady(), Random: rand.Uint64}
}
