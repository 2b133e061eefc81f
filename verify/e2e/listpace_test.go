package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// requests is a node that notes the requests of a list.
type requests struct {
	node.Node
	mu    sync.Mutex
	at    []time.Time
	large []string
}

func (r *requests) Do(ctx context.Context, command ...string) node.Reply {
	if command[0] == "EVAL_RO" {
		keys, _ := strconv.Atoi(command[2])
		most := 16 // four keys of each of four names
		switch command[1] {
		case nodescript.ScanText():
			keys, _ = strconv.Atoi(command[len(command)-1])
			most = 100
		case nodescript.HaveText():
			most = 50
		}
		r.mu.Lock()
		r.at = append(r.at, time.Now())
		if keys > most {
			r.large = append(r.large, fmt.Sprintf("%d keys, want at most %d: %.60q", keys, most, command[1]))
		}
		r.mu.Unlock()
	}
	return r.Node.(node.Commander).Do(ctx, command...)
}

// looker locks names, and returns another client, whose nodes are wrapped.
func (s *set) looker(names int, wrap func(i int, n node.Node) node.Node) *holdfast.Client {
	s.t.Helper()
	c := s.ready(s.client(steady))
	for i := range names {
		lock(s.t, c, fmt.Sprint("x", i))
	}
	nodes, err := rueidisnode.Open(s.urls...)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, n := range nodes {
		nodes[i] = wrap(i, n)
	}
	return s.ready(s.client(steady, func(c *holdfast.Config) { c.Nodes = nodes }))
}

// Each request of a list is small, and the requests to a node are spread over time.
func TestAListSendsSmallRequestsEvenly(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	noted := make([]*requests, 3)
	looker := s.looker(200, func(i int, n node.Node) node.Node {
		noted[i] = &requests{Node: n}
		return noted[i]
	})
	const rate = 500
	began := time.Now()
	if got := listed(t, looker, admin.ListOptions{Rate: rate}); len(got) != 200 {
		t.Errorf("%d names, want 200", len(got))
	}
	t.Logf("200 names took %v, with %d requests to the last node", time.Since(began), len(noted[2].at))
	for i, r := range noted {
		for _, what := range r.large {
			t.Errorf("node %d: a request has %s", i, what)
		}
		if len(r.at) < 50 {
			t.Errorf("node %d: %d requests, want 50 for 200 names at least", i, len(r.at))
		}
		// In a tenth of a second, a tenth of the rate may come, and up to 20 requests more. For these 20, the sender
		// may have had to wait for a processor after it was allowed to send.
		const tenth, most = 100 * time.Millisecond, rate/10 + 20
		slices.SortFunc(r.at, time.Time.Compare)
		for k := range r.at {
			if k >= most && r.at[k].Sub(r.at[k-most]) < tenth {
				t.Errorf("node %d: more than %d requests in %v", i, most, r.at[k].Sub(r.at[k-most]))
				break
			}
		}
	}
}
