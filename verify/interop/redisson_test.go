package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Both sides refuse each other, touch nothing, and keep their counts.
func TestBothSidesRefuseEachOther(t *testing.T) {
	s := redistest.Start(t)
	for _, prefix := range []string{"", "app:"} {
		java := newPeer(t, single, []*redistest.Server{s}, 10*time.Second, prefix)
		c := open(t, []*redistest.Server{s}, func(c *redisson.Config) { c.MapName = func(name string) string { return prefix + name } })

		java.must("locked", "a", "lock", "orders")
		java.must("true", "a", "try", "orders")
		java.must("true", "a", "try", "orders")
		before := dump(t, s, prefix+"orders")
		refused(t, c, "orders")
		if after := dump(t, s, prefix+"orders"); after != before || !strings.Contains(after, " 3]") {
			t.Fatalf("the hash was %s, and is %s", before, after)
		}
		java.must("unlocked", "a", "unlock", "orders")
		java.must("unlocked", "a", "unlock", "orders")
		java.must("1", "a", "count", "orders")
		refused(t, c, "orders")
		java.must("unlocked", "a", "unlock", "orders")

		l, err := c.Mutex("orders").TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		inner, err := c.Mutex("orders").Lock(l.Context())
		if err != nil {
			t.Fatal(err)
		}
		java.must("false", "a", "try", "orders")
		java.must("false", "b", "wait", "orders", "50")
		if got := java.do("a", "unlock", "orders"); !strings.HasPrefix(got, "IllegalMonitorStateException") {
			t.Errorf("java unlocks our lock: %q", got)
		}
		if after := dump(t, s, prefix+"orders"); after != fmt.Sprintf("[mode write %s 2]", l.Owner()) {
			t.Errorf("the hash is %s", after)
		}
		unlock(t, inner)
		java.must("false", "a", "try", "orders")
		unlock(t, l)
		java.must("true", "a", "try", "orders")
		java.must("unlocked", "a", "unlock", "orders")
		java.quit()
		empty(t, s)
	}
}

// 10,000 hand-offs in each direction. Each one begins when the other side is known to wait, and its unlock is the only
// thing that can wake it: Go's poll is an hour, and Java's is the rest of the TTL, 20 s and more.
func TestHandOffsInBothDirections(t *testing.T) {
	handOffs(t, single, 10_000)
}

// The same on a Redis Cluster of one shard, where Redisson uses SPUBLISH and SSUBSCRIBE.
func TestHandOffsOnShardedChannels(t *testing.T) {
	handOffs(t, cluster, 200)
}

