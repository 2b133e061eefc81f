package rueidisnode

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// The server went away and came back while no call used its links. The node must know that its links are broken before
// it sends a call on them.
func TestLinksThatBrokeWhileIdleFailNoCall(t *testing.T) {
	server := redistest.Start(t, redistest.TLS(), redistest.UnixSocket())
	for name, n := range map[string]*Node{
		"tcp":  open(t, server.URL()),
		"unix": open(t, server.SocketURL()),
		"tls": func() *Node {
			n, err := New(server.TLSURL(), TLSConfig(server.TLSConfig()))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(n.Close)
			return n
		}(),
	} {
		old := connected(t, n, 3)
		server.Restart()
		mustEcho(t, n, name)
		for i, l := range old {
			if !l.broken() {
				t.Errorf("%s: link %d is kept", name, i)
			}
		}
		if links, _ := n.pool.count(); links != 1 {
			t.Errorf("%s: %d links", name, links)
		}
	}
}

func TestTheLinkUsedLastIsTakenFirst(t *testing.T) {
	n := open(t, redistest.Start(t).URL())
	links := connected(t, n, 3)
	for range 3 {
		l, err := n.pool.take(t.Context())
		if err != nil || l != links[2] {
			t.Errorf("%v", err)
		}
		n.pool.put(l)
	}
}

func TestAHungServerGathersNoLinks(t *testing.T) {
	for name, hang := range map[string]func(*redistest.Server){
		"connected": (*redistest.Server).Freeze,
		"not yet":   nil,
	} {
		server := redistest.Start(t)
		n := open(t, server.URL())
		if hang != nil {
			connected(t, n, 2)
		}
		server.Freeze()
		most := 0
		stop := make(chan struct{})
		var watch, calls sync.WaitGroup
		watch.Go(func() {
			for {
				links, dialling := n.pool.count()
				most = max(most, links+dialling)
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
		for range 50 {
			calls.Go(func() {
				for range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
					if r := echo(ctx, n, "a"); !node.Timeout(r.Err) {
						t.Errorf("%s: %v", name, r)
					}
					cancel()
				}
			})
		}
		calls.Wait()
		close(stop)
		watch.Wait()
		if most < 2 || most > maxLinks {
			t.Errorf("%s: up to %d links, allowed %d", name, most, maxLinks)
		}
		for range 50 {
			calls.Go(func() {
				if r := echo(t.Context(), n, "a"); r.Err == nil {
					t.Errorf("%s: answered", name)
				}
			})
		}
		redistest.Eventually(t, 10*time.Second, "calls wait", func() bool {
			n.pool.mu.Lock()
			defer n.pool.mu.Unlock()
			return len(n.pool.waiting) > 0
		})
		n.Close()
		calls.Wait()
		server.Thaw()
	}
}

// The first call had too little time. The next call finds the link that was dialled for the first.
func TestLinkThatCameTooLateIsKept(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	proxy.DelayReplies(100 * time.Millisecond)
	n := open(t, proxy.URL())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if r := echo(ctx, n, "a"); !node.Timeout(r.Err) || !node.Unsent(r.Err) {
		t.Errorf("%v, unsent %v", r, node.Unsent(r.Err))
	}
	redistest.Eventually(t, hungAfter, "the link is there", func() bool {
		links, dialling := n.pool.count()
		return links == 1 && dialling == 0
	})
	mustEcho(t, n, "b")
	if got := proxy.Connections(); got != 1 {
		t.Errorf("%d connections", got)
	}
}

// A server at its maxclients still answers on the connections that it has.
func TestCallsShareLinksWhereTheServerTakesNoMore(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	n := open(t, proxy.URL())
	connected(t, n, 1)
	server.MustDo(t, "CONFIG", "SET", "maxclients", 1)
	proxy.DelayReplies(10 * time.Millisecond)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { mustEcho(t, n, "a") })
	}
	wg.Wait()
	if links, _ := n.pool.count(); links != 1 {
		t.Errorf("%d links", links)
	}
}

// A call must not get the failure of a dial that began before the call.
func TestOldAttemptsFailureIsNotANewCalls(t *testing.T) {
	n := open(t, "redis://127.0.0.1:1")
	begun, fail := make(chan struct{}), make(chan error)
	n.pool.connect = func(context.Context) (*link, error) {
		begun <- struct{}{}
		return nil, <-fail
	}
	take := func(ctx context.Context) chan error {
		end := make(chan error, 1)
		go func() {
			_, err := n.pool.take(ctx)
			end <- err
		}()
		return end
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := take(ctx)
	<-begun
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) || !node.Unsent(err) {
		t.Error(err)
	}
	second := take(t.Context())
	redistest.Eventually(t, 10*time.Second, "it waits", func() bool {
		n.pool.mu.Lock()
		defer n.pool.mu.Unlock()
		return len(n.pool.waiting) == 1
	})
	fail <- errors.New("old")
	select {
	case <-begun:
	case err := <-second:
		t.Fatal(err)
	}
	anew := errors.New("new")
	fail <- anew
	if err := <-second; err != anew {
		t.Error(err)
	}
}

// A server that accepts a connection and does not answer has timed out, whichever timer closes the connection first.
func TestASilentServerTimesOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := open(t, "redis://"+l.Addr().String())
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := n.connect(ctx, forCalls); !node.Timeout(err) || !node.Unsent(err) {
			t.Errorf("%v", err)
		}
		cancel()
	}
}
