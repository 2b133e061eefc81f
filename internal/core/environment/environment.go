// Package environment supplies the clock and the random numbers of a client, and the delays of its goroutines. A
// simulation supplies its own, so that a seed decides everything that happens in it.
package environment

import (
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/delay"
	"github.com/holdfast-go/holdfast/node"
)

// Sources is a clock, a source of random numbers, and what a client knows of the other goroutines of its process. All
// functions are safe for concurrent use.
type Sources struct {
	Clock  clock.Clock
	Random func() uint64

	// Delay and Suspect are Recent and Suspect of package delay. nil: the process is never busy.
	Delay   func() time.Duration
	Suspect func()

	// Woken is called by each goroutine of the client that continues after a wait: a timer's function, the scheduler, a
	// worker, a waiter. The caller holds no mutex. Woken may hold the goroutine back, as busy processors do: in virtual
	// time a goroutine that can run would otherwise always run at once. nil on real platforms.
	Woken func()
}

// Of returns the sources for a client of n. If n is a simulated node, they come from n. Otherwise they are those of
// the platform. Code outside this module cannot name the type Sources, so a driver cannot supply a clock by accident.
func Of(n node.Node) Sources {
	if s, ok := n.(interface{ Environment() Sources }); ok {
		return s.Environment()
	}
	return Sources{Clock: clock.Steady(), Random: rand.Uint64, Delay: delay.Recent, Suspect: delay.Suspect}
}
