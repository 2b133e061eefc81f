package redistest

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

func behind(t *testing.T) (*Server, *Proxy) {
	t.Helper()
	s := Start(t)
	return s, NewProxy(t, s.Addr())
}

// through returns a client whose connections go through the proxy.
func through(p *Proxy) *client { return &client{network: "tcp", addr: p.Addr()} }

// dial returns a connection through the proxy that works.
func dial(t *testing.T, p *Proxy) *session {
	t.Helper()
	c, err := through(p).dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.do(t.Context(), "PING"); err != nil {
		t.Fatal(err)
	}
	return c
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestDelaysAddUpAndEnd(t *testing.T) {
	t.Parallel()
	_, p := behind(t)
	c := dial(t, p)
	p.DelayRequests(60 * time.Millisecond)
	p.DelayReplies(40 * time.Millisecond)
	begin := time.Now()
	if _, err := c.do(t.Context(), "PING"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("took %v, want at least 100ms", took)
	}
	p.DelayRequests(0)
	p.DelayReplies(0)
	if _, err := c.do(within(t, patience), "PING"); err != nil {
		t.Fatal(err)
	}
}

func TestBlackHoleSwallowsBothDirections(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	old := dial(t, p)
	p.BlackHole(true)
	if _, err := old.do(within(t, 50*time.Millisecond), "INCR", "n"); !node.Timeout(err) {
		t.Errorf("on an old connection: %v", err)
	}
	if _, err := through(p).do(within(t, 50*time.Millisecond), "INCR", "n"); !node.Timeout(err) {
		t.Errorf("on a new connection: %v", err)
	}
	p.BlackHole(false)
	if _, err := through(p).do(t.Context(), "PING"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if got := s.MustDo(t, "GET", "n"); got != nil {
		t.Errorf("%v requests came through", got)
	}
}

func TestDropRepliesLetsRequestsThrough(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	c := dial(t, p)
	p.DropReplies(true)
	// A second is enough time to send the command.
	if _, err := c.do(within(t, time.Second), "INCR", "n"); !node.Timeout(err) {
		t.Errorf("a reply came: %v", err)
	}
	Eventually(t, patience, "the request arrives", func() bool { return s.MustDo(t, "GET", "n") == "1" })
}

func TestCutRefusesUntilMended(t *testing.T) {
	t.Parallel()
	_, p := behind(t)
	c := through(p)
	p.Cut(true)
	Eventually(t, patience, "connections are refused", func() bool {
		_, err := c.do(t.Context(), "PING")
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	p.Cut(false)
	Eventually(t, patience, "connections are accepted", func() bool { return c.text(t.Context(), "PING") == "PONG" })
}

func TestBreakEndsOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	_, p := behind(t)
	dial(t, p)
	p.Break()
	Eventually(t, patience, "the connection ends", func() bool { return p.Connections() == 0 })
	Eventually(t, patience, "a new one works", func() bool { return through(p).text(t.Context(), "PING") == "PONG" })
}

func TestStalledRequestArrivesAfterLaterOnes(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	old := dial(t, p)
	p.StallExisting()
	if _, err := old.do(within(t, 50*time.Millisecond), "RPUSH", "order", "first"); !node.Timeout(err) {
		t.Fatalf("a stalled request was answered: %v", err)
	}
	_ = old.Close()
	fresh := dial(t, p)
	if _, err := fresh.do(t.Context(), "RPUSH", "order", "second"); err != nil {
		t.Fatal(err)
	}
	p.Release()
	Eventually(t, patience, "the stalled request arrives", func() bool { return s.MustDo(t, "LLEN", "order") == int64(2) })
	if got := s.MustDo(t, "LINDEX", "order", 1); got != "first" {
		t.Errorf("last to arrive is %v, want the stalled one", got)
	}
	Eventually(t, patience, "the hang-up follows", func() bool { return p.Connections() == 1 })
}

func TestKilledServerEndsItsConnections(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	c := dial(t, p)
	s.Kill()
	Eventually(t, patience, "the proxy hangs up", func() bool { return p.Connections() == 0 })
	if _, err := c.do(within(t, patience), "PING"); err == nil {
		t.Error("a killed server answers")
	}
}

func TestDeadEndNeitherAcceptsNorRefuses(t *testing.T) {
	t.Parallel()
	c, err := net.DialTimeout("tcp", DeadEnd(t), 50*time.Millisecond)
	if !node.Timeout(err) {
		t.Errorf("dialled %v, %v", c, err)
	}
}
