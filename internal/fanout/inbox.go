package fanout

import (
	"context"
	"time"
)

// relistenFirst and relistenMost bound the pause before a subscription that broke is
// made again; it doubles in between. standsIn and standsMost are for how many timeouts of a
// node it is waited that one stands: of several round trips, and in a connection of its own,
// which may be lost without a word. A driver's own patience may be longer than a lock's.
const (
	relistenFirst = 20 * time.Millisecond
	relistenMost  = time.Second
	standsIn      = 2
	standsMost    = 8
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
			pause, patience := relistenFirst, standsIn*f.config.Timeout
			for f.hear.Err() == nil {
				stood := false
				ctx, cancel := context.WithCancel(f.hear)
				late := time.AfterFunc(patience, cancel)
				_ = s.node.Listen(ctx, channel, func(message string) { // why it ended: it is made again
					if message == "" {
						late.Stop()
						stood = true
						up(i, true)
						return
					}
					heard(i, message)
				})
				switch {
				case stood:
					up(i, false)
					pause, patience = relistenFirst, standsIn*f.config.Timeout
				case ctx.Err() != nil: // it may be far away
					patience = min(2*patience, standsMost*f.config.Timeout)
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
