package main

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type rueidislockLocker struct{ locks rueidislock.Locker }

func openRueidislock(urls []string) (locker, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{address(urls[0])}},
		KeyMajority:    1,
		NoLoopTracking: true,
		// The default, 20 ms, is less than a busy machine may pause a process for. Then
		// an acquire fails that nobody contends, and with NoLoopTracking nothing ever
		// tells its waiter that the name is free: seen to wait for minutes.
		TryNextAfter: 500 * time.Millisecond,
	})
	return rueidislockLocker{l}, err
}

func (l rueidislockLocker) lock(ctx context.Context, name string) (func() error, error) {
	// ctx ends the lease with the wait: rueidislock's contexts are one. The crowd
	// cancels it only when the slice is over.
	_, release, err := l.locks.WithContext(ctx, name)
	if err != nil {
		return nil, err
	}
	return func() error { release(); return nil }, nil // returns when the key is deleted
}

func (l rueidislockLocker) close() { l.locks.Close() }
