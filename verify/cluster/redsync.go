//go:build linux

package cluster

import (
	"context"
	"errors"

	"github.com/go-redsync/redsync/v4"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// redsyncs is redsync with one pool, on a ClusterClient of go-redis. It states the end of a lock's validity, and does not
// renew by itself.
type redsyncs struct {
	client *redis.ClusterClient
	sync   *redsync.Redsync
	role   role
}

func openRedsync(r role) (system, error) {
	client := clusterClient(r)
	return redsyncs{client, redsync.New(redsyncgoredis.NewPool(client)), r}, nil
}

// clusterClient returns a client with the defaults of go-redis. It reads from masters only.
func clusterClient(r role) *redis.ClusterClient {
	redis.SetLogger(silent{})
	return redis.NewClusterClient(&redis.ClusterOptions{Addrs: r.Addrs})
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func (s redsyncs) Lock(ctx context.Context, name string) (context.Context, int64, func(context.Context) error, error) {
	m := s.sync.NewMutex(name, redsync.WithExpiry(s.role.TTL))
	if err := m.LockContext(ctx); err != nil {
		return nil, 0, nil, err
	}
	hold, end := until(m.Until())
	return hold, 0, func(ctx context.Context) error {
		end()
		if ok, err := m.UnlockContext(ctx); !ok {
			return errors.Join(errors.New("redsync: not unlocked"), err)
		}
		return nil
	}, nil
}

func (s redsyncs) Close() { _ = s.client.Close() }
