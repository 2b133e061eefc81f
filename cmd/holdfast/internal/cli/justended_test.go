package cli

import (
	"context"
	"log/slog"
	"strings"
	"sync"
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

// afterRead is a node that calls a function once, after it has answered that a job runs.
type afterRead struct {
	node.Node
	once *sync.Once
	call func()
}

func (n afterRead) look(r node.Reply) {
	if strings.Contains(r.Value, `"state":"running"`) {
		n.once.Do(n.call)
	}
}

func (n afterRead) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := n.Node.EvalSHA(ctx, calls)
	for _, r := range replies {
		n.look(r)
	}
	return replies
}

func (n afterRead) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	r := n.Node.Eval(ctx, text, call, load...)
	n.look(r)
	return r
}

// A run may end after lookUp has read its outcome, and before lookUp asks for its lock. It has not crashed then.
func TestARunThatEndsWhileItIsLookedUpHasNotCrashed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	open := func(wrap func(node.Node) node.Node) *holdfast.Client {
		n, err := rueidisnode.New(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		c, err := holdfast.New(holdfast.Config{Nodes: []node.Node{wrap(n)}, MaxTTL: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	runs := open(func(n node.Node) node.Node { return n })
	admin.Trust(t.Context(), runs)
	leasetest.AllVote(t, runs, 15*time.Second)
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := job.Spec{Name: "x"}.Once(t.Context(), runs, time.Now(), func(context.Context, job.Tick) error { close(began); <-end; return nil })
		ended <- err
	}()
	<-began
	reads := open(func(n node.Node) node.Node {
		return afterRead{n, new(sync.Once), func() {
			close(end)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}}
	})
	jobs, err := lookUp(t.Context(), reads, []string{"x"})
	if err != nil || jobs["x"].State != job.Done {
		t.Errorf("lookUp says %+v, %v", jobs["x"], err)
	}
}
