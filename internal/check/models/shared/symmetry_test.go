package shared

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/check/models/explore"
)

// named is a model without symmetry: each state is visited under its own names.
type named struct {
	Model
	forms map[State]bool // the canonical forms of the states met
}

func (n named) Canonical(s State) State { return s }

func (n named) Broken(before State, step explore.Step, after State) string {
	n.forms[n.Model.Canonical(after)] = true
	return n.Model.Broken(before, step, after)
}

// TestSymmetryForgetsOnlyNames visits configurations with and without symmetry.
func TestSymmetryForgetsOnlyNames(t *testing.T) {
	for _, c := range []Config{
		{Writers: 1, Readers: 1, Stamps: 1}, {Readers: 2, Stamps: 1}, {Writers: 2, Stamps: 1},
	} {
		m := Model{c}
		all := named{m, map[State]bool{m.Canonical(m.Initial()): true}}
		with := explore.Run[State](all, 3_000_000)
		without := explore.Run[State](m, 3_000_000)
		if !with.Full || !without.Full {
			t.Fatalf("not searched to the end: %+v %+v", with, without)
		}
		if len(all.forms) != without.States {
			t.Errorf("%d states under all names are %d without, but %d are visited", with.States, len(all.forms), without.States)
		}
		for s := range all.forms {
			if m.Canonical(s) != s {
				t.Fatalf("the canonical form of %+v is another one", s)
			}
		}
		t.Logf("%d states under all names are %d", with.States, without.States)
	}
}
