package fanout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// slowToListen is a node whose subscriptions stand after so long, one after the other; the last also later.
type slowToListen struct {
	*nodemodel.Node
	takes []time.Duration
	tries int
}

func (n *slowToListen) Listen(ctx context.Context, channel string, on func(string)) error {
	takes := n.takes[min(n.tries, len(n.takes)-1)]
	n.tries++
	select {
	case <-time.After(takes):
		return n.Node.Listen(ctx, channel, on)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// What asks for a subscription may be lost without a word. Meanwhile its client is in no queue of that node.
func TestASubscriptionThatDoesNotStandIsMadeAgain(t *testing.T) {
	const timeout, never = time.Second / 2, time.Hour
	for _, c := range []struct {
		what   string
		takes  []time.Duration
		within time.Duration
	}{
		{"the first is lost", []time.Duration{never, 0}, 3 * timeout},
		{"two are lost", []time.Duration{never, never, 0}, 7 * timeout},
		{"the node is far", []time.Duration{5 * timeout}, 12 * timeout},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: time.Second / 4, Cluster: "test"}
				now := func() int64 { return time.Now().Add(30 * 365 * 24 * time.Hour).UnixMicro() }
				n := &slowToListen{Node: nodemodel.New("model", now, nodemodel.Info{Run: "run", Role: "master"}, set), takes: c.takes}
				f := New(Config{Nodes: []node.Node{n}, Set: set, Timeout: timeout, Clock: clock.Monotonic(), Logger: slog.New(slog.DiscardHandler)})
				defer f.Close(t.Context())
				ctx, late := context.WithTimeoutCause(t.Context(), c.within, errors.New("it does not stand"))
				defer late()
				var broke atomic.Bool
				f.Listen("inbox", func(int, string) {}, func(_ int, is bool) {
					if is {
						late()
					} else {
						broke.Store(true)
					}
				})
				<-ctx.Done()
				if context.Cause(ctx) != context.Canceled {
					t.Error(fmt.Errorf("%s after %d tries: %w", c.within, n.tries, context.Cause(ctx)))
				}
				if time.Sleep(20 * timeout); broke.Load() {
					t.Error("it stood, and was not left alone then")
				}
			})
		})
	}
}
