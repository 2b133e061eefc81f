package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Two sets of three servers lock the names of one client. Another client with the same sets finds every lock. A set
// that is down costs its own names only, and a client with another number of sets is refused.
func TestSeveralSetsOfNodesLockTheNamesOfOneClient(t *testing.T) {
	t.Parallel()
	first, second := newSet(t, 3), newSet(t, 3)
	open := func(sets ...*set) *holdfast.Client {
		var all [][]node.Node
		for _, set := range sets {
			nodes, err := rueidisnode.Open(set.urls...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, nodes)
		}
		return first.client(func(c *holdfast.Config) { c.Nodes, c.Cluster = holdfast.Sharded(all...), "sets" })
	}
	client, other := open(first, second), open(first, second)
	names, on := make([]string, 20), map[*redistest.Server]int{}
	for i := range names {
		names[i] = fmt.Sprint("name", i)
	}
	all, err := client.LockAll(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := other.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("%s: %v, want that it is held", name, err)
		}
		for _, s := range []*redistest.Server{first.servers[0], second.servers[0]} {
			if s.MustDo(t, "EXISTS", name) == int64(1) {
				on[s]++
			}
		}
	}
	if a, b := on[first.servers[0]], on[second.servers[0]]; a == 0 || b == 0 || a+b != len(names) {
		t.Errorf("the sets have %d and %d of %d names", a, b, len(names))
	}
	listed := 0
	for _, err := range admin.List(t.Context(), other, admin.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		listed++
	}
	if listed != len(names) {
		t.Errorf("the list has %d locks, want %d", listed, len(names))
	}
	if n := len(admin.Nodes(t.Context(), other)); n != 6 {
		t.Errorf("%d nodes answered, want 6", n)
	}
	if err := all.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}

	alone := open(first)
	_, err = alone.Mutex("name1").TryLock(t.Context())
	if !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "sets:1-of-2") {
		t.Errorf("a client with one set got %v, want a refusal that names the settings", err)
	}

	for _, s := range second.servers {
		s.Kill()
	}
	works, fails := 0, 0
	for _, name := range names {
		switch l, err := other.Mutex(name).TryLock(t.Context()); {
		case err == nil:
			works++
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		case errors.Is(err, holdfast.ErrUnavailable):
			fails++
		default:
			t.Error(err)
		}
	}
	if works != on[first.servers[0]] || fails != on[second.servers[0]] {
		t.Errorf("with one set down %d names can be locked and %d cannot; want %d and %d", works, fails, on[first.servers[0]], on[second.servers[0]])
	}
}
