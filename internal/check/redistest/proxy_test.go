package redistest

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
)

func behind(t *testing.T) (*Server, *Proxy) {
	t.Helper()
	s := Start(t)
	return s, NewProxy(t, s.Addr())
}

// dial returns a client with one connection that never retries by itself.
func dial(t *testing.T, p *Proxy) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{
		Addr: p.Addr(), MaxRetries: -1, DialerRetries: 1, PoolSize: 1,
		ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true,
	})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Ping(t.Context()).Err(); err != nil {
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
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("took %v, want at least 100ms", took)
	}
	p.DelayRequests(0)
	p.DelayReplies(0)
	if err := c.Ping(within(t, patience)).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestBlackHoleSwallowsBothDirections(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	old := dial(t, p)
	p.BlackHole(true)
	if err := old.Incr(within(t, 50*time.Millisecond), "n").Err(); !node.Timeout(err) {
		t.Errorf("on an old connection: %v", err)
	}
	fresh := redis.NewClient(&redis.Options{Addr: p.Addr(), MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true})
	defer fresh.Close()
	if err := fresh.Incr(within(t, 50*time.Millisecond), "n").Err(); !node.Timeout(err) {
		t.Errorf("on a new connection: %v", err)
	}
	p.BlackHole(false)
	if err := fresh.Ping(t.Context()).Err(); err != nil {
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
	if err := c.Incr(within(t, time.Second), "n").Err(); !node.Timeout(err) {
		t.Errorf("a reply came: %v", err)
	}
	Eventually(t, patience, "the request arrives", func() bool { return s.MustDo(t, "GET", "n") == "1" })
}

func TestCutRefusesUntilMended(t *testing.T) {
	t.Parallel()
	_, p := behind(t)
	c := dial(t, p)
	p.Cut(true)
	Eventually(t, patience, "connections are refused", func() bool {
		return errors.Is(c.Ping(t.Context()).Err(), syscall.ECONNREFUSED)
	})
	p.Cut(false)
	Eventually(t, patience, "connections are accepted", func() bool { return c.Ping(t.Context()).Err() == nil })
}

func TestBreakEndsOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	_, p := behind(t)
	c := dial(t, p)
	p.Break()
	Eventually(t, patience, "the connection ends", func() bool { return p.Connections() == 0 })
	Eventually(t, patience, "a new one works", func() bool { return c.Ping(t.Context()).Err() == nil })
}

func TestStalledRequestArrivesAfterLaterOnes(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	old := dial(t, p)
	p.StallExisting()
	if err := old.RPush(within(t, 50*time.Millisecond), "order", "first").Err(); !node.Timeout(err) {
		t.Fatalf("a stalled request was answered: %v", err)
	}
	_ = old.Close()
	fresh := dial(t, p)
	if err := fresh.RPush(t.Context(), "order", "second").Err(); err != nil {
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
	if err := c.Ping(within(t, patience)).Err(); err == nil {
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
