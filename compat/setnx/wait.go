package setnx

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast"
)

// line is the queue of one client's goroutines that wait for one key. Only the first one polls. The others wait behind
// it, in the order in which they came. So many waiters in one process cost the server as many requests as one waiter.
type line struct {
	turn  chan struct{} // has room for the first one; Go serves senders in order
	users int           // guarded by Client.mu
}

func (c *Client) join(key string) *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[key]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		c.lines[key] = l
	}
	l.users++
	return l
}

func (c *Client) leave(key string, l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(c.lines, key)
	}
}

// wait polls until it has the lock.
func (c *Client) wait(ctx context.Context, name, key string) (*Lease, error) {
	l := c.join(key)
	defer c.leave(key, l)
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(ctx, &HeldError{Name: name})
	case <-c.tasks.Closing():
		return nil, holdfast.ErrClosed
	}
	defer func() { <-l.turn }()

	answered := time.Now() // the last answer of the server
	patience := time.Second
	var last error
	for {
		lease, err := c.bid(ctx, name, key)
		if lease != nil {
			return lease, nil
		}
		var held *HeldError
		pause := c.config.Poll/2 + rand.N(c.config.Poll/2+1)
		switch {
		case errors.As(err, &held):
			answered, patience = time.Now(), max(c.config.TTL, time.Second)
			if held.ExpiresIn < pause {
				pause = held.ExpiresIn + time.Millisecond
			}
		case errors.Is(err, holdfast.ErrUnavailable):
			if time.Since(answered) > patience {
				return nil, err
			}
			pause = 50*time.Millisecond + rand.N(100*time.Millisecond)
		case ctx.Err() != nil:
			return nil, ended(ctx, last)
		default:
			return nil, err
		}
		last = err
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ended(ctx, err)
		case <-c.tasks.Closing():
			t.Stop()
			return nil, holdfast.ErrClosed
		}
	}
}
