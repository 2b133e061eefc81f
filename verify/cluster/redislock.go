//go:build linux

package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// redislocks is bsm/redislock on a ClusterClient of go-redis. It does not state the end of a lock's validity, which is a
// TTL after the request, and does not renew by itself. This code makes each request without redislock's retries, so that
// it knows the time of the request.
type redislocks struct {
	client *redis.ClusterClient
	locks  *redislock.Client
	role   role
}

func openRedislock(r role) (system, error) {
	client := clusterClient(r)
	return redislocks{client, redislock.New(client), r}, nil
}

func (s redislocks) Lock(ctx context.Context, name string) (context.Context, int64, func(context.Context) error, error) {
	for {
		asked := time.Now()
		held, err := s.locks.Obtain(ctx, name, s.role.TTL, nil)
		if err == nil {
			hold, end := until(asked.Add(s.role.TTL))
			return hold, 0, func(ctx context.Context) error {
				end()
				return held.Release(ctx)
			}, nil
		}
		if !errors.Is(err, redislock.ErrNotObtained) {
			return nil, 0, nil, err
		}
		select {
		case <-ctx.Done():
			return nil, 0, nil, ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func (s redislocks) Close() { _ = s.client.Close() }
