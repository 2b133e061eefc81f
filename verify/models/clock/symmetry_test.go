package clock

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/symmetry"
)

// TestSymmetryForgetsOnlyNames visits a configuration with and without symmetry.
func TestSymmetryForgetsOnlyNames(t *testing.T) {
	m := Model{anyClock.but(func(c *Config) { c.Horizon = 4 })}
	symmetry.Test[State](t, m, 1_000_000)
	symmetry.Test[State](t, Model{given.but(func(c *Config) { c.Clients, c.Horizon = 2, 2 })}, 1_000_000)
}
