package fanout

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// relistenFirst and relistenMost are the first and the longest pause before the client makes a broken subscription
// again. The pause doubles each time. Only a subscription that worked for relistenMost resets it. Without that
// condition, a subscription that breaks at once would be made fifty times a second.
const (
	relistenFirst = 20 * time.Millisecond
	relistenMost  = time.Second
)

// standsIn is the time, in node timeouts, for which Listen first waits for the confirmation of a subscription. There
// must be a limit: a request may be lost without an error, and a driver would wait longer than a waiter can. A
// subscription has its own connection, so it needs several round trips. After each try that was too short, the time
// doubles, up to standsMost, or up to four times the first time if that is longer. A subscription that worked sets the
// time for the next one.
const (
	standsIn   = 2
	standsMost = 5 * time.Second
)

// A request for a subscription may be lost without an error while a node is cut off. If the node answers a greeting
// again after one that failed, Listen therefore begins a new try at once. Without that, the node could be well for
// seconds, and still have no hand-off for this client.

// Listen keeps a subscription to channel on every node until Close. It needs one connection per node for all locks
// together. It calls heard for every message. It calls up with true when a subscription works, and with false when
// that subscription breaks. Both functions must not block.
func (f *Fanout) Listen(channel string, heard func(node int, message string), up func(node int, is bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	for i := range f.config.Nodes {
		f.wait.Go(func() { f.listen(i, channel, heard, up) })
	}
}

// listen does the work of Listen for one node.
func (f *Fanout) listen(i int, channel string, heard func(node int, message string), up func(node int, is bool)) {
	n := f.config.Nodes[i]
	least := standsIn * f.config.Timeout
	pause, patience := relistenFirst, least
	for f.hear.Err() == nil {
		stood, began, since := false, f.Now(), clock.Instant(0)
		ctx, cancel := context.WithCancel(f.hear)
		late := time.AfterFunc(patience, cancel)
		trying, tried := context.WithCancel(ctx)
		back := f.voters[i].returns()
		f.wait.Go(func() {
			select {
			case <-back:
				cancel()
			case <-trying.Done():
			}
		})
		// Listen makes the subscription again after any error.
		err := n.Listen(ctx, channel, func(message string) {
			if message == "" {
				late.Stop()
				tried()
				since = f.Now()
				stood, patience = true, max(least, 2*since.Sub(began))
				up(i, true)
				return
			}
			heard(i, message)
		})
		tried()
		if node.Code(err) != "" && !changed(err) && node.Code(err) != node.ClusterDown {
			f.voters[i].deaf(err)
		}
		switch {
		case stood:
			up(i, false)
			if f.Now().Sub(since) >= relistenMost {
				pause = relistenFirst
			}
		case isClosed(back):
			pause = relistenFirst
		case ctx.Err() != nil: // the confirmation did not come in time; the node may be far away
			patience = min(2*patience, max(4*least, standsMost))
		}
		late.Stop()
		cancel()
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-f.voters[i].returns():
		case <-f.hear.Done():
		}
		t.Stop()
		pause = min(2*pause, relistenMost)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
