package interop

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func open(t testing.TB, servers []*redistest.Server, change func(*redisson.Config)) *redisson.Client {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	config := redisson.Config{Nodes: nodes, Poll: time.Hour}
	if change != nil {
		change(&config)
	}
	c, err := redisson.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func lock(t testing.TB, c *redisson.Client, name string) *redisson.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	l, err := c.Mutex(name).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func unlock(t testing.TB, l *redisson.Lease) {
	t.Helper()
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// start locks on a goroutine.
func start(t testing.TB, c *redisson.Client, name string) <-chan *redisson.Lease {
	got := make(chan *redisson.Lease, 1)
	go func() {
		l, err := c.Mutex(name).Lock(t.Context())
		if err != nil {
			t.Errorf("lock %s: %v", name, err)
		}
		got <- l
	}()
	return got
}

// refused fails the test unless the lock is held by Java.
func refused(t testing.TB, c *redisson.Client, name string) {
	t.Helper()
	if _, err := c.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Fatalf("TryLock of %s: %v, want ErrHeld", name, err)
	}
}

// dump returns a key as the server stores it.
func dump(t testing.TB, s *redistest.Server, name string) string {
	t.Helper()
	return fmt.Sprintf("%v", s.MustDo(t, "HGETALL", name))
}

// empty waits until no key is left, and nobody listens.
func empty(t testing.TB, servers ...*redistest.Server) {
	t.Helper()
	for _, s := range servers {
		var left []any
		t.Cleanup(func() {
			if t.Failed() && len(left) > 0 {
				t.Errorf("on %s is left: %v", s.Addr(), left)
			}
		})
		redistest.Eventually(t, within, "no key and no subscription is left on "+s.Addr(), func() bool {
			left = append(s.MustDo(t, "KEYS", "*").([]any), s.MustDo(t, "PUBSUB", "CHANNELS").([]any)...)
			return len(left) == 0
		})
	}
}
