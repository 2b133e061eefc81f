package redistest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// once treats only the first command called name. It closes met when that command has come. The proxy has queued that
// command before it accepts another one.
func once(name string, t Treatment) (treat func([]string) Treatment, met chan struct{}) {
	met = make(chan struct{})
	var done atomic.Bool
	return func(command []string) Treatment {
		if len(command) > 0 && strings.EqualFold(command[0], name) && done.CompareAndSwap(false, true) {
			close(met)
			return t
		}
		return Treatment{}
	}, met
}

// counted waits until the proxy has counted all commands so far. The wait is necessary because the proxy counts a
// command after it wrote the command, and the client may have the answer earlier.
func counted(t *testing.T, p *Proxy, came *atomic.Int64) {
	t.Helper()
	Eventually(t, patience, "the proxy has counted what passed", func() (ok bool) {
		p.set(func() { ok = p.passed == came.Load() })
		return ok
	})
}

// come waits for the event that once reports.
func come(t *testing.T, met chan struct{}) {
	t.Helper()
	select {
	case <-met:
	case <-time.After(patience):
		t.Fatal("the command did not come")
	}
}

func TestADelayedCommandIsOvertakenByOtherConnections(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	slow, quick := dial(t, p), dial(t, p)
	treat, met := once("RPUSH", Treatment{Delay: 2 * time.Second})
	p.Treat(treat)
	first := make(chan error, 1)
	go func() { _, err := slow.do(within(t, patience), "RPUSH", "order", "first"); first <- err }()
	come(t, met)
	if _, err := quick.do(t.Context(), "RPUSH", "order", "second"); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if got := s.MustDo(t, "LINDEX", "order", 0); got != "second" {
		t.Errorf("first to arrive is %v, want the one that was not delayed", got)
	}
}

func TestACommandWaitsUntilOthersHavePassed(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	var came atomic.Int64
	p.Treat(func([]string) Treatment { came.Add(1); return Treatment{} })
	slow, quick := dial(t, p), dial(t, p)
	counted(t, p, &came) // wait for the greetings of both clients, which would otherwise count as passing commands
	treat, met := once("RPUSH", Treatment{Overtaken: 2, Delay: patience})
	p.Treat(treat)
	first := make(chan error, 1)
	go func() { _, err := slow.do(within(t, patience), "RPUSH", "order", "first"); first <- err }()
	come(t, met)
	for range 2 {
		if got := s.MustDo(t, "LLEN", "order"); got != int64(0) {
			t.Errorf("%v commands arrived before two others had passed", got)
		}
		if _, err := quick.do(t.Context(), "PING"); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
}

func TestCopiesAreExecutedAndTheirAnswersSwallowed(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	c := dial(t, p)
	treat, _ := once("INCR", Treatment{Copies: []time.Duration{0, 50 * time.Millisecond}})
	p.Treat(treat)
	if _, err := c.do(t.Context(), "INCR", "n"); err != nil {
		t.Fatal(err)
	}
	Eventually(t, patience, "three increments", func() bool { return s.MustDo(t, "GET", "n") == "3" })
	p.Treat(nil)
	if got, err := c.do(t.Context(), "INCR", "n"); err != nil || got != int64(4) {
		t.Errorf("the next command is answered %v, %v; want 4", got, err)
	}
}

func TestDropRequestsLetsRepliesThrough(t *testing.T) {
	t.Parallel()
	s, p := behind(t)
	heard := dial(t, p)
	if _, err := heard.do(within(t, patience), "SUBSCRIBE", "news"); err != nil {
		t.Fatal(err)
	}
	c := dial(t, p)
	p.DropRequests(true)
	if _, err := c.do(within(t, 50*time.Millisecond), "INCR", "n"); err == nil {
		t.Error("a request was answered")
	}
	s.MustDo(t, "PUBLISH", "news", "x")
	if err := heard.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if m, err := heard.reply(); err != nil || fmt.Sprint(m) != "[message news x]" {
		t.Errorf("heard %v, %v", m, err)
	}
	p.DropRequests(false)
	if got := s.MustDo(t, "GET", "n"); got != nil {
		t.Errorf("%v requests came through", got)
	}
}

func TestRequestsAreCutWhereCommandsEnd(t *testing.T) {
	t.Parallel()
	const ping, set = "*1\r\n$4\r\nPING\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$6\r\na\r\nb\r\n\r\n"
	for _, at := range []int{1, 5, len(ping), len(ping) + 9, len(ping) + len(set) - 1} {
		var c cutter
		stream, got := ping+set+ping, ""
		for _, part := range []string{stream[:at], stream[at:]} {
			c.rest = append(c.rest, part...)
			for {
				one, words := c.next()
				if len(one) == 0 {
					break
				}
				got += strings.Join(words, ",") + ";"
			}
		}
		if got != "PING;SET,k,a\r\nb\r\n;PING;" || len(c.rest) > 0 || c.raw {
			t.Errorf("cut at %d: %q, rest %q", at, got, c.rest)
		}
	}
	c := cutter{rest: []byte("GET / HTTP/1.1\r\n")}
	if one, _ := c.next(); string(one) != "GET / HTTP/1.1\r\n" || !c.raw {
		t.Errorf("what is no RESP is %q, raw %v", one, c.raw)
	}
}
