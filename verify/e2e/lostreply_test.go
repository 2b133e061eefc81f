package e2e

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A lone waiter carries its question itself, and the question gets stuck on its connection. Then the lock passes to the
// waiter over another connection. The waiter must get the lock at once, and not when its question times out: the lease
// may be over by then.
func TestALockThatComesDuringACarriedQuestionIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	p := redistest.NewProxy(t, s.servers[0].Addr())
	s.urls[0] = p.URL()
	c := s.ready(s.client(func(c *holdfast.Config) {
		c.MaxTTL, c.TTL, c.NodeTimeout = 16*time.Second, 4*time.Second, 12*time.Second
	}))
	held := warm(t, c, "x")
	other := lock(t, c, "y")
	got := make(chan error, 1)
	waits := func(name string) {
		l, err := c.Mutex(name).Lock(t.Context())
		if err == nil {
			err = l.Unlock(t.Context())
		}
		got <- err
	}
	go waits("y") // opens the inbox
	s.inLine("y", 1)
	other.Unlock(t.Context())
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	for range 8 {
		lock(t, c, "y").Unlock(t.Context())
	}
	// The question is the first command with the name that is no renewal. It gets stuck, and its connection with it.
	owner, asked := held.Owner(), make(chan struct{})
	var once sync.Once
	p.Treat(func(command []string) (treat redistest.Treatment) {
		if slices.Contains(command, "x") && !slices.Contains(command, owner) {
			once.Do(func() {
				treat.Delay = time.Minute
				close(asked)
			})
		}
		return treat
	})
	go waits("x")
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		t.Fatal("the waiter does not ask")
	}
	began := time.Now()
	held.Unlock(t.Context())
	// The waiter's question to the nodes would time out after 12 s.
	if err, took := <-got, time.Since(began); err != nil || took > 6*time.Second {
		t.Errorf("%s after the Unlock the waiter's Lock and Unlock are over: %v", took, err)
	}
}
