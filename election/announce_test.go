package election_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
)

// term leads one term of an election, and calls what in it.
func term(t *testing.T, c *holdfast.Client, name string, what func(context.Context, election.Term)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := election.New(c, name).Run(ctx, func(ctx context.Context, term election.Term) error {
		defer stop()
		what(ctx, term)
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func kind(t *testing.T, c *holdfast.Client, name string) admin.Kind {
	t.Helper()
	for s, err := range admin.List(t.Context(), c, admin.ListOptions{Free: true, Pattern: name}) {
		if err != nil {
			t.Fatal(err)
		}
		return s.Kind
	}
	t.Fatalf("%s is not listed", name)
	return ""
}

func TestAnAnnouncedElectionIsListedWithoutAValue(t *testing.T) {
	t.Parallel()
	c := connect("web-1")
	defer c.Close()
	e := election.New(c, "announced")
	term(t, c, "announced", func(ctx context.Context, term election.Term) {
		if k := kind(t, c, "announced"); k != admin.KindLock {
			t.Errorf("before Announce it is listed as %s", k)
		}
		for range 2 {
			if err := term.Announce(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if k := kind(t, c, "announced"); k != admin.KindElection {
			t.Errorf("after Announce it is listed as %s", k)
		}
		if l, err := e.Leader(ctx); err != nil || l.Term != term.Fence || l.Value != nil {
			t.Errorf("leader %+v, %v; want one without a value", l, err)
		}
		if err := term.Publish(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if err := term.Announce(ctx); err != nil {
			t.Fatal(err)
		}
		if l, err := e.Leader(ctx); err != nil || l.Value == nil {
			t.Errorf("leader %+v, %v; Announce took the published value away", l, err)
		}
	})
	term(t, c, "announced", func(ctx context.Context, term election.Term) { // the next term has no value of the one before
		if err := term.Announce(ctx); err != nil {
			t.Fatal(err)
		}
		if l, err := e.Leader(ctx); err != nil || l.Value != nil {
			t.Errorf("leader %+v, %v; want no value", l, err)
		}
	})
}

func TestAnnounceLeavesTheValueOfALock(t *testing.T) {
	t.Parallel()
	c := connect("web-1")
	defer c.Close()
	err := c.Mutex("no election").Do(t.Context(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return lease.Store(ctx, []byte("mine"))
	})
	if err != nil {
		t.Fatal(err)
	}
	term(t, c, "no election", func(ctx context.Context, term election.Term) {
		if err := term.Announce(ctx); !errors.Is(err, election.ErrNoElection) {
			t.Errorf("%v; want ErrNoElection", err)
		}
	})
	if v, err := c.Value(t.Context(), "no election"); err != nil || string(v) != "mine" {
		t.Errorf("the value is %q, %v", v, err)
	}
}
