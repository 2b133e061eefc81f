package fanout

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// slowToListen is a node whose subscriptions need the times in takes until they work, one after the other. Later
// subscriptions need the last of these times.
type slowToListen struct {
	*nodemodel.Node
	takes []time.Duration

	mu    sync.Mutex
	tries int
	hurt  context.CancelFunc // ends the working subscription
}

// made returns the number of tries of a subscription so far.
func (n *slowToListen) made() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tries
}

// breaks ends the working subscription.
func (n *slowToListen) breaks() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hurt()
}

func (n *slowToListen) Listen(ctx context.Context, channel string, on func(string)) error {
	n.mu.Lock()
	takes := n.takes[min(n.tries, len(n.takes)-1)]
	n.tries++
	ctx, n.hurt = context.WithCancel(ctx)
	n.mu.Unlock()
	select {
	case <-time.After(takes):
		return n.Node.Listen(ctx, channel, on)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listening makes a fan-out that subscribes on a node. It knows the node as the node as. up receives true when the
// subscription works, and false when it breaks.
func listening(t *testing.T, n *slowToListen, as node.Node, timeout time.Duration) (f *Fanout, up chan bool) {
	set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: time.Second / 4, Cluster: "test"}
	n.Node = nodemodel.Master("run", nodemodel.Now, set)
	f = New(Config{Nodes: []node.Node{as}, Set: set, Timeout: timeout, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { f.Close(t.Context()) })
	up = make(chan bool, 10)
	f.Listen("inbox", func(int, string) {}, func(_ int, is bool) { up <- is })
	return f, up
}

// stands waits until the subscription works.
func (n *slowToListen) stands(t *testing.T, up chan bool, within time.Duration) {
	t.Helper()
	select {
	case is := <-up:
		if !is {
			t.Fatal("it broke")
		}
	case <-time.After(within):
		t.Fatalf("%s after %d tries it does not stand", within, n.made())
	}
}

// The request for a subscription may be lost without an error. The client is then in no queue of that node.
func TestASubscriptionThatDoesNotStandIsMadeAgain(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		what            string
		timeout, within time.Duration
		takes           []time.Duration
	}{
		{"the first is lost", time.Second / 2, 3 * time.Second / 2, []time.Duration{never, 0}},
		{"two are lost", time.Second / 2, 7 * time.Second / 2, []time.Duration{never, never, 0}},
		{"the node is far", time.Second, 10 * time.Second, []time.Duration{5 * time.Second / 2}},
		{"it takes many timeouts", time.Second / 20, 10 * time.Second, []time.Duration{2 * time.Second}},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &slowToListen{takes: c.takes}
				_, up := listening(t, n, n, c.timeout)
				n.stands(t, up, c.within)
				if time.Sleep(time.Minute); len(up) > 0 {
					t.Error("it stood, and was not left alone then")
				}
			})
		})
	}
}

// A client that knows how long a node takes does not lose a connection to learn that again after each break.
func TestASubscriptionHasTheTimeThatTheOneBeforeTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slowToListen{takes: []time.Duration{5 * time.Second / 2}}
		_, up := listening(t, n, n, time.Second)
		n.stands(t, up, 10*time.Second)
		for range 3 {
			before := n.made()
			n.breaks()
			if <-up {
				t.Fatal("it did not break")
			}
			n.stands(t, up, 10*time.Second)
			if n.made() != before+1 {
				t.Errorf("it took %d tries to stand again, want 1", n.made()-before)
			}
		}
	})
}

// The client repeats a subscription that works only for moments less and less often.
func TestASubscriptionThatFlapsIsMadeAgainLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slowToListen{takes: []time.Duration{0}}
		_, up := listening(t, n, n, time.Second)
		ends := time.After(10 * time.Second)
		for more := true; more; {
			select {
			case is := <-up:
				if is {
					time.Sleep(time.Millisecond)
					n.breaks()
				}
			case <-ends:
				more = false
			}
		}
		if n.made() > 20 {
			t.Errorf("in 10 s it was made %d times; want 20 at most", n.made())
		}
		// The client repeats a subscription at once if it has worked for a while.
		n.stands(t, up, 2*time.Second)
		time.Sleep(5 * time.Second)
		n.breaks()
		if <-up {
			t.Fatal("it did not break")
		}
		n.stands(t, up, 100*time.Millisecond)
	})
}

// cutOff is a node that answers nothing while down is true.
type cutOff struct {
	slowToListen
	down atomic.Bool
}

func (n *cutOff) Eval(ctx context.Context, script string, c node.Call, load ...string) node.Reply {
	if n.down.Load() {
		return node.Reply{Err: node.NotSent(errors.New("cut off"))}
	}
	return n.slowToListen.Eval(ctx, script, c, load...)
}

// A request for a subscription was lost while the node was cut off. The node answers again, so the client does not wait
// for the lost request until its time limit.
func TestASubscriptionIsMadeWhenTheNodeAnswersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &cutOff{slowToListen: slowToListen{takes: []time.Duration{time.Hour, 0}}}
		n.down.Store(true)
		f, up := listening(t, &n.slowToListen, n, time.Minute)
		time.Sleep(time.Second)
		f.AskVotes(t.Context())
		n.down.Store(false)
		f.AskVotes(t.Context())
		n.stands(t, up, time.Second)
	})
}

// deafNode refuses subscriptions with the errors in refusals, one after the other, and then with the last of them.
type deafNode struct {
	*nodemodel.Node
	refusals chan error
}

func (n deafNode) Listen(context.Context, string, func(string)) error {
	if len(n.refusals) > 1 {
		return <-n.refusals
	}
	err := <-n.refusals
	n.refusals <- err
	return err
}

// During a failover a server refuses everything for a while. That is no refusal of subscriptions, and does not hide a real
// one that comes later.
func TestAFailoverIsNoRefusalOfSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: time.Second / 4, Cluster: "test"}
		n := deafNode{nodemodel.Master("run", nodemodel.Now, set), make(chan error, 10)}
		for _, code := range []string{node.ReadOnly, node.Loading, node.MasterDown, node.ClusterDown, "NOPERM"} {
			n.refusals <- node.ServerError(code + " said the server")
		}
		f := New(Config{Nodes: []node.Node{n}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		f.Listen("inbox", func(int, string) {}, func(int, bool) {})
		time.Sleep(time.Minute)
		f.Close(t.Context())
		if text := log.String(); strings.Count(text, "refuses subscriptions") != 1 || !strings.Contains(text, "NOPERM") {
			t.Errorf("the log is\n%s", text)
		}
	})
}
