//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// plain is the lock of many tutorials: SET NX PX on one server. It ignores all faults of the server. It is a control: a
// harness that finds no fault in it is blind.
type plain struct {
	client *redis.Client
	ttl    time.Duration
}

func openPlain(r Role) (Locker, error) {
	o, err := redis.ParseURL(r.Nodes[0])
	if err != nil {
		return nil, err
	}
	return &plain{redis.NewClient(o), r.TTL}, nil
}

func (l *plain) Lock(ctx context.Context, name string) (Held, error) {
	for {
		sent, owner := time.Now(), fmt.Sprint(rand.Uint64())
		ok, err := l.client.SetNX(ctx, name, owner, l.ttl).Result()
		switch {
		case err != nil:
			return nil, err
		case ok:
			return plainHeld{l, name, owner, sent.Add(l.ttl)}, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5*time.Millisecond + rand.N(20*time.Millisecond)):
		}
	}
}

func (l *plain) Close() { _ = l.client.Close() }

type plainHeld struct {
	lock        *plain
	name, owner string
	deadline    time.Time
}

var deleteOwn = redis.NewScript(`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`)

func (h plainHeld) Token() int64          { return 0 }
func (h plainHeld) Deadline() time.Time   { return h.deadline }
func (h plainHeld) Done() <-chan struct{} { return nil }
func (h plainHeld) Unlock(ctx context.Context) error {
	return deleteOwn.Run(ctx, h.lock.client, []string{h.name}, h.owner).Err()
}
