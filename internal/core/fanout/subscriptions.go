package fanout

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// relistenFirst and relistenMost are the first and the longest pause before the client makes a broken subscription
// again. The pause doubles each time. It starts again at relistenFirst after a subscription that worked for
// relistenMost. Without that condition, the client would repeat a subscription that flaps fifty times a second.
const (
	relistenFirst = 20 * time.Millisecond
	relistenMost  = time.Second
)

// standsIn is the number of node timeouts for which Listen waits for the confirmation of a subscription. The request
// may be lost without an error, and a driver is more patient than a waiter. A subscription has its own connection, and
// so needs several round trips. If the time is too short, each try gets twice the time of the try before. The limit is
// standsMost, or four times the first time if that is longer. The time that a working subscription needed decides the
// time for the next one.
const (
	standsIn   = 2
	standsMost = 5 * time.Second
)

// Listen keeps a subscription to channel on every node until Close. It uses one connection per node, no matter how many
// locks there are. It calls heard for every message. It calls up with true when a subscription works, and with false
// when the subscription breaks. The two functions must not block.
func (f *Fanout) Listen(channel string, heard func(node int, message string), up func(node int, is bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	for i, n := range f.config.Nodes {
		f.wait.Go(func() {
			least := standsIn * f.config.Timeout
			pause, patience := relistenFirst, least
			for f.hear.Err() == nil {
				stood, began, since := false, f.Now(), clock.Instant(0)
				ctx, cancel := context.WithCancel(f.hear)
				late := time.AfterFunc(patience, cancel)
				// Listen subscribes again, no matter what ended the subscription.
				err := n.Listen(ctx, channel, func(message string) {
					if message == "" {
						late.Stop()
						since = f.Now()
						stood, patience = true, max(least, 2*since.Sub(began))
						up(i, true)
						return
					}
					heard(i, message)
				})
				if node.Code(err) != "" {
					f.voters[i].deaf(err)
				}
				switch {
				case stood:
					up(i, false)
					if f.Now().Sub(since) >= relistenMost {
						pause = relistenFirst
					}
				case ctx.Err() != nil: // the node may be far away
					patience = min(2*patience, max(4*least, standsMost))
				}
				late.Stop()
				cancel()
				t := time.NewTimer(pause)
				select {
				case <-t.C:
				case <-f.hear.Done():
				}
				t.Stop()
				pause = min(2*pause, relistenMost)
			}
		})
	}
}
