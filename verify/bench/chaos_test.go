//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

// This file puts other locks under the faults of Holdfast's tests, in the same harness. They are controls: their
// protocols allow two holders, so the harness must find two. Each lock is used as its documentation says.

var chaosFlags = chaos.DeclareFlags()

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArg {
		os.Exit(work(os.Stdin, os.Stdout))
	}
	chaos.BeClient(map[string]chaos.Open{
		"redsync":     chaosRedsync,
		"redislock":   chaosRedislock,
		"rueidislock": chaosRueidislock,
	})
	chaosFlags.Parse()
	os.Exit(m.Run())
}

// chaosLock is the common form of the rivals.
type chaosLock struct {
	lock  func(ctx context.Context, name string) (chaos.Held, error)
	close func()
}

func (l chaosLock) Lock(ctx context.Context, name string) (chaos.Held, error) {
	return l.lock(ctx, name)
}
func (l chaosLock) Close() { l.close() }

type chaosHeld struct {
	deadline time.Time
	done     <-chan struct{}
	unlock   func(ctx context.Context) error
}

func (h chaosHeld) Token() int64                     { return 0 } // none of them has any
func (h chaosHeld) Deadline() time.Time              { return h.deadline }
func (h chaosHeld) Done() <-chan struct{}            { return h.done }
func (h chaosHeld) Unlock(ctx context.Context) error { return h.unlock(ctx) }

// chaosRedsync opens redsync. It states the end of a lock's validity, and does not renew by itself.
func chaosRedsync(r chaos.Role) (chaos.Locker, error) {
	var pools []redsyncredis.Pool
	var ends []func()
	for _, u := range r.Nodes {
		p, end, err := goredisPool(u)
		if err != nil {
			return nil, err
		}
		pools, ends = append(pools, p), append(ends, end)
	}
	sync := redsync.New(pools...)
	return chaosLock{
		lock: func(ctx context.Context, name string) (chaos.Held, error) {
			m := sync.NewMutex(name, redsync.WithExpiry(r.TTL))
			if err := m.LockContext(ctx); err != nil {
				return nil, err
			}
			return chaosHeld{deadline: m.Until(), unlock: func(ctx context.Context) error {
				ok, err := m.UnlockContext(ctx)
				if !ok {
					return fmt.Errorf("not unlocked: %w", err)
				}
				return nil
			}}, nil
		},
		close: func() {
			for _, end := range ends {
				end()
			}
		},
	}, nil
}

// chaosRedislock opens redislock. It does not state the end of a lock's validity, which is one TTL after the request.
// This code makes each request itself, without redislock's retries, so that it knows the time of the request.
func chaosRedislock(r chaos.Role) (chaos.Locker, error) {
	c := redis.NewClient(&redis.Options{Addr: address(r.Nodes[0])})
	locks := redislock.New(c)
	return chaosLock{
		lock: func(ctx context.Context, name string) (chaos.Held, error) {
			for {
				asked := time.Now()
				held, err := locks.Obtain(ctx, name, r.TTL, nil)
				if err == nil {
					return chaosHeld{deadline: asked.Add(r.TTL), unlock: held.Release}, nil
				}
				if err != redislock.ErrNotObtained {
					return nil, err
				}
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(16 * time.Millisecond):
				}
			}
		},
		close: func() { _ = c.Close() },
	}, nil
}

// chaosRueidislock opens rueidislock. It renews a lock, and ends the lock's context if a renewal fails.
func chaosRueidislock(r chaos.Role) (chaos.Locker, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{address(r.Nodes[0])}},
		KeyMajority:  1, NoLoopTracking: true, KeyValidity: r.TTL, TryNextAfter: 500 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	return chaosLock{
		lock: func(ctx context.Context, name string) (chaos.Held, error) {
			// The wait has a bound, because a waiter that missed the notification of a release waits for ever.
			bounded, stop := context.WithTimeout(ctx, 2*r.TTL)
			defer stop()
			type got struct {
				ctx    context.Context
				cancel context.CancelFunc
				err    error
			}
			// The context of the call must stay alive while the lock is held, because the lock's context ends with it.
			// So the bound of the wait is a separate context.
			whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
			c := make(chan got, 1)
			go func() {
				held, release, err := l.WithContext(whole, name)
				c <- got{held, release, err}
			}()
			select {
			case g := <-c:
				if g.err != nil {
					cancel()
					return nil, g.err
				}
				return chaosHeld{done: g.ctx.Done(), unlock: func(context.Context) error { g.cancel(); cancel(); return nil }}, nil
			case <-bounded.Done():
				cancel()
				if g := <-c; g.err == nil { // the lock came after the bound
					g.cancel()
				}
				return nil, bounded.Err()
			}
		},
		close: l.Close,
	}, nil
}
