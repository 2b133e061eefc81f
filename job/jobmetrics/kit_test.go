package jobmetrics_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// open returns a client of servers, which vote for it.
func open(t *testing.T, servers []*redistest.Server) *holdfast.Client {
	t.Helper()
	var nodes []node.Node
	for _, s := range servers {
		n, err := rueidisnode.New(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: 5 * time.Second, NodeTimeout: 2 * time.Second, Cluster: "test", Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	admin.Trust(t.Context(), c)
	leasetest.AllVote(t, c, 15*time.Second)
	return c
}

// store stores an outcome of a job, as a process that ran it would.
func store(t *testing.T, c *holdfast.Client, name string, o job.Outcome) {
	t.Helper()
	if err := c.Mutex(name).Do(t.Context(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return lease.Store(ctx, encoded(t, o))
	}); err != nil {
		t.Fatal(err)
	}
}

// encoded returns an outcome in the form in which the nodes store it.
func encoded(t *testing.T, o job.Outcome) []byte {
	t.Helper()
	text, err := json.Marshal(struct {
		Job int `json:"holdfast_job"`
		job.Outcome
	}{1, o})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// named returns the job of a name, nil if there is none.
func named(jobs []jobmetrics.Job, name string) *jobmetrics.Job {
	for i := range jobs {
		if jobs[i].Name == name {
			return &jobs[i]
		}
	}
	return nil
}
