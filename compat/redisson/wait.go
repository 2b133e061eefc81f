package redisson

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast"
)

// wait waits for the lock. The goroutine first waits until it is the first one in the client's line. Then it asks the
// nodes, and waits for their messages.
func (c *Client) wait(ctx context.Context, w want) (*hold, error) {
	l := c.join(w.key)
	if l == nil {
		return nil, holdfast.ErrClosed
	}
	defer l.leave()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		last := l.lastRefusal()
		if last == nil {
			last = &HeldError{Name: w.name}
		}
		return nil, ended(ctx, last)
	case <-c.tasks.Closing():
		return nil, holdfast.ErrClosed
	}
	defer func() { <-l.turn }()
	defer l.refused(nil)

	answered := time.Now() // the last time at which a majority answered
	patience := time.Second
	splits := 0
	woken := false // by a message, since the last try
	for {
		l.reset()
		h, err := c.bid(ctx, w)
		if h != nil {
			return h, nil
		}
		var refused *HeldError
		wake, pause := l.wake, c.config.Poll
		switch {
		case errors.As(err, &refused):
			l.refused(err)
			answered, patience = time.Now(), max(c.config.TTL, time.Second)
			if left := refused.ExpiresIn; left >= 0 && left < pause {
				pause = left + 2*time.Millisecond // 2 ms more: Redis deletes the key only after that millisecond has passed
			}
			splits++
			if !refused.split {
				splits = 0
				l.listen(refused)
				if l.quiet.note(refused, woken) {
					pause = min(pause, time.Millisecond+rand.N(quickPause))
				}
			} else { // several clients try at once: wait for a random time, or the votes split again
				wake, pause = nil, time.Millisecond+rand.N(min(10*time.Millisecond<<min(splits, 4), pause+time.Millisecond))
			}
		case errors.Is(err, holdfast.ErrUnavailable):
			l.refused(err)
			if time.Since(answered) > patience {
				return nil, err
			}
			wake, pause = nil, 50*time.Millisecond+rand.N(100*time.Millisecond)
		case ctx.Err() != nil:
			return nil, ended(ctx, l.lastRefusal())
		default:
			return nil, err
		}
		t := time.NewTimer(pause)
		woken = false
		select {
		case <-wake:
			woken = true
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ended(ctx, err)
		case <-c.tasks.Closing():
			t.Stop()
			return nil, holdfast.ErrClosed
		}
		t.Stop()
	}
}
