package fanout

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// relistenFirst and relistenMost bound the pause before a subscription that broke is
// made again; it doubles in between, until one has stood for relistenMost: one that flaps
// would otherwise be made fifty times a second.
const (
	relistenFirst = 20 * time.Millisecond
	relistenMost  = time.Second
)

// standsIn is for how many timeouts of a node it is waited that a subscription stands: what
// asked for it may be lost without a word, and a driver is more patient than who waits for a
// lock. Of a connection of its own, and so several round trips: where that is too short, each
// try has twice as long as the one before, up to standsMost or, if that is more, four times
// the first, and one that stood says how long the next may take.
const (
	standsIn   = 2
	standsMost = 5 * time.Second
)

// Listen keeps a subscription to channel on every node until Close: one connection per
// node, whatever the number of locks. heard is called for every message, up when a
// subscription stands (true) or broke (false); neither may block.
func (f *Fanout) Listen(channel string, heard func(node int, message string), up func(node int, is bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	for i, s := range f.seats {
		f.wait.Go(func() {
			least := standsIn * f.config.Timeout
			pause, patience := relistenFirst, least
			for f.hear.Err() == nil {
				stood, began, since := false, f.Now(), clock.Instant(0)
				ctx, cancel := context.WithCancel(f.hear)
				late := time.AfterFunc(patience, cancel)
				_ = s.node.Listen(ctx, channel, func(message string) { // why it ended: it is made again
					if message == "" {
						late.Stop()
						since = f.Now()
						stood, patience = true, max(least, 2*since.Sub(began))
						up(i, true)
						return
					}
					heard(i, message)
				})
				switch {
				case stood:
					up(i, false)
					if f.Now().Sub(since) >= relistenMost {
						pause = relistenFirst
					}
				case ctx.Err() != nil: // it may be far away
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
