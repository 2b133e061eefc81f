package e2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// overtaken is a node whose answer to a waiter's question for a name comes late, after the lock has passed to the
// waiter and the waiter has released it. The release of the lease is slow too.
type overtaken struct {
	node.Node
	record string        // the key of the name's record
	busy   string        // a key; the answer to a question for it is late too
	free   chan struct{} // this channel closes when that answer may come

	mu      sync.Mutex
	watches bool
	owner   string        // of the waiter
	asked   chan struct{} // this channel closes when the node has answered the question
	first   chan struct{} // this channel closes when the first release of owner has left the client
	second  chan struct{} // this channel closes when the node has run another release of owner
	gone    int           // the number of releases of owner
}

func (o *overtaken) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	question, busy, release := false, false, 0
	o.mu.Lock()
	for _, c := range calls {
		for i, key := range c.Keys {
			busy = busy || o.watches && key == o.busy && len(c.Args) == 4
			if o.watches && key == o.record && len(c.Keys) == 2 && i == 0 && len(c.Args) == 4 && len(c.Args[2]) == 16 && len(c.Args[0]) == 49 && o.owner == "" {
				o.owner, question = c.Args[3], true
			}
		}
		for i, arg := range c.Args {
			if o.owner != "" && arg == o.owner && i+1 < len(c.Args) && len(c.Args[i+1]) == 16 {
				o.gone++
				release = o.gone
			}
		}
	}
	o.mu.Unlock()
	switch {
	case question:
		replies := o.Node.EvalSHA(ctx, calls)
		close(o.asked)
		<-o.first
		return replies
	case busy:
		replies := o.Node.EvalSHA(ctx, calls)
		<-o.free
		return replies
	case release == 1:
		close(o.first)
		select {
		case <-o.second:
		case <-time.After(time.Second): // there is no other release
		}
	case release == 2:
		defer close(o.second)
	}
	return o.Node.EvalSHA(ctx, calls)
}

// afterALateAnswer passes a lock to a waiter whose question is under way, and has the waiter give the lock back by end.
// The release of the lease is slow, and the answer to the question comes meanwhile: it says that the waiter is in the
// queue.
func (s *set) afterALateAnswer(end func(l *holdfast.Lease) error) error {
	s.t.Helper()
	n, err := rueidisnode.New(s.urls[0])
	if err != nil {
		s.t.Fatal(err)
	}
	o := &overtaken{
		Node: n, record: nodescript.RecordKey("x"), busy: nodescript.RecordKey("busy"), free: make(chan struct{}),
		asked: make(chan struct{}), first: make(chan struct{}), second: make(chan struct{}),
	}
	c := s.ready(s.client(func(c *holdfast.Config) {
		c.Nodes, c.MaxTTL, c.NodeTimeout = []node.Node{o}, 20*time.Second, 8*time.Second
	}))
	other := lock(s.t, c, "warm") // a wait for this lock opens the inbox
	warm := make(chan *holdfast.Lease)
	go func() { l, _ := c.Mutex("warm").Lock(s.t.Context()); warm <- l }()
	time.Sleep(window)
	if err := other.Unlock(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := (<-warm).Unlock(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}

	held := lock(s.t, c, "x")
	o.mu.Lock()
	o.watches = true
	o.mu.Unlock()
	busy := make(chan error, 1)
	go func() { // while this call is under way, the waiter does not carry its question itself
		l, err := c.Mutex("busy").TryLock(s.t.Context())
		if err == nil {
			err = l.Unlock(s.t.Context())
		}
		busy <- err
	}()
	time.Sleep(window)
	result := make(chan error, 1)
	go func() {
		l, err := c.Mutex("x").Lock(s.t.Context())
		if err == nil {
			err = end(l)
		}
		result <- err
	}()
	<-o.asked
	close(o.free)
	if err := <-busy; err != nil {
		s.t.Fatal(err)
	}
	if err := held.Unlock(s.t.Context()); err != nil { // the lock passes to the waiter
		s.t.Fatal(err)
	}
	return <-result
}

// The client must not take the consequence of a late answer for the loss of the lease that it has just released.
func TestALateAnswerToAWaiterIsNoLossOfTheLeaseThatItReleased(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	if err := s.afterALateAnswer(func(l *holdfast.Lease) error { return l.Unlock(t.Context()) }); err != nil {
		t.Errorf("the release of a lease that was never in danger: %v", err)
	}
}

// A late answer must not free a name that UnlockAt keeps.
func TestALateAnswerToAWaiterDoesNotFreeANameThatUnlockAtKeeps(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	at := time.Now().Add(15 * time.Second)
	err := s.afterALateAnswer(func(l *holdfast.Lease) error { return l.UnlockAt(t.Context(), at) })
	if err != nil {
		t.Errorf("UnlockAt of a lease that was never in danger: %v", err)
	}
	other := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL, c.NodeTimeout = 20*time.Second, 8*time.Second }))
	if _, err := other.Mutex("x").TryLock(t.Context()); err == nil {
		t.Errorf("the name was free %s before its instant", time.Until(at))
	}
}
