package redisson_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// plainNode hides every optional interface of a node.
type plainNode struct{ node.Node }

func noPoll(c *redisson.Config) { c.Poll = time.Hour }

// Java's unlock wakes a waiter by the channel. The poll cannot be the reason: it is an hour.
func TestJavasUnlockWakesUs(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string]func(*redistest.Server) *redisson.Client{
		"rueidis":  func(s *redistest.Server) *redisson.Client { return open(t, []string{s.URL()}, noPoll) },
		"go-redis": func(s *redistest.Server) *redisson.Client { return client(t, goredis(t, s), noPoll) },
	} {
		s := redistest.Start(t)
		c := nodes(s)
		j := java{t: t, server: s, name: "orders"}
		j.lock(time.Hour)
		got := make(chan *redisson.Lease)
		go func() { got <- mustLock(t, c, "orders") }()
		subscribed(t, s, "orders")
		redistest.Eventually(t, within, "the try after the subscription", func() bool { return calls(t, s) >= 3 })
		before := settled(t, s)
		began := time.Now()
		j.unlock()
		l := take(t, got)
		t.Logf("%s: woken after %v", name, time.Since(began))
		if n := calls(t, s) - before; n != 2 { // java's unlock and our acquire
			t.Errorf("%s: %d scripts for one hand-off, want 2", name, n)
		}
		mustUnlock(t, l)
		empty(t, s)
	}
}

// Unlock sends what Redisson's LockPubSub expects: 0 on the channel.
func TestUnlockPublishesRedissonsMessage(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	messages := make(chan string, 10)
	n := goredis(t, s)[0]
	defer n.Close()
	go func() { _ = n.Listen(ctx, "redisson_lock__channel:{orders}", func(m string) { messages <- m }) }()
	if m := <-messages; m != "" {
		t.Fatalf("the first message is %q, want the confirmation", m)
	}
	l := mustLock(t, c, "orders")
	inner := mustLockIn(t, c, l)
	mustUnlock(t, inner)
	mustUnlock(t, l)
	select {
	case m := <-messages:
		if m != "0" {
			t.Errorf("the message is %q, want 0", m)
		}
	case <-time.After(within):
		t.Fatal("no message")
	}
	if len(messages) > 0 {
		t.Error("more than one message: the inner Unlock must send none")
	}
}

func mustLockIn(t testing.TB, c *redisson.Client, l *redisson.Lease) *redisson.Lease {
	t.Helper()
	inner, err := c.Mutex(l.Name()).Lock(l.Context())
	if err != nil {
		t.Fatal(err)
	}
	return inner
}

// A cancelled wait leaves no key, no place and no subscription.
func TestACancelledWaitLeavesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, noPoll)
	j := java{t: t, server: s, name: "orders"}
	j.lock(time.Hour)
	ctx, cancel := context.WithCancelCause(t.Context())
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			_, err := c.Mutex("orders").Lock(ctx)
			if !errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, errStop) || !errors.Is(err, context.Canceled) {
				t.Errorf("Lock: %v", err)
			}
		})
	}
	subscribed(t, s, "orders")
	cancel(errStop)
	wait.Wait()
	if got := hash(t, s, "orders"); len(got) != 1 || got[thread] != "1" {
		t.Errorf("the hash is %v now", got)
	}
	j.unlock()
	empty(t, s)
}

var errStop = errors.New("stop")

// The waiters of one process send one request per release, not one per waiter, and are served in their order.
func TestWaitersOfAProcessStandInOneLine(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, noPoll)
	const waiters = 50
	first := mustLock(t, c, "orders")
	var wait sync.WaitGroup
	for range waiters {
		wait.Go(func() { mustUnlock(t, mustLock(t, c, "orders")) })
	}
	subscribed(t, s, "orders")
	before := calls(t, s)
	mustUnlock(t, first)
	wait.Wait()
	// Each waiter costs its acquire, its release, and at most two tries while the one before it has the lock: one when
	// it becomes the first of the line, and one for a message that came before.
	if n := calls(t, s) - before; n > 4*waiters+5 {
		t.Errorf("%d scripts for %d hand-offs", n, waiters)
	}
	empty(t, s)
}

// A subscription that breaks is made again, and the waiter asks once after it.
func TestAWaiterSurvivesABrokenSubscription(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, noPoll)
	j := java{t: t, server: s, name: "orders"}
	j.lock(time.Hour)
	got := make(chan *redisson.Lease)
	go func() { got <- mustLock(t, c, "orders") }()
	subscribed(t, s, "orders")
	s.MustDo(t, "CLIENT", "KILL", "TYPE", "pubsub")
	j.unlock() // perhaps while nobody listens
	mustUnlock(t, take(t, got))
}

// A holder that dies is followed at the end of its key, without a message.
func TestAnExpiredHolderIsFollowed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, noPoll)
	java{t: t, server: s, name: "orders"}.lock(300 * time.Millisecond)
	mustUnlock(t, mustLock(t, c, "orders"))
	if n := calls(t, s); n > 8 {
		t.Errorf("%d scripts: the waiter polls", n)
	}
}

// A server that does not answer ends a wait with ErrUnavailable.
func TestAnOutageEndsAWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	s.Kill()
	_, err := c.Mutex("orders").Lock(t.Context())
	if !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("Lock: %v", err)
	}
	_, err = c.Mutex("orders").TryLock(t.Context())
	var un *redisson.UnavailableError
	if !errors.As(err, &un) || len(un.Nodes) != 1 {
		t.Fatalf("TryLock: %v", err)
	}
}