func handOffs(t *testing.T, m mode, rounds int) {
	publish, subscribe := "PUBLISH", "SUBSCRIBE"
	var args []redistest.Option
	if m == cluster {
		publish, subscribe = "SPUBLISH", "SSUBSCRIBE"
		args = append(args, redistest.Args("--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"))
	}
	s := redistest.Start(t, args...)
	if m == cluster {
		s.MustDo(t, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
		redistest.Eventually(t, within, "the cluster is up", func() bool {
			_, err := s.Do("SET", "{orders}probe", "1", "PX", 1)
			return err == nil
		})
	}
	java := newPeer(t, m, []*redistest.Server{s}, 30*time.Second, "")
	c := open(t, []*redistest.Server{s}, func(c *redisson.Config) { c.Sharded = m == cluster })
	watched := watch(t, s)
	is := func(word string) func(command) bool {
		return func(c command) bool {
			return c.from != "lua" && strings.HasPrefix(strings.ToUpper(c.text), `"`+word+`" `)
		}
	}
	inside := func(text string) func(command) bool {
		return func(c command) bool { return c.from == "lua" && strings.HasPrefix(c.text, text) }
	}
	java.must("locked", "a", "lock", "orders")
	begin := watched.now()
	var toGo, toJava []time.Duration
	after := func(pos int, message command, text string) {
		_, got := watched.await(pos, "the waiter's success", inside(text))
		if text == `"HSET"` {
			toGo = append(toGo, got.at-message.at)
		} else {
			toJava = append(toJava, got.at-message.at)
		}
	}
	for i := range rounds {
		pos := watched.now()
		got := start(t, c, "orders")
		if i == 0 {
			pos, _ = watched.await(pos, "Go's subscription", is(subscribe))
		}
		pos, _ = watched.await(pos, "Go's refused try", inside(`"PTTL"`))
		java.must("unlocked", "a", "unlock", "orders")
		pos, message := watched.await(pos, "java's message", inside(`"`+publish+`"`))
		l := <-got
		after(pos, message, `"HSET"`)

		pos = watched.now()
		locked := java.start("a", "lock", "orders")
		pos, _ = watched.await(pos, "java's subscription", is(subscribe))
		pos, _ = watched.await(pos, "java's refused try", inside(`"pttl"`))
		unlock(t, l)
		pos, message = watched.await(pos, "Go's message", inside(`"`+publish+`"`))
		if got := java.await(locked); got != "locked" {
			t.Fatalf("java: %s", got)
		}
		after(pos, message, `"hincrby"`)
	}
	tries := 0 // both sides' scripts that take the lock begin with EXISTS; Redisson's renewals, which are many, do not
	for _, c := range watched.since(begin) {
		if inside(`"exists"`)(c) || inside(`"EXISTS" "redisson_unlock_latch`)(c) {
			tries++
		}
	}
	java.must("unlocked", "a", "unlock", "orders")
	t.Logf("%d hand-offs to Go: %s", rounds, quantiles(toGo))
	t.Logf("%d hand-offs to Java: %s", rounds, quantiles(toJava))
	t.Logf("%.3f tries per hand-off", float64(tries)/float64(2*rounds))
	// A hand-off to Go costs a refused try and a success. The message of its own last unlock may cost one more try. A
	// hand-off to Java costs two refused tries and a success, because it subscribes each time.
	if most := 6*rounds + 10; tries < 4*rounds || tries > most {
		t.Errorf("%d tries for %d hand-offs, want %d to %d: somebody polls", tries, 2*rounds, 4*rounds, most)
	}
	java.quit()
	empty(t, s)
}

func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))] }
	return fmt.Sprintf("p50 %v, p99 %v, p99.9 %v, max %v; %d above 50 ms",
		at(0.5), at(0.99), at(0.999), at(1), len(all)-upTo(all, 50*time.Millisecond))
}

func upTo(all []time.Duration, d time.Duration) int {
	n, _ := slices.BinarySearch(all, d+1)
	return n
}

// Go renews its lease while Java waits for several TTLs. Java gets the lock when Go gives it back.
func TestGoRenewsWhileJavaWaits(t *testing.T) {
	s := redistest.Start(t)
	java := newPeer(t, single, []*redistest.Server{s}, time.Second, "")
	c := open(t, []*redistest.Server{s}, func(c *redisson.Config) { c.TTL = time.Second })
	l := lock(t, c, "orders")
	first := l.Deadline()
	locked := java.start("a", "lock", "orders")
	redistest.Eventually(t, within, "five TTLs", func() bool { return l.Deadline().Sub(first) > 5*time.Second })
	select {
	case got := <-locked:
		t.Fatalf("java, beside a lease: %s", got)
	default:
	}
	if l.Context().Err() != nil {
		t.Fatal("the lease was lost")
	}
	unlock(t, l)
	if got := java.await(locked); got != "locked" {
		t.Fatalf("java: %s", got)
	}

	// The other way round: Java's watchdog renews, and Go waits.
	got := start(t, c, "orders")
	redistest.Eventually(t, within, "java's lock is renewed", func() bool {
		time.Sleep(3 * time.Second) // the watchdog has no signal of its own
		return len(got) == 0
	})
	java.must("unlocked", "a", "unlock", "orders")
	unlock(t, <-got)
	java.quit()
	empty(t, s)
}

// A Java holder is killed: Go gets the lock when its lease has ended. A Go holder is killed likewise.
func TestAKilledHolderIsFollowed(t *testing.T) {
	s := redistest.Start(t)
	servers := []*redistest.Server{s}
	java := newPeer(t, single, servers, 2*time.Second, "")
	c := open(t, servers, nil)
	java.must("locked", "a", "lock", "orders")
	before := dump(t, s, "orders")
	got := start(t, c, "orders")
	java.kill()
	if now := dump(t, s, "orders"); now != before {
		t.Errorf("the killed holder's hash is %s, was %s", now, before)
	}
	l := <-got
	if now := dump(t, s, "orders"); now != fmt.Sprintf("[mode write %s 1]", l.Owner()) {
		t.Errorf("the hash is %s", now)
	}
	unlock(t, l)
	empty(t, s)
}

