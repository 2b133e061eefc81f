package promholdfast

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// counting is a node that counts the calls about the key of a job.
type counting struct {
	node.Node
	about string
	calls *atomic.Int64
}

func (c counting) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	c.count(calls...)
	return c.Node.EvalSHA(ctx, calls)
}

func (c counting) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	c.count(call)
	return c.Node.Eval(ctx, text, call, load...)
}

func (c counting) count(calls ...node.Call) {
	for _, call := range calls {
		if strings.Contains(strings.Join(call.Keys, " "), c.about) {
			c.calls.Add(1)
		}
	}
}

// cost returns the calls that 40 runs of a job make on all nodes.
func cost(t *testing.T, servers []*redistest.Server, spec job.Spec, m *Metrics) int64 {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	calls := new(atomic.Int64)
	for i, n := range nodes {
		nodes[i] = counting{n, spec.Name, calls}
	}
	config := holdfast.Config{Nodes: nodes, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if m != nil {
		config.Observers = []holdfast.Observer{m.Observer()}
	}
	client, err := holdfast.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin.Trust(t.Context(), client)
	leasetest.AllVote(t, client, 15*time.Second)
	if m != nil {
		if err := m.SetJobs(client, spec); err != nil {
			t.Fatal(err)
		}
	}
	now, err := client.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := now.Add(-time.Hour).Truncate(time.Second)
	for i := range 40 {
		failure := error(nil)
		if i%2 == 1 {
			failure = errors.New("disk full")
		}
		ran, err := spec.Once(t.Context(), client, first.Add(time.Duration(i)*time.Minute), func(ctx context.Context, _ job.Tick) error {
			if m != nil {
				three := 3
				job.SetResult(ctx, job.Result{Exit: &three, Output: strings.Repeat("x", job.MostOutput)})
			}
			return failure
		})
		if !ran || (err == nil) != (failure == nil) {
			t.Fatalf("run %d: %t, %v", i, ran, err)
		}
	}
	return calls.Load()
}

// The history, the result and the metrics are in the value that a run stores anyway.
func TestHistoryAndMetricsCostNoCalls(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	bare := cost(t, servers, job.Spec{Name: "bare", Schedule: "every 1m", History: -1}, nil)
	full := cost(t, servers, job.Spec{Name: "full", Schedule: "every 1m"}, m)
	t.Logf("40 runs on three nodes: %d calls without history and metrics, %d with them", bare, full)
	if bare < 40*3*3 || float64(full) > 1.1*float64(bare) {
		t.Errorf("%d calls with history and metrics; at most 1.1 × %d are allowed", full, bare)
	}
}
