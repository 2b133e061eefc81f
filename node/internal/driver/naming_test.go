package driver

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/node"
)

// answering is a naming with one answer.
type answering struct {
	named Named
	err   error
}

func (a answering) Master(_ context.Context, found func(Named)) error {
	if a.err == nil {
		found(a.named)
	}
	return a.err
}
func (answering) Watch(context.Context, func(Named), func()) {}
func (answering) Close()                                     {}

func TestACallWaitsForTheNamingIfItsAnswerIsOld(t *testing.T) {
	old := func() Named { return Named{Addr: "a:1", Asked: steady().Add(-node.NamedFor - 1)} }
	fails := errors.New("no majority")
	for what, c := range map[string]struct {
		first, second Named
		fails, want   error
	}{
		"the answer is young":        {Named{Addr: "a:1", Asked: steady()}, Named{}, fails, nil},
		"no majority":                {old(), Named{}, fails, fails},
		"the next answer is young":   {old(), Named{Addr: "a:1", Asked: steady()}, nil, nil},
		"the next answer is old":     {old(), old(), nil, errLateName},
		"the next answer is another": {old(), Named{Addr: "b:1", Asked: steady()}, nil, nil}, // Admits refuses the former reign
	} {
		m := NewMasters(t.Context())
		r := m.At(c.first)
		err := m.Confirm(t.Context(), answering{c.second, c.fails}, r)
		if !errors.Is(err, c.want) || err != nil && !node.Unsent(err) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		if admitted := m.Admits(r, r); admitted != (what != "the next answer is another") {
			t.Errorf("%s: admitted is %v", what, admitted)
		}
	}
	if err := NewMasters(t.Context()).Confirm(t.Context(), nil, nil); err != nil {
		t.Errorf("without a naming: %v", err)
	}
}
