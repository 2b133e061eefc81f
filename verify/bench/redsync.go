package main

import (
	"context"
	"errors"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redsyncrueidis "github.com/go-redsync/redsync/v4/redis/rueidis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

type redsyncLocker struct {
	sync    *redsync.Redsync
	options []redsync.Option
	end     []func()
}

var failFast = redsync.WithFailFast(true)

type pool func(url string) (redsyncredis.Pool, func(), error)

func openRedsync(connect pool, options ...redsync.Option) func([]string) (locker, error) {
	return func(urls []string) (locker, error) {
		l := &redsyncLocker{options: options}
		var pools []redsyncredis.Pool
		for _, u := range urls {
			p, end, err := connect(u)
			if err != nil {
				return nil, err
			}
			pools, l.end = append(pools, p), append(l.end, end)
		}
		l.sync = redsync.New(pools...)
		return l, nil
	}
}

func goredisPool(url string) (redsyncredis.Pool, func(), error) {
	c := redis.NewClient(&redis.Options{Addr: address(url)})
	return redsyncgoredis.NewPool(c), func() { _ = c.Close() }, nil
}

func rueidisPool(url string) (redsyncredis.Pool, func(), error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address(url)}})
	if err != nil {
		return nil, nil, err
	}
	return redsyncrueidis.NewPool(rueidiscompat.NewAdapter(c)), c.Close, nil
}

func (l *redsyncLocker) lock(ctx context.Context, name string) (func() error, error) {
	m := l.sync.NewMutex(name, l.options...)
	for {
		err := m.LockContext(ctx)
		if err == nil {
			break
		}
		// redsync gives up after 32 tries. Its documentation then says "you may retry to acquire the lock by calling
		// this method again".
		var taken *redsync.ErrTaken
		if ctx.Err() != nil || !errors.Is(err, redsync.ErrFailed) && !errors.As(err, &taken) {
			return nil, err
		}
	}
	return func() error {
		ok, err := m.UnlockContext(context.Background())
		if err == nil && !ok {
			err = errors.New("redsync: not unlocked on a majority")
		}
		if ok {
			err = nil // the errors of a minority
		}
		return err
	}, nil
}

func (l *redsyncLocker) close() {
	for _, end := range l.end {
		end()
	}
}
