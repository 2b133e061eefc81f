package rueidisnode

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// A call waits for a connection to a new master. Meanwhile another caller learns of the master and greets it. The call
// must not pass: its caller still believes that the former master is there, and the new one may have forgotten locks.
func TestACallThatBeganBeforeAGreetingIsNotSent(t *testing.T) {
	s := redistest.Start(t)
	n, err := New(s.URL(), Replicated(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	const text = "return redis.call('INCR', 'calls')"
	sha, _ := s.MustDo(t, "SCRIPT", "LOAD", text).(string)
	call := func() node.Reply { return n.EvalSHA(t.Context(), []node.Call{{SHA: sha}})[0] }
	if r := call(); r.Value != "1" {
		t.Fatalf("the first master: %+v", r)
	}
	connect, slow, going := n.pool.connect, make(chan struct{}), make(chan struct{}, 1)
	first := true // the pool calls connect with one goroutine at first
	n.pool.connect = func(ctx context.Context) (*link, error) {
		if first {
			first = false
			going <- struct{}{}
			select {
			case <-slow:
			case <-ctx.Done():
			}
		}
		return connect(ctx)
	}
	n.pool.mu.Lock()
	old := n.pool.idle[0]
	n.pool.mu.Unlock()
	n.masters.Ended(n.masters.Now()) // the master has changed, and every connection ends
	redistest.Eventually(t, 10*time.Second, "the end of the link", func() bool { return old.broken() && time.Since(old.back) > fresh })
	late := make(chan node.Reply, 1)
	go func() { late <- call() }()
	<-going
	// The next lines do what a greeting by another caller does. They need no link of the pool, because only the state
	// of the masters matters here.
	reign := n.masters.Now()
	if n.masters.Admits(reign, n.masters.Begun()) || !n.masters.Refused(reign) {
		t.Fatal("a new master is met")
	}
	n.masters.Greeted(reign)
	close(slow)
	if r := <-late; node.Code(r.Err) != node.NoScript || !strings.Contains(r.Err.Error(), "another master") {
		t.Errorf("the call that began before: %+v", r)
	}
	if r := call(); r.Value != "2" {
		t.Errorf("the next call: %+v; want 2, because the call before was not sent", r)
	}
}
