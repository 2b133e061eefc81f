package e2e

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// A server that refuses writes grants nothing. Nobody may count its vote: not the error of a lock, not the statistics
// of the client, not an event, and not a client that asks.
func TestANodeThatRefusesWritesDoesNotCountAsVoting(t *testing.T) {
	t.Parallel()
	for cause, row := range map[verdict.Cause]struct {
		begin, end func(t *testing.T, srv *redistest.Server)
	}{
		verdict.CauseMemory: {
			func(t *testing.T, srv *redistest.Server) { srv.MustDo(t, "CONFIG", "SET", "maxmemory", "1") },
			func(t *testing.T, srv *redistest.Server) { srv.MustDo(t, "CONFIG", "SET", "maxmemory", "0") },
		},
		verdict.CauseSnapshot: {
			func(t *testing.T, srv *redistest.Server) {
				dir := srv.MustDo(t, "CONFIG", "GET", "dir").([]any)[1].(string)
				if err := os.RemoveAll(dir); err != nil { // the tests may run as root, who may write anywhere
					t.Fatal(err)
				}
				srv.MustDo(t, "CONFIG", "SET", "save", "3600 1")
				srv.MustDo(t, "BGSAVE")
				redistest.Eventually(t, 10*time.Second, "the snapshot to fail", func() bool {
					return strings.Contains(srv.MustDo(t, "INFO", "persistence").(string), "rdb_last_bgsave_status:err")
				})
			},
			func(t *testing.T, srv *redistest.Server) { srv.MustDo(t, "CONFIG", "SET", "save", "") },
		},
		verdict.CauseMinReplicas: {
			func(t *testing.T, srv *redistest.Server) {
				srv.MustDo(t, "CONFIG", "SET", "min-replicas-to-write", "1")
			},
			func(t *testing.T, srv *redistest.Server) {
				srv.MustDo(t, "CONFIG", "SET", "min-replicas-to-write", "0")
			},
		},
	} {
		t.Run(string(cause), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			c, w := s.watched(slow)
			s.ready(c)
			lease := lock(t, c, "held")
			sick := s.servers[:2]
			for _, srv := range sick {
				row.begin(t, srv)
			}
			is := func(n verdict.Answer) bool {
				return n.Reason == verdict.ReasonUnwritable && n.Cause == cause && !n.Votes() && n.Reachable()
			}
			_, err := c.Mutex("x").TryLock(t.Context())
			var un *holdfast.UnavailableError
			if !errors.As(err, &un) || !is(un.Nodes[0]) && !is(un.Nodes[1]) || un.Hint() == "" || len(err.Error()) > 700 {
				t.Errorf("a lock: %v; want two nodes that refuse writes, in at most 700 bytes", err)
			}
			redistest.Eventually(t, 10*time.Second, "both nodes to answer the lock", func() bool {
				_, _ = c.Mutex("x").TryLock(t.Context())
				n := c.Stats().Nodes
				return is(n[0].Answer) && is(n[1].Answer)
			})
			for range 5 {
				_, _ = c.Mutex("x").TryLock(t.Context())
			}
			for i, n := range admin.Nodes(t.Context(), c) {
				if i < 2 && !is(n) {
					t.Errorf("node %d, asked by this client: %s", i, n.Said())
				}
			}
			for i, n := range admin.Nodes(t.Context(), s.client(slow)) {
				if i < 2 && !is(n) {
					t.Errorf("node %d, asked by a new client: %s", i, n.Said())
				}
			}
			if _, err := c.Semaphore("pool", 2).Status(t.Context()); cause == verdict.CauseMemory && err != nil {
				t.Errorf("the status of a semaphore on nodes that kept their memory: %v", err)
			}
			told := map[string]int{}
			for _, e := range w.of(holdfast.EventNode) {
				if e.Node.Reason == verdict.ReasonUnwritable {
					told[e.Node.Node]++
				}
			}
			if len(told) != 2 || told[s.servers[0].URL()+"/0"] != 1 || told[s.servers[1].URL()+"/0"] != 1 {
				t.Errorf("events that a node refuses writes: %v; want one per node", told)
			}
			if cause == verdict.CauseMemory { // the other causes refuse releases, too
				if err := lease.Unlock(t.Context()); err != nil {
					t.Errorf("a full server refuses a release: %v", err)
				}
			}
			for _, srv := range sick {
				row.end(t, srv)
			}
			redistest.Eventually(t, 20*time.Second, "the nodes to vote again, without a question", func() bool {
				if l, err := c.Mutex("y").TryLock(t.Context()); err == nil {
					_ = l.Unlock(context.Background())
				}
				n := c.Stats().Nodes
				return n[0].Votes() && n[1].Votes()
			})
		})
	}
}
