package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// This is the procedure of docs/guide/operating.md, "To change it while clients run". Another database of the same
// servers is another node set, and may have another configuration. Clients of the old set, of both sets, and of the new
// set exclude each other. The condition is that clients of only the old set and clients of only the new set never run
// at the same time. No client has to stop.
func TestClientsMoveToAnotherConfigurationWithoutAStop(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	var urls []string
	for _, srv := range s.servers {
		urls = append(urls, srv.URL()+"/1")
	}
	before := s.ready(s.client())
	after := s.client(func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(urls...)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes, c.MaxTTL = nodes, 3*time.Second
	})
	s.ready(after) // the quarantine of the new set ends before a client needs the set

	moves(t, before, after, "x")
	if l, err := s.client().Mutex("x").TryLock(t.Context()); err != nil {
		t.Errorf("the old set is not free: %v", err)
	} else {
		l.Unlock(t.Context())
	}
	redistest.Eventually(t, 5*time.Second, "the new set is free", func() bool {
		l, err := after.Mutex("x").TryLock(t.Context())
		if err == nil {
			l.Unlock(t.Context())
		}
		return err == nil
	})
}

// The test checks the errors of a first use and of a client with another configuration.
func TestAnUnavailableErrorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := bareSet(t, 1)
	_, err := s.client(func(c *holdfast.Config) { c.MaxTTL = 10 * time.Second }).Mutex("x").TryLock(t.Context())
	wantHint(t, err, "wait ", "holdfast nodes trust (admin.Trust in Go)")
	s = newSet(t, 1)
	s.ready(s.client())
	_, err = s.client(func(c *holdfast.Config) { c.MaxTTL = 3 * time.Second }).Mutex("x").TryLock(t.Context())
	wantHint(t, err, "set MaxTTL to 2s as the others do", "another database of the same servers is another node set", "https://", "docs/guide/operating.md",
		"holdfast nodes trust --max-ttl 3s --window 200ms --cluster test (with the same nodes)")
	s.servers[0].Kill()
	_, err = s.client().Mutex("x").TryLock(t.Context())
	var un *holdfast.UnavailableError
	if !errors.As(err, &un) || !strings.Contains(un.Hint(), "start the server") {
		t.Errorf("of a node that is down: %v", err)
	}
}

func wantHint(t *testing.T, err error, parts ...string) {
	t.Helper()
	var un *holdfast.UnavailableError
	if !errors.As(err, &un) {
		t.Fatalf("%v; want an UnavailableError", err)
	}
	for _, part := range parts {
		if !strings.Contains(un.Hint(), part) || !strings.Contains(err.Error(), un.Hint()) {
			t.Errorf("%v\nhint %q; want %q", err, un.Hint(), part)
		}
	}
}

// A third set of nodes joins two others, while clients run: the sets are locked under other settings in another database
// of the same servers. Names that move and names that stay have one holder at a time.
func TestASetIsAddedToOthersWithoutAStop(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	open := func(database string, servers ...*redistest.Server) *holdfast.Client {
		var sets [][]node.Node
		for _, srv := range servers {
			nodes, err := rueidisnode.Open(srv.URL() + database)
			if err != nil {
				t.Fatal(err)
			}
			sets = append(sets, nodes)
		}
		return s.client(func(c *holdfast.Config) { c.Nodes = holdfast.Sharded(sets...) })
	}
	before, after := open("", s.servers[:2]...), open("/1", s.servers...)
	s.ready(before)
	s.ready(after)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() { moves(t, before, after, fmt.Sprint("name", i)) })
	}
	wait.Wait()
}

// moves replaces workers that take the lock of before by workers that take both locks, and these by workers that take
// the lock of after.
func moves(t *testing.T, before, after *holdfast.Client, name string) {
	var inside atomic.Int64
	enter := func(ctx context.Context) error {
		if n := inside.Add(1); n != 1 {
			t.Errorf("%d holders at a time", n)
		}
		defer inside.Add(-1)
		select {
		case <-time.After(time.Millisecond): // this stands for the work
		case <-ctx.Done():
		}
		return nil
	}
	ways := map[string]func(context.Context) error{
		"old": func(ctx context.Context) error { return before.Mutex(name).Do(ctx, enter) },
		"both": func(ctx context.Context) error {
			return before.Mutex(name).Do(ctx, func(ctx context.Context) error { return after.Mutex(name).Do(ctx, enter) })
		},
		"new": func(ctx context.Context) error { return after.Mutex(name).Do(ctx, enter) },
	}
	// Each worker changes from one way to the next by itself, as processes do when they are replaced one by one.
	run := func(from, to string) {
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for round := range 8 {
					way := from
					if round >= 2*worker {
						way = to
					}
					if err := ways[way](t.Context()); err != nil {
						t.Errorf("%s: %v", way, err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
	run("old", "both")
	run("both", "new")
}
