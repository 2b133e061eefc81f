package waiting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// away is a node that a test can cut off.
type away struct {
	*nodemodel.Node
	cut     atomic.Bool
	unheard atomic.Bool // the node is cut off after it has run the next waiter's question, so the answer is lost
	asked   atomic.Int64
	far     time.Duration // the time until a question arrives
	slow    time.Duration // the time until the answer arrives
}

var errCut = node.NotSent(errors.New("connect: no route to host"))

func (n *away) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if !n.cut.Load() {
		time.Sleep(n.far)
		replies := n.Node.EvalSHA(ctx, calls)
		time.Sleep(n.slow)
		for i, c := range calls {
			if len(c.Args) != 4 || len(c.Args[2]) != 16 {
				continue
			}
			n.asked.Add(1)
			if n.unheard.CompareAndSwap(true, false) {
				n.cut.Store(true)
				replies[i] = node.Reply{Err: errors.New("connection lost")}
			}
		}
		return replies
	}
	return nodemodel.Failed(calls, errCut)
}

func (n *away) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if n.cut.Load() {
		return node.Reply{Err: errCut}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// alone returns a client on one node that the test can cut off.
func alone(t *testing.T, maxTTL time.Duration) (*Locker, *away) {
	t.Helper()
	set := nodescript.Config{N: 1, MaxTTL: maxTTL, Window: 50 * time.Millisecond, Cluster: "test"}
	n := &away{Node: nodemodel.Master("run", nodemodel.Now, set)}
	n.Serve()
	return locker(t, set, 100*time.Millisecond, n), n
}

// waits makes a waiter wait for the lock until the test calls stop.
func (l *Locker) waits(t *testing.T, lock *nodescript.Exclusive, ttl time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_, _ = l.Wait(ctx, lock, ttl, func(*Refusal) {})
	}()
	return func() { cancel(); <-waited }
}

// queued returns the owners in the node's queues.
func (n *away) queued() (list []string) {
	for _, k := range n.Keys() {
		if strings.HasSuffix(k.Name, ":queue") {
			list = append(list, k.Waiting...)
		}
	}
	return list
}

// A waiter that is cut off for longer than its TTL + W gives up its bid, and comes back with another bid. The old bid
// must leave the queue of the node. Otherwise the node would reserve the name for it for a second. The test has two
// cases: the answer to the question of the old bid came before the outage, or it was lost.
func TestAnOutageLeavesNoPlaceInAQueue(t *testing.T) {
	for _, unheard := range []bool{false, true} {
		t.Run(fmt.Sprintf("unheard=%t", unheard), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, n := alone(t, 4*time.Second)
				lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				if _, r := l.Wait(t.Context(), lock, 4*time.Second, func(*Refusal) {}); r != nil {
					t.Fatalf("the first: %+v", r)
				}
				n.unheard.Store(unheard)
				stop := l.waits(t, lock, 4*time.Second) // this waiter is behind the first one, which does not renew
				time.Sleep(1400 * time.Millisecond)
				if len(n.queued()) == 0 {
					t.Fatal("the waiter stands in no queue")
				}
				n.cut.Store(true)
				time.Sleep(2 * l.Fan.Set().Quarantine())
				stop()
				n.cut.Store(false)
				time.Sleep(time.Second)
				if left := n.queued(); len(left) > 0 {
					t.Errorf("who waits no more stands in the queue: %q", left)
				}
			})
		})
	}
}

// A waiter pauses after an outage, and its bid is over. A release in that time must not register the bid in the inbox,
// because no call would ever remove it.
func TestALockGivenBackDuringAnOutageLeavesNothingInTheInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := alone(t, 10*time.Second)
		l.Fair = true
		ended := 0
		for i := range 20 {
			lock := nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprint("x", i)})
			g, r := l.Wait(t.Context(), lock, 10*time.Second, func(*Refusal) {})
			if r != nil {
				t.Fatalf("the first: %+v", r)
			}
			stop := l.waits(t, lock, 10*time.Second)
			time.Sleep(150 * time.Millisecond)
			n.cut.Store(true)
			time.Sleep(1700 * time.Millisecond) // the waiter asks, is refused, pauses, and asks
			l.lines.mu.Lock()
			b := l.lines.byName[lock.Name()].first.bid
			l.lines.mu.Unlock()
			b.mu.Lock()
			if b.machine.Over() {
				ended++
			}
			b.mu.Unlock()
			l.Pass(lock, g.Won, g.Token, g.Deadline, func(bool, time.Duration) {})
			g.End()
			n.cut.Store(false)
			time.Sleep(50 * time.Millisecond)
			stop()
			time.Sleep(15 * time.Second)
		}
		if ended == 0 {
			t.Error("no bid was over when the lock was given back: the test does not show what it should")
		}
		l.Inbox.mu.Lock()
		defer l.Inbox.mu.Unlock()
		if left := len(l.Inbox.bids); left > 0 {
			t.Errorf("the inbox still expects %d bids, and nobody waits", left)
		}
	})
}
