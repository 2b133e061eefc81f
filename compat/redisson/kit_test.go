package redisson_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
)

const within = kit.Within

// open returns a client on servers, by URL. change may be nil.
func open(t testing.TB, urls []string, change func(*redisson.Config)) *redisson.Client {
	t.Helper()
	return client(t, kit.Nodes(t, urls...), change)
}

func client(t testing.TB, nodes []node.Node, change func(*redisson.Config)) *redisson.Client {
	t.Helper()
	return kit.Open(t, redisson.New, redisson.Config{Nodes: nodes}, change)
}

func goredis(t testing.TB, s *redistest.Server) []node.Node {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer c.Close()
	n, err := goredisnode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return []node.Node{n}
}

func urls(servers []*redistest.Server) (all []string) {
	for _, s := range servers {
		all = append(all, s.URL())
	}
	return all
}

func mustLock(t testing.TB, c *redisson.Client, name string) *redisson.Lease {
	t.Helper()
	return kit.MustLock(t, c.Mutex(name))
}

func mustUnlock(t testing.TB, l *redisson.Lease) {
	t.Helper()
	kit.MustUnlock(t, l)
}

// The scripts of RedissonLock 4.7.0, letter for letter.
const (
	javaLock = "if ((redis.call('exists', KEYS[1]) == 0) " +
		"or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then " +
		"redis.call('hincrby', KEYS[1], ARGV[2], 1); " +
		"redis.call('pexpire', KEYS[1], ARGV[1]); " +
		"return nil; " +
		"end; " +
		"return redis.call('pttl', KEYS[1]);"
	javaUnlock = "local val = redis.call('get', KEYS[3]); " +
		"if val ~= false then " +
		"return tonumber(val);" +
		"end; " +
		"if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then " +
		"return nil;" +
		"end; " +
		"local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); " +
		"if (counter > 0) then " +
		"redis.call('pexpire', KEYS[1], ARGV[2]); " +
		"redis.call('set', KEYS[3], 0, 'px', ARGV[5]); " +
		"return 0; " +
		"else " +
		"redis.call('del', KEYS[1]); " +
		"redis.call(ARGV[4], KEYS[2], ARGV[1]); " +
		"redis.call('set', KEYS[3], 1, 'px', ARGV[5]); " +
		"return 1; " +
		"end; "
	javaForceUnlock = "if (redis.call('del', KEYS[1]) == 1) then " +
		"redis.call(ARGV[2], KEYS[2], ARGV[1]); " +
		"return 1 " +
		"else " +
		"return 0 " +
		"end"
)

// java does what a thread of Redisson does, by its scripts. The real one is in the module interop.
type java struct {
	t       testing.TB
	server  *redistest.Server
	name    string
	publish string
}

const thread = "8743c9c0-0795-4907-87fd-6c719a6b4586:17"

// lock returns the remaining time in ms, or nil if it has the lock now.
func (j java) lock(ttl time.Duration) any {
	j.t.Helper()
	return j.server.MustDo(j.t, "EVAL", javaLock, 1, j.name, ttl.Milliseconds(), thread)
}

func (j java) unlock() {
	j.t.Helper()
	latch := "redisson_unlock_latch:{" + j.name + "}:b2bf4f0e6bd43b0d"
	publish := "PUBLISH"
	if j.publish != "" {
		publish = j.publish
	}
	got := j.server.MustDo(j.t, "EVAL", javaUnlock, 3, j.name, "redisson_lock__channel:{"+j.name+"}", latch, 0, 30000, thread, publish, 19500)
	if got == nil {
		j.t.Fatalf("java's unlock of %s: not the holder", j.name)
	}
	j.server.MustDo(j.t, "DEL", latch)
}

func (j java) forceUnlock() {
	j.t.Helper()
	if got := j.server.MustDo(j.t, "EVAL", javaForceUnlock, 2, j.name, "redisson_lock__channel:{"+j.name+"}", 0, "PUBLISH"); got != int64(1) {
		j.t.Fatalf("forceUnlock: %v", got)
	}
}

// hash returns the fields and values of a key.
func hash(t testing.TB, s *redistest.Server, key string) map[string]string {
	t.Helper()
	words := s.MustDo(t, "HGETALL", key).([]any)
	m := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		m[words[i].(string)] = words[i+1].(string)
	}
	return m
}

// empty fails the test unless the server has no key and no subscription, soon.
func empty(t testing.TB, s *redistest.Server) {
	t.Helper()
	var left []any
	defer func() {
		if len(left) > 0 {
			t.Errorf("on %s is left: %v", s.Addr(), left)
		}
	}()
	redistest.Eventually(t, within, "no key and no subscription is left on "+s.Addr(), func() bool {
		left = append(s.MustDo(t, "KEYS", "*").([]any), s.MustDo(t, "PUBSUB", "CHANNELS").([]any)...)
		return len(left) == 0
	})
}

// settled waits for a time without scripts, and returns their number.
func settled(t testing.TB, s *redistest.Server) (n int64) {
	t.Helper()
	redistest.Eventually(t, within, "a time without scripts", func() bool {
		before := calls(t, s)
		time.Sleep(100 * time.Millisecond)
		n = calls(t, s)
		return n == before
	})
	return n
}

// calls returns the number of EVALSHA and EVAL commands that a server ran.
func calls(t testing.TB, s *redistest.Server) (n int64) {
	t.Helper()
	for line := range strings.Lines(s.MustDo(t, "INFO", "commandstats").(string)) {
		var c int64
		for _, name := range []string{"evalsha", "eval"} {
			if _, err := fmt.Sscanf(line, "cmdstat_"+name+":calls=%d", &c); err == nil {
				n += c
			}
		}
	}
	return n
}

// subscribed waits until somebody listens on the channel of a name.
func subscribed(t testing.TB, s *redistest.Server, name string) {
	t.Helper()
	redistest.Eventually(t, within, "a subscription of "+name, func() bool {
		return s.MustDo(t, "PUBSUB", "NUMSUB", "redisson_lock__channel:{"+name+"}").([]any)[1].(int64) > 0
	})
}

// take returns the lease of a waiter on another goroutine.
func take(t testing.TB, got <-chan *redisson.Lease) *redisson.Lease {
	t.Helper()
	select {
	case l := <-got:
		return l
	case <-time.After(2 * within):
		t.Fatal("the waiter has no lock yet")
		return nil
	}
}
