package shared

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/symmetry"
)

// TestSymmetryForgetsOnlyNames visits configurations with and without symmetry.
func TestSymmetryForgetsOnlyNames(t *testing.T) {
	for _, c := range []Config{
		{Writers: 1, Readers: 1, Stamps: 1}, {Readers: 2, Stamps: 1}, {Writers: 2, Stamps: 1},
	} {
		symmetry.Test[State](t, Model{c}, 3_000_000)
	}
}
