package setnx_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

const within = kit.Within

// open returns a client on a server, by URL. change may be nil. A value of this pattern does not say whose it is, so a
// grant whose answer comes too late keeps the name for its whole TTL. On a busy machine the default node timeout is too
// short for that, so the client has a longer one if change sets none.
func open(t testing.TB, url string, change func(*setnx.Config)) *setnx.Client {
	t.Helper()
	return openNode(t, kit.Nodes(t, url)[0], change)
}

func openNode(t testing.TB, n node.Node, change func(*setnx.Config)) *setnx.Client {
	t.Helper()
	return kit.Open(t, setnx.New, setnx.Config{Node: n}, func(c *setnx.Config) {
		if change != nil {
			change(c)
		}
		if c.NodeTimeout == 0 && c.TTL == 0 {
			c.NodeTimeout = 10 * time.Second
		} else if c.NodeTimeout == 0 {
			c.NodeTimeout = min(c.TTL/2, 10*time.Second)
		}
	})
}

// proxied returns a server, a proxy in front of it, and a client that reaches the server through the proxy. The client
// has the default node timeout.
func proxied(t testing.TB, change func(*setnx.Config)) (*redistest.Server, *redistest.Proxy, *setnx.Client) {
	t.Helper()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	return s, p, kit.Open(t, setnx.New, setnx.Config{Node: kit.Nodes(t, p.URL())[0]}, change)
}

// short is a TTL that ends soon.
func short(c *setnx.Config) {
	c.TTL, c.Skew, c.Unit = 900*time.Millisecond, setnx.NoSkew, setnx.Milliseconds
}

// longer is a TTL that survives a server that does not answer for a second, as on a busy machine.
func longer(c *setnx.Config) {
	c.TTL, c.NodeTimeout, c.Skew, c.Unit = 3*time.Second, 1500*time.Millisecond, setnx.NoSkew, setnx.Milliseconds
}

func mustLock(t testing.TB, c *setnx.Client, name string) *setnx.Lease {
	t.Helper()
	return kit.MustLock(t, c.Mutex(name))
}

func mustUnlock(t testing.TB, l *setnx.Lease) {
	t.Helper()
	kit.MustUnlock(t, l)
}

// value returns the value of a key, "" if it is missing.
func value(t testing.TB, s *redistest.Server, key string) string {
	t.Helper()
	v, _ := s.MustDo(t, "GET", key).(string)
	return v
}

// clock returns the server's time in ms.
func clock(t testing.TB, s *redistest.Server) int64 {
	t.Helper()
	words := s.MustDo(t, "TIME").([]any)
	sec, err1 := strconv.ParseInt(words[0].(string), 10, 64)
	us, err2 := strconv.ParseInt(words[1].(string), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return sec*1000 + us/1000
}

// in returns the value in ms of an old client whose lock ends after d.
func in(t testing.TB, s *redistest.Server, d time.Duration) string {
	t.Helper()
	return strconv.FormatInt(clock(t, s)+d.Milliseconds(), 10)
}

func number(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
