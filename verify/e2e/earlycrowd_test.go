package e2e

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/node"
)

// shut is a node that no client can meet before the test closes opened.
type shut struct {
	node.Node
	opened chan struct{}
}

func (n shut) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	select {
	case <-n.opened:
	case <-ctx.Done():
		return node.Reply{Err: node.NotSent(ctx.Err())}
	}
	return n.Node.Eval(ctx, text, call, load...)
}

// watched is a context that reports when a call waits for its end.
type watched struct {
	context.Context
	once func()
}

func (w watched) Done() <-chan struct{} {
	w.once()
	return w.Context.Done()
}

// A call that comes before its client has met the nodes gets a place by the time of the call. This also holds if the
// call is not the first call of its process.
func TestACrowdThatComesWithItsClientKeepsItsPlaces(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		holder := lock(t, s.ready(s.client(calm)), "x")
		last := s.ready(s.client(calm))
		for !leasetest.Vote(t.Context(), last) || !punctual(t.Context(), last) {
			last = s.ready(s.client(calm))
		}
		opened := make(chan struct{})
		cold := s.client(calm, func(c *holdfast.Config) {
			c.Fair, c.NodeTimeout = true, c.MaxTTL // a pass would hide the order, so c is Fair
			for i := range s.servers {
				c.Nodes = append(c.Nodes, shut{s.dial(i), opened})
			}
		})
		var o order
		var wait sync.WaitGroup
		wants := func(i int, c *holdfast.Client) {
			waits := make(chan struct{})
			ctx := watched{t.Context(), sync.OnceFunc(func() { close(waits) })}
			wait.Go(func() {
				l, err := c.Mutex("x").Lock(ctx)
				if err != nil {
					t.Errorf("waiter %d: %v", i, err)
					return
				}
				o.add(i)
				l.Unlock(t.Context())
			})
			<-waits
		}
		for i := range 3 {
			wants(i, cold)
		}
		close(opened)
		s.inLine("x", 1) // the first of the three is in the queue
		// Two clients read the nodes' clocks, each with an error of up to half a window. So the last call comes later
		// by that much.
		<-time.After(2*window + 4*late)
		wants(3, last)
		s.inLine("x", 2)
		if err := holder.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait.Wait()
		if !slices.Equal(o.got, []int{0, 1, 2, 3}) {
			t.Errorf("served in the order %v", o.got)
		}
	})
}
