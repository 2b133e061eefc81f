package token

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/symmetry"
)

// TestSymmetryForgetsOnlyNames visits a configuration with and without symmetry.
func TestSymmetryForgetsOnlyNames(t *testing.T) {
	symmetry.Test[State](t, Model{Config{Owners: 2, Stamps: 2, Passes: true}}, 1_000_000)
	symmetry.Test[State](t, Model{Config{Owners: 2, Stamps: 2, Given: true}}, 1_000_000)
}
