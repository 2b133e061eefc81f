package fanout

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// jammed is a node whose pipelines get no answers while on is true.
type jammed struct {
	node.Node
	on *atomic.Bool
}

func (n jammed) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if !n.on.Load() {
		return n.Node.EvalSHA(ctx, calls)
	}
	return nodemodel.Hung(ctx, calls)
}

// counts counts the answers that it receives.
type counts struct{ n atomic.Int64 }

func (c *counts) Answered(int, int, nodescript.Answer) { c.n.Add(1) }

// While a node hangs, the messages that nobody wants any more leave its queue before the node timeout. Each message is
// answered once, and the client closes.
func TestMessagesToANodeThatHangsLeaveItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetWithin(t, 3, 10*time.Second)
		s := f.senders[0]
		var on atomic.Bool
		s.node = jammed{s.node, &on}
		on.Store(true)
		var got counts
		sent, longest := 0, 0
		for range 9 * 200 {
			for range 10 {
				stamp, at, _ := f.Stamp()
				m := &Message{Call: nodescript.ExtendCall(lockX, "o", 1, stamp, stamp, time.Second, f.set.Window), SendBy: f.SendBy(at), To: &got}
				f.SendTo(0, m)
				sent++
			}
			s.mu.Lock()
			longest = max(longest, len(s.queue))
			s.mu.Unlock()
			time.Sleep(5 * time.Millisecond)
		}
		// 2,000 messages come in a second, and each is worth sending for a quarter of a second.
		if longest > 2*sweepFrom {
			t.Errorf("up to %d messages waited for the node", longest)
		}
		on.Store(false)
		time.Sleep(f.config.Timeout)
		f.Close(t.Context())
		if n := got.n.Load(); n != int64(sent) {
			t.Errorf("%d messages got %d answers", sent, n)
		}
	})
}
