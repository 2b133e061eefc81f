// Package symmetry tests the canonical forms of a model's states.
package symmetry

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// named is a model without symmetry: each state is visited under its own names.
type named[S comparable] struct {
	explore.Model[S]
	forms map[S]bool // the canonical forms of the states met
}

func (n named[S]) Canonical(s S) S { return s }

func (n named[S]) Broken(before S, step explore.Step, after S) string {
	n.forms[n.Model.Canonical(after)] = true
	return n.Model.Broken(before, step, after)
}

// Test visits the states of a model with and without symmetry, at most limit of them each time. It fails if the
// canonical form forgets more than names, or if it is not canonical itself.
func Test[S comparable](t testing.TB, m explore.Model[S], limit int) {
	t.Helper()
	all := named[S]{m, map[S]bool{m.Canonical(m.Initial()): true}}
	with := explore.Run[S](all, limit)
	without := explore.Run(m, limit)
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
