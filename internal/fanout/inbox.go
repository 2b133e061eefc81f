package fanout

import (
	"time"
)

// relistenFirst and relistenMost bound the pause before a subscription that broke is
// made again; it doubles in between.
const (
	relistenFirst = 20 * time.Millisecond
	relistenMost  = time.Second
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
			pause := relistenFirst
			for f.hear.Err() == nil {
				stood := false
				_ = s.node.Listen(f.hear, channel, func(message string) { // why it ended: it is made again
					if message == "" {
						stood = true
						up(i, true)
						return
					}
					heard(i, message)
				})
				if stood {
					up(i, false)
					pause = relistenFirst
				}
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
