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
		// A busy machine may pause a process for longer than the default of 20 ms. Then an acquire fails although the
		// name is free. With NoLoopTracking its waiter never hears that the name is free. In earlier runs such a waiter
		// waited for minutes.
		TryNextAfter: 500 * time.Millisecond,
	})
	return rueidislockLocker{l}, err
}

func (l rueidislockLocker) lock(ctx context.Context, name string) (func() error, error) {
	// rueidislock has one context for the wait and the lease. The crowd cancels it only after the end of the slice.
	_, release, err := l.locks.WithContext(ctx, name)
	if err != nil {
		return nil, err
	}
	return func() error { release(); return nil }, nil // release returns when the key is deleted
}

func (l rueidislockLocker) close() { l.locks.Close() }
