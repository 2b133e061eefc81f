package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

const (
	ttl    = 2 * time.Second // of both sides
	maxTTL = 3 * time.Second
	gap    = 250 * time.Millisecond // Config.PollGap in a crowd
)

var spring = []string{"java", "-XX:+UseSerialGC", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", "spring/target/classes:spring/target/lib/*", "Peer"}

// libraries are the clients of the plain key. poll is what the library does by default, or what the peer does for it.
var libraries = []library{
	{name: "redis-py", nodes: 1, poll: 100 * time.Millisecond, command: python},
	{name: "redsync", nodes: 3, poll: 250 * time.Millisecond},
	{name: "redislock", nodes: 1, poll: 100 * time.Millisecond},
	{name: "node-redlock", nodes: 3, poll: 300 * time.Millisecond, command: node},
	{name: "node-redlock-5", nodes: 3, poll: 300 * time.Millisecond, command: node, stalls: true},
	{name: "redlock-py", nodes: 3, poll: 200 * time.Millisecond, command: python},
	{name: "StackExchange", nodes: 1, poll: 100 * time.Millisecond},
	{name: "rslock", nodes: 3, poll: 200 * time.Millisecond, command: []string{"rust/target/debug/peer"}},
	{name: "rueidislock", nodes: 1, prefix: "rueidislock:0:"}, // the server's invalidation of the key wakes it
	{name: "Spring", nodes: 1, poll: 100 * time.Millisecond, prefix: "app:", command: spring},
}

// each runs a test for each library, on new servers, with a client of Holdfast.
func each(t *testing.T, test func(t *testing.T, lib library, servers []*redistest.Server, us *holdfast.Client)) {
	for _, lib := range libraries {
		t.Run(lib.name, func(t *testing.T) {
			servers := redistest.StartN(t, lib.nodes)
			us := voting(t, servers)
			test(t, lib, servers, us)
		})
	}
}

// seen returns a key as the servers store it.
func seen(t testing.TB, servers []*redistest.Server, key string) (all []any) {
	for _, s := range servers {
		all = append(all, s.MustDo(t, "DUMP", key))
	}
	return all
}

// tried waits until somebody has asked each server at least n times since the count before. Only the waiter asks.
func tried(t testing.TB, s *redistest.Server, key string, begin func()) {
	t.Helper()
	m := watch(t, s)
	begin()
	m.await(0, "a try for "+key, func(c command) bool { return strings.Contains(c.text, `"`+key+`"`) })
}

// While the library holds the lock, ours is refused and touches nothing. While ours holds it, the library is refused.
func TestLibrariesAndHoldfastRefuseEachOther(t *testing.T) {
	each(t, func(t *testing.T, lib library, servers []*redistest.Server, us *holdfast.Client) {
		them := newRemote(t, lib, servers, 20*time.Second)
		key := lib.prefix + "orders"
		them.must("ok", "try", "orders")
		before := seen(t, servers, key)
		if before[0] == nil {
			t.Fatalf("the library sets no key %s; the keys are %v", key, servers[0].MustDo(t, "KEYS", "*"))
		}
		_, err := us.Mutex(key).TryLock(t.Context())
		var held *holdfast.HeldError
		if !errors.As(err, &held) || !held.Holder().Foreign {
			t.Errorf("TryLock: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := us.Mutex(key).Lock(ctx); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("Lock: %v", err)
		}
		if after := seen(t, servers, key); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Error("the library's key was changed")
		}
		them.must("ok", "unlock", "orders")

		l, err := us.Mutex(key).TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		them.must("refused", "try", "orders")
		if err := l.Extend(t.Context(), ttl); err != nil {
			t.Errorf("Extend after the library's try: %v", err)
		}
		them.must("refused", "try", "orders")
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		them.must("ok", "try", "orders")
		them.must("ok", "unlock", "orders")
		for _, s := range servers {
			if v := s.MustDo(t, "EXISTS", key); v != int64(0) {
				t.Errorf("the key is left on %s", s.Addr())
			}
		}
	})
}

// Ours finds a release of the library within a second, and the library finds ours at its next try.
func TestReleasesAreFound(t *testing.T) {
	each(t, func(t *testing.T, lib library, servers []*redistest.Server, us *holdfast.Client) {
		them := newRemote(t, lib, servers, 20*time.Second)
		key := lib.prefix + "orders"
		var slowest [2]time.Duration
		for range 5 {
			them.must("ok", "lock", "orders")
			got := make(chan *holdfast.Lease, 1)
			tried(t, servers[0], key, func() {
				go func() {
					l, err := us.Mutex(key).Lock(t.Context())
					if err != nil {
						t.Error(err)
					}
					got <- l
				}()
			})
			them.must("ok", "unlock", "orders")
			released := time.Now()
			l := <-got
			if l == nil {
				return
			}
			slowest[0] = max(slowest[0], time.Since(released))

			tried(t, servers[0], key, func() { them.send("lock", "orders") })
			if err := l.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
			released = time.Now()
			if got := them.answer(); got != "ok" {
				t.Fatalf("lock: %q", got)
			}
			slowest[1] = max(slowest[1], time.Since(released))
			them.must("ok", "unlock", "orders")
		}
		t.Logf("%s: ours found a release after %v at most, the library after %v (it asks each %v)", lib.name, slowest[0], slowest[1], lib.poll)
		if slowest[0] > time.Second {
			t.Errorf("ours found a release after %v, want 1s", slowest[0])
		}
		if slowest[1] > lib.poll+time.Second {
			t.Errorf("the library found a release after %v, want its pause of %v and a second for a busy machine", slowest[1], lib.poll)
		}
	})
}
