package redisson_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// Where a fleet uses RFencedLock, each of our acquisitions draws a token of the same number, with and without Fenced.
func TestTokensAreDrawnFromRFencedLocksNumber(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	plain := open(t, []string{s.URL()}, nil)
	fenced := open(t, []string{s.URL()}, func(c *redisson.Config) { c.Fenced = true })
	l := mustLock(t, plain, "orders")
	if l.Fence() != 0 || s.MustDo(t, "EXISTS", "redisson_lock_token:{orders}") != int64(0) {
		t.Errorf("token %d where no RFencedLock is used", l.Fence())
	}
	mustUnlock(t, l)
	for want, c := range []*redisson.Client{fenced, plain, fenced, plain} {
		l := mustLock(t, c, "orders")
		if l.Fence() != int64(want+1) {
			t.Errorf("token %d, want %d", l.Fence(), want+1)
		}
		mustUnlock(t, mustLockIn(t, c, l)) // a handle draws none
		mustUnlock(t, l)
	}
	s.MustDo(t, "SET", "redisson_lock_token:{orders}", "9007199254740990")
	l = mustLock(t, plain, "orders")
	if l.Fence() != 9007199254740991 {
		t.Errorf("token %d", l.Fence())
	}
	mustUnlock(t, l)
}

// A token key that is no number is an error, and nothing is locked.
func TestABrokenTokenKeyLocksNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	s.MustDo(t, "SET", "redisson_lock_token:{orders}", "x")
	if _, err := c.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("TryLock: %v", err)
	}
	if s.MustDo(t, "EXISTS", "orders") != int64(0) {
		t.Error("the lock is held")
	}
}

// On sharded channels both drivers hear SPUBLISH, and Unlock sends it. The server is a whole Redis Cluster.
func TestShardedChannels(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*redistest.Server) []node.Node{
		"go-redis": func(s *redistest.Server) []node.Node { return goredis(t, s) },
		"rueidis":  func(s *redistest.Server) []node.Node { return rueidis(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cluster(t)
			c := client(t, open(s), func(c *redisson.Config) { c.Sharded, c.Poll = true, time.Hour })
			j := java{t: t, server: s, name: "orders", publish: "SPUBLISH"}
			j.lock(time.Hour)
			got := make(chan *redisson.Lease)
			go func() { got <- mustLock(t, c, "orders") }()
			heard := func() bool {
				return s.MustDo(t, "PUBSUB", "SHARDNUMSUB", "redisson_lock__channel:{orders}").([]any)[1].(int64) > 0
			}
			redistest.Eventually(t, within, "a sharded subscription", heard)
			j.unlock()
			l := take(t, got)
			go func() { got <- mustLock(t, c, "orders") }()
			redistest.Eventually(t, within, "a sharded subscription", heard)
			mustUnlock(t, l)
			mustUnlock(t, take(t, got))
		})
	}
}

// cluster starts a server that is a Redis Cluster of one shard.
func cluster(t testing.TB) *redistest.Server {
	t.Helper()
	s := redistest.Start(t, redistest.Args("--cluster-enabled", "yes"))
	s.MustDo(t, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	redistest.Eventually(t, within, "the cluster is up", func() bool {
		_, err := s.Do("SET", "{orders}probe", "1", "PX", 1)
		return err == nil
	})
	return s
}
