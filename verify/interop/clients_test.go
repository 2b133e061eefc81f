package interop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	syncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// locker is a client of Go in a peer process. try returns errRefused if somebody else has the lock.
type locker interface {
	try(name string) (unlock func() error, err error)
	lock(name string) (unlock func() error, err error)
}

var errRefused = errors.New("refused")

// goClients are the peers that the test binary itself can be.
var goClients = map[string]func(addrs []string, ttl time.Duration) (locker, error){
	"holdfast":      newOurs,
	"private":       newPrivate,
	"read":          newMode(func(c *holdfast.Client, name string) taker { return reads{c.Mutex(name)} }),
	"write":         newMode(func(c *holdfast.Client, name string) taker { return c.Mutex(name) }),
	"semaphore":     newMode(func(c *holdfast.Client, name string) taker { return permits{c.Semaphore(name, places)} }),
	"redsync":       newRedsync,
	"redislock":     newRedislock,
	"StackExchange": newStackExchange,
	"rueidislock":   newRueidislock(1),
	"rueidislock-2": newRueidislock(2), // the default
}

// ours is Holdfast. PollGap gives pollers a turn.
type ours struct{ client *holdfast.Client }

func ourClient(addrs []string, ttl, gap time.Duration, changes ...func(*holdfast.Config)) (*holdfast.Client, error) {
	var urls []string
	for _, a := range addrs {
		urls = append(urls, "redis://"+a)
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		return nil, err
	}
	config := holdfast.Config{Nodes: nodes, TTL: ttl, MaxTTL: maxTTL, PollGap: gap, Logger: slog.New(slog.DiscardHandler)}
	for _, change := range changes {
		change(&config)
	}
	return holdfast.New(config)
}

func newOurs(addrs []string, ttl time.Duration) (locker, error) {
	c, err := ourClient(addrs, ttl, gap)
	return ours{c}, err
}

// newPrivate is Holdfast without the plain key. No other library sees its locks.
func newPrivate(addrs []string, ttl time.Duration) (locker, error) {
	c, err := ourClient(addrs, ttl, 0, func(c *holdfast.Config) { c.Private = true })
	return ours{c}, err
}

func (o ours) try(name string) (func() error, error) {
	l, err := o.client.Mutex(name).TryLock(context.Background())
	if errors.Is(err, holdfast.ErrHeld) {
		return nil, errRefused
	}
	return func() error { return l.Unlock(context.Background()) }, err
}

func (o ours) lock(name string) (func() error, error) {
	l, err := o.client.Mutex(name).Lock(context.Background())
	return func() error { return l.Unlock(context.Background()) }, err
}

// syncs is redsync with its defaults: 32 tries, 50 to 250 ms apart.
type syncs struct {
	sync *redsync.Redsync
	ttl  time.Duration
}

func newRedsync(addrs []string, ttl time.Duration) (locker, error) {
	var pools []syncredis.Pool
	for _, a := range addrs {
		pools = append(pools, goredis.NewPool(redis.NewClient(&redis.Options{Addr: a})))
	}
	return syncs{redsync.New(pools...), ttl}, nil
}

func (s syncs) take(m *redsync.Mutex, lock func() error) (func() error, error) {
	var taken *redsync.ErrTaken
	switch err := lock(); {
	case errors.As(err, &taken), errors.Is(err, redsync.ErrFailed):
		return nil, errRefused
	case err != nil:
		return nil, err
	}
	return func() error {
		ok, err := m.Unlock()
		if !ok && err == nil {
			err = errors.New("unlock returned false")
		}
		return err
	}, nil
}

func (s syncs) try(name string) (func() error, error) {
	m := s.sync.NewMutex(name, redsync.WithExpiry(s.ttl))
	return s.take(m, m.TryLock)
}

func (s syncs) lock(name string) (func() error, error) {
	for {
		m := s.sync.NewMutex(name, redsync.WithExpiry(s.ttl))
		unlock, err := s.take(m, m.Lock)
		if !errors.Is(err, errRefused) { // 32 tries were in vain
			return unlock, err
		}
	}
}

// redislocks is bsm/redislock. It has no default for retries; this one asks each 100 ms.
type redislocks struct {
	client *redislock.Client
	ttl    time.Duration
}

func newRedislock(addrs []string, ttl time.Duration) (locker, error) {
	return redislocks{redislock.New(redis.NewClient(&redis.Options{Addr: addrs[0]})), ttl}, nil
}

func (r redislocks) obtain(ctx context.Context, name string, retry redislock.RetryStrategy) (func() error, error) {
	l, err := r.client.Obtain(ctx, name, r.ttl, &redislock.Options{RetryStrategy: retry})
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil, errRefused
	}
	return func() error { return l.Release(context.Background()) }, err
}

func (r redislocks) try(name string) (func() error, error) {
	return r.obtain(context.Background(), name, redislock.NoRetry())
}

func (r redislocks) lock(name string) (func() error, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // without a deadline Obtain waits for the TTL only
	defer cancel()
	return r.obtain(ctx, name, redislock.LinearBackoff(100*time.Millisecond))
}

// rueidislocks is rueidislock. Of a name it makes 2n-1 keys on one server, and takes n of them.
type rueidislocks struct{ rueidislock.Locker }

func newRueidislock(majority int32) func(addrs []string, ttl time.Duration) (locker, error) {
	return func(addrs []string, ttl time.Duration) (locker, error) {
		l, err := rueidislock.NewLocker(rueidislock.LockerOption{
			ClientOption: rueidis.ClientOption{InitAddress: addrs[:1]}, KeyMajority: majority, KeyValidity: ttl,
			TryNextAfter: time.Second, // the default of 20 ms is less than a stall of a busy machine
		})
		return rueidislocks{l}, err
	}
}

func (r rueidislocks) take(lock func(context.Context, string) (context.Context, context.CancelFunc, error), name string) (func() error, error) {
	_, cancel, err := lock(context.Background(), name)
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return nil, errRefused
	}
	return func() error { cancel(); return nil }, err
}

func (r rueidislocks) try(name string) (func() error, error) { return r.take(r.TryWithContext, name) }

func (r rueidislocks) lock(name string) (func() error, error) { return r.take(r.WithContext, name) }

// stackExchange sends the commands of StackExchange.Redis: LockTake is SET NX PX, and LockRelease is a transaction on
// the condition that the value is the token. LockTake never waits, so the program asks again: here each 100 ms.
type stackExchange struct {
	db  *redis.Client
	ttl time.Duration
}

func newStackExchange(addrs []string, ttl time.Duration) (locker, error) {
	return stackExchange{redis.NewClient(&redis.Options{Addr: addrs[0]}), ttl}, nil
}

func (s stackExchange) try(name string) (func() error, error) {
	ctx, token := context.Background(), fmt.Sprintf("token-%d", time.Now().UnixNano())
	ok, err := s.db.SetNX(ctx, name, token, s.ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errRefused
	}
	return func() error {
		return s.db.Watch(ctx, func(tx *redis.Tx) error {
			if value, err := tx.Get(ctx, name).Result(); err != nil || value != token {
				return fmt.Errorf("LockRelease: the value is %q, %w", value, err)
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Del(ctx, name).Err() })
			return err
		}, name)
	}, nil
}

func (s stackExchange) lock(name string) (func() error, error) {
	for {
		unlock, err := s.try(name)
		if !errors.Is(err, errRefused) {
			return unlock, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
