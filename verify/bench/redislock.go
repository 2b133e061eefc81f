package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

type redislockLocker struct {
	client *redis.Client
	locks  *redislock.Client
}

func openRedislock(urls []string) (locker, error) {
	c := redis.NewClient(&redis.Options{Addr: address(urls[0])})
	return redislockLocker{c, redislock.New(c)}, nil
}

func (l redislockLocker) lock(ctx context.Context, name string) (func() error, error) {
	// A strategy counts its retries, so each lock needs a new one.
	held, err := l.locks.Obtain(ctx, name, 10*time.Second, &redislock.Options{
		RetryStrategy: redislock.ExponentialBackoff(16*time.Millisecond, 128*time.Millisecond),
	})
	if err != nil {
		return nil, err
	}
	return func() error { return held.Release(context.Background()) }, nil
}

func (l redislockLocker) close() { _ = l.client.Close() }
