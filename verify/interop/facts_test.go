package interop

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// These tests show facts about other libraries that docs/guide/coexistence.md states. They hold without Holdfast, too.
// A test that fails after an update of a library means: the page has to change.

var node = []string{"node", "node/peer.js"}

var python = []string{"python/.venv/bin/python", "python/peer.py"}

// ShedLock's unlock is a plain DEL. After its own time it frees the lock of the next holder. safeUpdate(true) compares.
func TestShedLockFreesAnothersLockUnlessItIsSafe(t *testing.T) {
	for name, frees := range map[string]bool{"ShedLock": true, "ShedLock-safe": false} {
		s := redistest.Start(t)
		us := voting(t, []*redistest.Server{s})
		const key = "job-lock:app:orders"
		them := newRemote(t, library{name: name, command: spring}, []*redistest.Server{s}, time.Second)
		them.must("ok", "try", "orders")
		if _, err := us.Mutex(key).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Fatalf("%s: TryLock: %v", name, err)
		}
		l, err := us.Mutex(key).Lock(t.Context()) // waits until ShedLock's lock has expired
		if err != nil {
			t.Fatal(err)
		}
		them.must("refused", "try", "orders")
		them.send("unlock", "orders") // it is late
		said := them.answer()
		if freed := s.MustDo(t, "EXISTS", key) == int64(0); freed != frees {
			t.Errorf("%s: a late unlock says %q, and our key is freed: %v, want %v", name, said, freed, frees)
		}
		_ = l.Unlock(t.Context()) // an error says that the plain key was gone
	}
}

// A waiter of Spring's PUB_SUB_LOCK does not poll: it waits for a message, or for its own expiry. Holdfast sends none.
// A program that publishes the key on Spring's channel after Unlock wakes it.
func TestSpringsPubSubLockNeedsAMessage(t *testing.T) {
	const key, expiry = "app:orders", 8 * time.Second
	s := redistest.Start(t)
	us := voting(t, []*redistest.Server{s})
	them := newRemote(t, library{name: "Spring-pubsub", command: spring}, []*redistest.Server{s}, expiry)
	for _, publishes := range []bool{false, true} {
		l, err := us.Mutex(key).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tried(t, s, key, func() { them.send("lock", "orders") })
		redistest.Eventually(t, within, "Spring listens", func() bool { return s.MustDo(t, "PUBSUB", "NUMPAT") != int64(0) })
		time.Sleep(500 * time.Millisecond) // it tries once more, and then waits
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		released := time.Now()
		if publishes {
			s.MustDo(t, "PUBLISH", "app-channel:"+key, key)
		}
		if got := them.answer(); got != "ok" {
			t.Fatalf("lock: %q", got)
		}
		waited := time.Since(released)
		t.Logf("with a message: %v; Spring got the lock %v after Unlock", publishes, waited.Round(time.Millisecond))
		if woken := waited < expiry/2; woken != publishes {
			t.Errorf("with a message %v, Spring was woken: %v", publishes, woken)
		}
		them.must("ok", "unlock", "orders")
	}
}

