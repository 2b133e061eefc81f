package holdfast_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The rights that docs/operating.md lists are enough for everything, the queue included.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("ACL for a user of Holdfast: `([^`]*)`").FindSubmatch(doc)
	if found == nil {
		t.Fatal("docs/operating.md does not list the rights any more")
	}
	s := newSet(t, 1)
	rule := []any{"ACL", "SETUSER", "holdfast", "on", ">pw", "~*", "&*"}
	for _, right := range strings.Fields(string(found[1])) {
		rule = append(rule, right)
	}
	s.servers[0].MustDo(t, rule...)
	as := func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(strings.Replace(s.urls[0], "redis://", "redis://holdfast:pw@", 1))
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = nodes
	}
	holder := lock(t, s.ready(s.client(as)), "x")
	if err := holder.Extend(t.Context(), settings().MaxTTL); err != nil {
		t.Fatal(err)
	}
	var o order
	var wait sync.WaitGroup
	for i := range 5 {
		c := s.ready(s.client(as))
		wait.Go(func() {
			if err := c.Mutex("x").Do(t.Context(), func(context.Context) error { o.add(i); return nil }); err != nil {
				t.Errorf("waiter %d: %v", i, err)
			}
		})
		s.inLine("x", i+1)
	}
	if err := holder.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if !slices.IsSorted(o.got) || len(o.got) != 5 {
		t.Errorf("served in the order %v", o.got)
	}
	if log, err := s.servers[0].Do("ACL", "LOG"); err != nil || len(log.([]any)) > 0 {
		t.Errorf("the server refused: %v, %v", log, err)
	}
}
