package election_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/election"
)

// A call with a nil context says so.
func TestANilContextIsAnError(t *testing.T) {
	t.Parallel()
	c := connect("web-1")
	defer c.Close()
	var none context.Context
	e := election.New(c, "argument")
	_, leader := e.Leader(none)
	var heard []election.News
	for news := range e.Observe(none) {
		heard = append(heard, news)
	}
	if len(heard) != 1 {
		t.Fatalf("Observe: %v; want one news", heard)
	}
	calls := map[string]error{
		"Run":     e.Run(none, func(context.Context, election.Term) error { t.Error("the function ran"); return nil }),
		"Leader":  leader,
		"Resign":  e.Resign(none),
		"Observe": heard[0].Err,
	}
	ctx, stop := context.WithCancel(t.Context())
	_ = e.Run(ctx, func(_ context.Context, term election.Term) error {
		calls["Publish"] = term.Publish(none, nil)
		calls["Announce"] = term.Announce(none)
		stop()
		return nil
	})
	for call, err := range calls {
		if want := `holdfast: election "argument": ` + call + ": nil Context"; err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