// By default rueidislock takes two of three keys of a name on one server. It asks for them in order, and a refusal ends
// the try: so the first key excludes it. But without an answer it goes on to the next key, and may hold the second and
// the third one only. The first two keys together exclude it in any case.
func TestRueidislockTakesSeveralKeys(t *testing.T) {
	s := redistest.Start(t)
	us := voting(t, []*redistest.Server{s})
	them := newRemote(t, library{name: "rueidislock-2"}, []*redistest.Server{s}, ttl)
	keys := []string{"rueidislock:0:orders", "rueidislock:1:orders"}
	one, err := us.Mutex(keys[0]).TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	them.must("refused", "try", "orders")
	if err := one.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.MustDo(t, "SET", keys[0], "a foreign value", "PX", 60_000)
	them.must("refused", "try", "orders")
	s.MustDo(t, "DEL", keys[0])
	them.must("ok", "try", "orders")
	s.MustDo(t, "DEL", keys[0]) // as if its request for this key had got no answer
	if one, err = us.Mutex(keys[0]).TryLock(t.Context()); err != nil {
		t.Errorf("the first key beside a holder of the others: %v", err)
	} else if _, err := us.Mutex(keys[1]).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("the second key beside a holder of the others: %v", err)
	} else if err := one.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	them.must("ok", "unlock", "orders")
	for range 20 {
		them.must("ok", "try", "orders")
		if _, err := us.TryLockAll(t.Context(), keys); !errors.Is(err, holdfast.ErrHeld) {
			t.Fatalf("TryLockAll beside rueidislock: %v", err)
		}
		them.must("ok", "unlock", "orders")
		both, err := us.LockAll(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		them.must("refused", "try", "orders")
		if err := both.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// pottery stores its lock under redlock:NAME. The name of Holdfast is the whole key.
func TestPotteryAddsAPrefix(t *testing.T) {
	servers := redistest.StartN(t, 3)
	us := voting(t, servers)
	them := newRemote(t, library{name: "pottery", nodes: 3, command: python}, servers, 20*time.Second)
	them.must("ok", "try", "orders")
	l, err := us.Mutex("orders").TryLock(t.Context())
	if err != nil {
		t.Errorf("the name without the prefix: %v; pottery's keys are %v", err, servers[0].MustDo(t, "KEYS", "*"))
	} else {
		_ = l.Unlock(t.Context())
	}
	if _, err := us.Mutex("redlock:orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("the name with the prefix: %v", err)
	}
	them.must("ok", "unlock", "orders")
	l, err = us.Mutex("redlock:orders").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	them.must("refused", "try", "orders")
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// The beta of node-redlock 5 keeps the key of a minority over its tries, and its own key refuses its next try there. So
// such a waiter blocks that server until the key expires. Version 4 deletes the key after each try.
func TestNodeRedlock5KeepsAMinorityOverItsTries(t *testing.T) {
	for name, keeps := range map[string]bool{"node-redlock": false, "node-redlock-5": true} {
		servers := redistest.StartN(t, 3)
		for _, s := range servers[:2] {
			s.MustDo(t, "SET", "orders", "another holder", "PX", 60_000)
		}
		watched := watch(t, servers[2])
		them := newRemote(t, library{name: name, command: node}, servers, 20*time.Second)
		pos := watched.now()
		them.send("lock", "orders")
		script := func(c command) bool { return c.from != "lua" && strings.Contains(c.text, `"orders"`) }
		set := func(c command) bool { return c.from == "lua" && strings.HasPrefix(c.text, `"set"`) }
		pos, _ = watched.await(pos, "the first key of the minority", set)
		tries := 4
		for range tries { // they take 0.4 to 1.2 s
			pos, _ = watched.await(pos, "a script", script)
		}
		sets, deletes := 0, 0
		for _, c := range watched.since(0) {
			if set(c) {
				sets++
			}
			if c.from == "lua" && strings.HasPrefix(c.text, `"del"`) {
				deletes++
			}
		}
		them.Kill()
		left := servers[2].MustDo(t, "PTTL", "orders").(int64)
		t.Logf("%s: %d times set and %d times deleted on the minority; when the waiter was killed the key had %d ms", name, sets, deletes, left)
		if (deletes == 0) != keeps || keeps && left <= 0 {
			t.Errorf("%s: it keeps the minority's key: %v, want %v", name, deletes == 0, keeps)
		}
	}
}

// voting returns a client whose nodes vote.
func voting(t *testing.T, servers []*redistest.Server) *holdfast.Client {
	t.Helper()
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	us, err := ourClient(addrs, ttl, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = us.Close() })
	leasetest.AllVote(t, us, within)
	return us
}

// A poller gets hardly a lock beside hand-offs. With PollGap it gets one in each gap: here one in 2.75 s and more.
func TestAPollerGetsATurnInAGap(t *testing.T) {
	s := redistest.Start(t)
	_ = voting(t, []*redistest.Server{s})
	for _, pollGap := range []time.Duration{0, gap} {
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		var ours atomic.Int64
		var wait sync.WaitGroup
		for range 4 {
			c, err := ourClient([]string{s.Addr()}, ttl, pollGap)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			wait.Go(func() {
				for ctx.Err() == nil {
					_ = c.Mutex("orders").Do(ctx, func(ctx context.Context) error {
						ours.Add(1)
						time.Sleep(5 * time.Millisecond) // the work
						return nil
					})
				}
			})
		}
		them := newRemote(t, library{name: "redis-py", command: python}, []*redistest.Server{s}, ttl)
		redistest.Eventually(t, within, "ours are at work", func() bool { return ours.Load() > 20 })
		theirs := 0
		for ctx.Err() == nil {
			them.must("ok", "lock", "orders") // after the end of ours at the latest
			if ctx.Err() == nil {
				theirs++
			}
			them.must("ok", "unlock", "orders")
		}
		cancel()
		wait.Wait()
		them.Kill()
		t.Logf("PollGap %v: in 7 s Holdfast had %d locks, and redis-py %d", pollGap, ours.Load(), theirs)
		if pollGap > 0 && theirs == 0 {
			t.Errorf("redis-py got no turn with a PollGap of %v", pollGap)
		}
	}
}
