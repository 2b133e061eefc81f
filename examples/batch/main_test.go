package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// patient is for a busy machine, on which a request may reach a node late.
var patient = holdfast.Config{Window: time.Second}

func TestTheNextMachineGoesOnWhereTheFirstStopped(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	var froms []int
	broken := errors.New("broken")
	fails := func(_ context.Context, from, _ int, _ int64) error {
		if from == 300 {
			return broken
		}
		froms = append(froms, from)
		return nil
	}
	if err := run(t.Context(), nodes.Client(t, patient), 550, fails); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	other := nodes.Client(t, patient)
	err := run(t.Context(), other, 550, func(ctx context.Context, from, to int, _ int64) error {
		// Meanwhile a third machine does nothing.
		if err := run(context.Background(), nodes.Client(t, patient), 550, fails); err != nil {
			t.Error(err)
		}
		froms = append(froms, from)
		if to > 550 {
			t.Errorf("rows to %d", to)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, from := range froms {
		if from != i*batch {
			t.Errorf("batches began at %v", froms)
			break
		}
	}
	if len(froms) != 6 {
		t.Errorf("batches began at %v", froms)
	}
}
