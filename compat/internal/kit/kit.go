// Package kit has the steps that the tests of the packages in compat share.
package kit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Within is the longest wait for something that must happen.
const Within = 10 * time.Second

// Nodes returns the nodes of servers, by URL.
func Nodes(t testing.TB, urls ...string) []node.Node {
	t.Helper()
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// Open returns a client that is closed at the end of the test. change may be nil.
func Open[Config any, C interface{ Close() error }](t testing.TB, open func(Config) (C, error), config Config, change func(*Config)) C {
	t.Helper()
	if change != nil {
		change(&config)
	}
	c, err := open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, holdfast.ErrClosed) && !errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// MustLock waits for a lock.
func MustLock[L any](t testing.TB, mutex interface {
	Lock(context.Context) (L, error)
}) L {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Within)
	defer cancel()
	l, err := mutex.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// MustUnlock releases a lock.
func MustUnlock(t testing.TB, lease interface {
	Unlock(context.Context) error
}) {
	t.Helper()
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// CloseWhileLocking closes many clients while they try to lock. It fails the test if a client leaves a lock behind.
// It ends when some tries came before Close, and some after.
func CloseWhileLocking[L any](t *testing.T, s *redistest.Server, open func() (try func() (L, error), closes func() error)) {
	t.Helper()
	taken, refused := 0, 0
	for i := 0; i < 300 || taken == 0 || refused == 0; i++ {
		if i == 10_000 {
			t.Fatalf("%d tries came before Close, and %d after; want some of both", taken, refused)
		}
		try, closes := open()
		tried := make(chan error)
		go func() {
			_, err := try()
			tried <- err
		}()
		time.Sleep(time.Duration(i%30) * 10 * time.Microsecond) // Close comes at different points of the try
		if err := closes(); err != nil {
			t.Fatal(err)
		}
		if err := <-tried; err == nil {
			taken++
		} else {
			refused++
		}
		if left := s.MustDo(t, "KEYS", "*").([]any); len(left) > 0 {
			t.Fatalf("client %d left %v", i, left)
		}
	}
}

// Deadline returns the latest of some readings of a lease's deadline. A reading is too early by a pause of the machine
// between its two looks at clocks, and never too late.
func Deadline(l interface{ Deadline() time.Time }) (last time.Time) {
	for range 100 {
		if d := l.Deadline(); d.After(last) {
			last = d
		}
	}
	return last
}
