package hashslots

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/symmetry"
)

// TestSymmetryForgetsOnlyNames visits a configuration with and without symmetry. What Canonical forgets beside names
// changes nothing either.
func TestSymmetryForgetsOnlyNames(t *testing.T) {
	symmetry.Test[State](t, Model{short.but(func(c *Config) {
		c.Moves, c.Forces, c.All = 1, 1, 1
	})}, 1_000_000)
}
