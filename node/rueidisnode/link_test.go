package rueidisnode

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

func open(t *testing.T, url string) *Node {
	t.Helper()
	n, err := New(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// echo makes a call that returns its text.
func echo(ctx context.Context, n *Node, text string) node.Reply {
	return n.Eval(ctx, `return ARGV[1]`, node.Call{Args: []string{text}})
}

func mustEcho(t *testing.T, n *Node, text string) {
	t.Helper()
	if r := echo(t.Context(), n, text); r.Err != nil || r.Value != text {
		t.Errorf("%q came back as %q, %v", text, r.Value, r.Err)
	}
}

// connected makes the node have this number of idle links.
func connected(t *testing.T, n *Node, links int) []*link {
	t.Helper()
	var taken []*link
	for range links {
		l, err := n.pool.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, l)
	}
	for _, l := range taken {
		n.pool.put(l)
	}
	return taken
}

// count returns the number of links in any state, and the number of dials under way.
func (p *pool) count() (links, dialling int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.links, p.dialling
}

// rueidis has no goroutine for a link, no matter which context a call has. This is the reason why links exist.
func TestLinksHaveNoGoroutines(t *testing.T) {
	n := open(t, redistest.Start(t).URL())
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), context.Background(), deadline} {
		connected(t, n, 3)
		if r := echo(ctx, n, "a"); r.Value != "a" {
			t.Fatal(r)
		}
		if r := n.Eval(ctx, `return 'a'`, node.Call{}, `return 'b'`); r.Value != "a" {
			t.Fatal(r)
		}
	}
	n.pool.mu.Lock()
	for _, l := range n.pool.idle {
		l.quiet = 2
	}
	n.pool.mu.Unlock()
	n.pool.ping()
	// Goroutines of earlier tests may still be ending.
	redistest.Eventually(t, 10*time.Second, "no goroutine is in rueidis", func() bool {
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
		return !strings.Contains(stacks.String(), "rueidis.(*pipe)")
	})
	if links, _ := n.pool.count(); links < 3 {
		t.Errorf("%d links", links)
	}
}

func TestCancelEndsAHungReadAndTheLink(t *testing.T) {
	server := redistest.Start(t)
	n := open(t, server.URL())
	l := connected(t, n, 1)[0]
	server.Freeze()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begin := time.Now()
	if r := echo(ctx, n, "a"); node.Unsent(r.Err) || r.Err == nil || time.Since(begin) > hungAfter {
		t.Errorf("%v after %v", r, time.Since(begin))
	}
	if links, _ := n.pool.count(); links != 0 || !l.broken() {
		t.Errorf("%d links, broken %v", links, l.broken())
	}
}

// A call without a deadline ends too, and so does a call whose deadline is far.
func TestHungServerEndsACallWithoutDeadline(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{"none": context.Background(), "cancellable": t.Context()} {
		server := redistest.Start(t)
		n := open(t, server.URL())
		connected(t, n, 1)
		server.Freeze()
		begin := time.Now()
		if r := echo(ctx, n, "a"); !node.Timeout(r.Err) || node.Unsent(r.Err) || time.Since(begin) > 3*hungAfter {
			t.Errorf("%s: %v after %v", name, r, time.Since(begin))
		}
	}
}

// The next call must not take an answer that comes too late as its own answer.
func TestGivenUpLinkIsNotUsedAgain(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	n := open(t, proxy.URL())
	l := connected(t, n, 1)[0]
	proxy.DelayReplies(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if r := echo(ctx, n, "late"); !node.Timeout(r.Err) || node.Unsent(r.Err) {
		t.Errorf("%v", r)
	}
	proxy.DelayReplies(0)
	mustEcho(t, n, "next")
	if !l.broken() {
		t.Error("its connection is still there")
	}
}

// cancelling is a client that cancels each call just after it was answered.
type cancelling struct {
	rueidis.Client
	cancel context.CancelFunc
}

func (c cancelling) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	defer c.cancel()
	return c.Client.Do(ctx, cmd)
}

// The wire of the call becomes useless at that moment, or a little later.
func TestLinkOfACallCancelledTooLateIsNotUsedAgain(t *testing.T) {
	n := open(t, redistest.Start(t).URL())
	l := connected(t, n, 1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	l.client = cancelling{l.client, cancel}
	if r := echo(ctx, n, "answered"); r.Value != "answered" {
		t.Error(r)
	}
	if links, _ := n.pool.count(); links != 0 || !l.broken() {
		t.Errorf("%d links, broken %v", links, l.broken())
	}
}

// The contexts end at any moment of the call.
func TestNoCallGetsAnothersAnswer(t *testing.T) {
	n := open(t, redistest.Start(t).URL())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 500 {
				want := fmt.Sprint(i, "/", j)
				ctx, cancel := context.WithCancel(t.Context())
				if j%2 == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(300))*time.Microsecond)
				} else {
					time.AfterFunc(time.Duration(rand.IntN(300))*time.Microsecond, cancel)
				}
				if r := echo(ctx, n, want); r.Err == nil && r.Value != want {
					t.Errorf("%s got %s", want, r.Value)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	mustEcho(t, n, "after all that")
}