// forceUnlock of Java ends our lease at its next renewal. A next holder is not disturbed by our Unlock.
func TestJavasForceUnlockIsSeen(t *testing.T) {
	s := redistest.Start(t)
	java := newPeer(t, single, []*redistest.Server{s}, 30*time.Second, "")
	c := open(t, []*redistest.Server{s}, func(c *redisson.Config) { c.TTL = time.Second })
	l := lock(t, c, "orders")
	java.must("true", "a", "force", "orders")
	java.must("true", "a", "try", "orders")
	<-l.Context().Done()
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the cause is %v", err)
	}
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Unlock: %v", err)
	}
	java.must("1", "a", "count", "orders")
	java.must("unlocked", "a", "unlock", "orders")
	java.quit()
	empty(t, s)
}

// RFencedLock and this package draw from one number.
func TestTokensGrowOverBothSides(t *testing.T) {
	s := redistest.Start(t)
	java := newPeer(t, single, []*redistest.Server{s}, 30*time.Second, "")
	c := open(t, []*redistest.Server{s}, nil)
	for i := 1; i < 10; i += 2 {
		java.must(fmt.Sprint(i), "a", "fenced", "orders")
		java.must("unlocked", "a", "fenced-unlock", "orders")
		l := lock(t, c, "orders")
		if l.Fence() != int64(i+1) {
			t.Fatalf("token %d, want %d", l.Fence(), i+1)
		}
		unlock(t, l)
	}
}

// Redisson does not understand the plain key of Holdfast's own clients: it throws WRONGTYPE instead of waiting, and
// changes nothing. This package says the same in an error of its own. Holdfast waits for Redisson's hash.
func TestRedissonThrowsOnThePlainKey(t *testing.T) {
	s := redistest.Start(t)
	java := newPeer(t, single, []*redistest.Server{s}, 30*time.Second, "")
	nodes, err := rueidisnode.Open(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	h, err := holdfast.New(holdfast.Config{Nodes: nodes, TTL: 3 * time.Second, MaxTTL: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c := open(t, []*redistest.Server{s}, nil)
	l, err := h.Mutex("orders").Lock(t.Context()) // waits for the end of the new server's quarantine
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"try", "lock", "unlock"} {
		if got := java.do("a", command, "orders"); !strings.Contains(got, "WRONGTYPE") {
			t.Errorf("java %s: %q", command, got)
		}
	}
	if _, err := c.Mutex("orders").Lock(t.Context()); !errors.Is(err, redisson.ErrWrongKind) || !strings.Contains(err.Error(), l.Owner()) {
		t.Errorf("Lock: %v", err)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Errorf("the lease of Holdfast: %v", err)
	}
	java.must("true", "a", "try", "orders")
	if _, err := h.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLock of Holdfast beside Redisson: %v", err)
	}
	java.must("unlocked", "a", "unlock", "orders")
}

// RedissonRedLock and a client with three nodes exclude each other, and hand over in both directions.
func TestRedLockOnThreeServers(t *testing.T) {
	servers := redistest.StartN(t, 3)
	java := newPeer(t, red, servers, 30*time.Second, "")
	c := open(t, servers, nil)
	java.must("true", "a", "try", "orders")
	refused(t, c, "orders")
	for range 20 {
		got := start(t, c, "orders")
		redistest.Eventually(t, within, "Go waits", func() bool {
			return servers[0].MustDo(t, "PUBSUB", "NUMSUB", "redisson_lock__channel:{orders}").([]any)[1].(int64) > 0
		})
		java.must("unlocked", "a", "unlock", "orders")
		l := <-got
		java.must("false", "a", "try", "orders")
		locked := java.start("a", "lock", "orders")
		unlock(t, l)
		if got := java.await(locked); got != "locked" {
			t.Fatalf("java: %s", got)
		}
	}
	servers[2].Kill() // a minority
	java.must("unlocked", "a", "unlock", "orders")
	l := lock(t, c, "orders")
	java.must("false", "a", "try", "orders")
	unlock(t, l)
	java.must("true", "a", "try", "orders")
	refused(t, c, "orders")
	java.must("unlocked", "a", "unlock", "orders")
	java.quit()
	empty(t, servers[:2]...)
}
