package rueidisnode

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func (p *pool) tending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tended
}

// The network drops idle connections silently, as firewalls do. The node must find such connections before a call needs
// them.
func TestSilentlyDroppedIdleLinksAreFound(t *testing.T) {
	t.Parallel()
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	n := open(t, proxy.URL())
	connected(t, n, 3)
	proxy.StallExisting()
	redistest.Eventually(t, 10*time.Second, "the links are dropped", func() bool {
		links, _ := n.pool.count()
		return links == 0
	})
	mustEcho(t, n, "at the first try")
}

func TestIdleLinksThatAnswerAreKept(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	n := open(t, server.URL())
	links := connected(t, n, 3)
	var now []*link
	redistest.Eventually(t, 20*time.Second, "all were pinged and are back", func() bool {
		n.pool.mu.Lock()
		defer n.pool.mu.Unlock()
		now = slices.Clone(n.pool.idle)
		return n.pool.round >= 4 && len(now) == len(links) &&
			!slices.ContainsFunc(now, func(l *link) bool { return l.pinged != n.pool.round })
	})
	if !slices.Equal(now, links) {
		t.Errorf("they were %p and are %p", links, now)
	}
}

func TestSurplusLinksAreClosed(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	n := open(t, proxy.URL())
	connected(t, n, 5)
	l, err := n.pool.take(t.Context()) // a link in use is not surplus
	if err != nil {
		t.Fatal(err)
	}
	n.pool.mu.Lock()
	for _, l := range n.pool.idle[:3] {
		l.quiet = surplusAfter
	}
	n.pool.mu.Unlock()
	n.pool.nextRound()
	if links, _ := n.pool.count(); links != 1+keptIdle {
		t.Errorf("%d links, want %d", links, 1+keptIdle)
	}
	n.pool.put(l)
	redistest.Eventually(t, 10*time.Second, "they are closed", func() bool { return proxy.Connections() == 1+keptIdle })
}

// A node without links costs nothing. The node starts its goroutine again when it has links again.
func TestTendingEndsWithTheLastLink(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	n := open(t, server.URL())
	if n.pool.tending() {
		t.Error("before the first call")
	}
	for range 2 {
		connected(t, n, 2)
		if !n.pool.tending() {
			t.Error("not with links")
		}
		server.Kill()
		redistest.Eventually(t, 10*time.Second, "it ends", func() bool { return !n.pool.tending() })
		server.Restart()
	}
}
